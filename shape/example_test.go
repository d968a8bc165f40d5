package shape_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kith-wire/kith/shape"
)

// The two encodings carry the same call, and what was read from one can be written in the other.
func ExampleEncoding() {
	call := shape.Call{Verb: "get", Args: shape.ListArgs(7)}
	b, err := call.Append(nil, shape.CBOR, shape.Limits{})
	fmt.Printf("%x %v\n", b, err)
	m, err := shape.Limits{}.Read(b, "")
	fmt.Println(m.Encoding, m.Call.Verb, err)
	b, err = m.Call.Append(nil, shape.JSON, shape.Limits{})
	fmt.Println(string(b), err)
	// Output:
	// a26463616c6c6367657464617267738107 <nil>
	// cbor get <nil>
	// {"call":"get","args":[7]} <nil>
}

func ExampleCall() {
	from, _ := shape.Limits{}.Value([]byte(`"kitchen"`))
	call := shape.Call{Verb: "note", Args: shape.ListArgs("milk", []string{"shop"}), More: shape.Members{}.With("from", from)}
	b, err := call.Append(nil, shape.JSON, shape.Limits{})
	fmt.Println(string(b), err)

	call.Args = shape.ListArgs("milk", []byte("shop"))
	_, err = call.Append(nil, shape.JSON, shape.Limits{})
	fmt.Println(errors.Is(err, shape.Refused))
	// Output:
	// {"call":"note","args":["milk",["shop"]],"from":"kitchen"} <nil>
	// true
}

// Arguments from a command line are words: text for a text parameter, JSON for any other (ARGV-3).
func ExampleArgs() {
	args := shape.WordArgs([]string{"5", "5"})
	var text string
	var number int
	fmt.Println(args.At(0).Decode(&text), args.At(1).Decode(&number))
	fmt.Printf("%d words: %q and %d\n", args.Len(), text, number)
	// Output:
	// <nil> <nil>
	// 2 words: "5" and 5
}

// A value that nobody decoded loses nothing on its way from one encoding to the other.
func ExampleRaw() {
	r, err := shape.Limits{}.Value([]byte(`{"big": 9007199254740993, "one": 1.0}`))
	fmt.Println(r.Kind(), r.Encoding(), err)
	cbor := r.Append(nil, shape.CBOR)
	back, err := shape.Limits{}.Value(cbor)
	fmt.Println(string(back.Append(nil, shape.JSON)), err)

	_, err = shape.Limits{}.Value([]byte(`{"a": 1, "\u0061": 2}`))
	fmt.Println(errors.Is(err, shape.Malformed))
	// Output:
	// map json <nil>
	// {"big":9007199254740993,"one":1.0} <nil>
	// true
}

func ExampleMembers() {
	m, err := shape.Limits{}.Read([]byte(`{"event":"noted","id":7,"tags":["shop"]}`), "")
	fmt.Println(m.Event.Name, err)
	for name, value := range m.Event.More.All() {
		fmt.Println(name, value.Kind(), value.Quote())
	}
	// Output:
	// noted <nil>
	// id int 7
	// tags list ["shop"]
}

func ExampleEvent() {
	b, err := shape.EventOf("noted", map[string]any{"text": "milk", "id": 7}).Append(nil, shape.JSON, shape.Limits{})
	fmt.Println(string(b), err)
	// Output: {"event":"noted","id":7,"text":"milk"} <nil>
}

// The rows of a reply are what n says they are, and a checker asks whether it said enough (SHAPE-5).
func ExampleRows() {
	m, err := shape.Limits{}.Read([]byte(`{"ok":true,"family":1,"n":2,"result":["milk","bread","salt"]}`), "scribe")
	if err != nil || m.Refusal != nil {
		panic(err)
	}
	texts, err := shape.Decode[string](m.Rows, nil)
	fmt.Println(texts, err, m.Rows.Len(), m.Rows.Held())
	_, err = shape.Decode[int](m.Rows, nil)
	fmt.Println(err)
	// Output:
	// [milk bread] <nil> 2 3
	// result[0] is "milk" and int is taken
}

// A refusal is a reply. Its fault says what the caller has lost.
func ExampleError() {
	m, _ := shape.Limits{}.Read([]byte(`{"ok":false,"error":"the book is full","fault":"failed"}`), "scribe")
	m.Refusal.Peer, m.Refusal.Verb = "scribe", "note"
	var err error = m.Refusal
	fmt.Println(err)
	fmt.Println(errors.Is(err, shape.Failed), m.Refusal.Said)
	// Output:
	// scribe: note: the book is full
	// true true
}

// A reply of a later family is refused before anything else in it is looked at (VER-1).
func ExampleMessage() {
	for _, b := range []string{`{"call":"list"}`, `{"event":"noted"}`, `{"ok":7,"family":2}`, `[1]`} {
		m, err := shape.Limits{}.Read([]byte(b), "scribe")
		switch {
		case err != nil:
			fmt.Println("unreadable:", err)
		case m.IsCall():
			fmt.Println("call", m.Call.Verb)
		case m.IsEvent():
			fmt.Println("event", m.Event.Name)
		case m.IsReply():
			fmt.Println("reply:", m.Refusal)
		}
	}
	// Output:
	// call list
	// event noted
	// reply: scribe speaks family 2 and this program reads up to 1
	// unreadable: a call is an object, and this is a list at byte 0
}

func ExampleLimits() {
	_, err := shape.Limits{Depth: 2}.Read([]byte(`{"call":"note","args":[[1]]}`), "")
	fmt.Println(err)
	reply := shape.RowsOf(strings.Repeat("a long row ", 50)).AppendReply(nil, shape.JSON, shape.Limits{Frame: 500}, nil)
	m, _ := shape.Limits{}.Read(reply, "")
	fmt.Println(m.Refusal)
	// Output:
	// more than 2 open maps and lists, the limit at byte 23
	// the reply is 592 bytes and the cap is 500
}
