package verbs_test

import (
	"context"
	"fmt"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/verbs"
)

// Line is one row.
type Line struct {
	ID   int    `json:"id"`
	Text string `json:"text"`
}

type getArgs struct {
	ID int
}

func get(_ context.Context, a getArgs) ([]Line, error) {
	if a.ID != 1 {
		return nil, shape.Refused.Errorf("get: there is no line %d", a.ID)
	}
	return []Line{{ID: 1, Text: "milk"}}, nil
}

// A program is a set of typed functions. Its main would end in doors.Main(set).
func Example() {
	set := verbs.New("book", 1)
	verbs.Add(set, "get", "one line", get)

	for _, call := range []string{`{"call":"get","args":[1]}`, `{"call":"get","args":["one"]}`, `{"call":"put"}`} {
		message, err := shape.Limits{}.Read([]byte(call), "")
		if err != nil {
			panic(err)
		}
		rows, err := transport.Answer(context.Background(), set, message.Call, transport.Config{})
		fmt.Printf("%s\n", rows.AppendReply(nil, shape.JSON, shape.Limits{}, err))
	}
	// Output:
	// {"ok":true,"family":1,"n":1,"result":[{"id":1,"text":"milk"}]}
	// {"ok":false,"family":1,"n":0,"result":[],"error":"get: id is \"one\" and int is taken","fault":"refused"}
	// {"ok":false,"family":1,"n":0,"result":[],"error":"no such call: put","fault":"refused"}
}

// An event is bound by the names of its members. Nobody waits for it, and what does not fit is logged and not answered.
func ExampleOn() {
	set := verbs.New("book", 1, verbs.Log(func(text string) { fmt.Println("log:", text) }))
	verbs.On(set, "jot", func(_ context.Context, e struct{ Text string }) {
		fmt.Println("jotted:", e.Text)
	})
	set.Event(context.Background(), shape.EventOf("jot", map[string]any{"text": "milk"}))
	set.Event(context.Background(), shape.EventOf("jot", map[string]any{"text": 5}))
	set.Event(context.Background(), shape.EventOf("jolt", nil))
	// Output:
	// jotted: milk
	// log: event jot dropped: text is 5 and text is taken
}

// A verb may be for some doors only, and is unknown at the others.
func ExampleDoors() {
	set := verbs.New("book", 1)
	verbs.Add(set, "watch", "every new line", func(ctx context.Context, _ struct{}) ([]Line, error) {
		fmt.Println("watched from the", transport.PeerFrom(ctx).Door())
		return nil, nil
	}, verbs.Doors(transport.Pipe, transport.Socket))

	_, err := transport.Answer(context.Background(), set, shape.Call{Verb: "watch"}, transport.Config{})
	fmt.Println(err)
	book, back := transport.Pair(nil, set)
	defer back.Close()
	defer book.Close()
	_, err = book.Call(context.Background(), shape.Call{Verb: "watch"})
	fmt.Println(err)
	// Output:
	// no such call: watch
	// watched from the socket
	// <nil>
}
