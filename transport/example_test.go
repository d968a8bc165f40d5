package transport_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
)

// A handler answers calls with rows or an error, whichever door they come through.
func ExampleHandlerFunc() {
	greeter := transport.HandlerFunc(func(_ context.Context, call shape.Call) (shape.Rows, error) {
		var name string
		if err := call.Args.At(0).Decode(&name); err != nil {
			return shape.Rows{}, shape.Refused.Errorf("%s: name%w", call.Verb, err)
		}
		return shape.RowsOf("hello, " + name), nil
	})
	peer, other := transport.Pair(nil, greeter)
	defer peer.Close()
	defer other.Close()

	greetings, err := transport.Call[string](context.Background(), peer, "greet", "Ada")
	fmt.Println(greetings, err)
	_, err = transport.Call[string](context.Background(), peer, "greet", 7)
	fmt.Println(errors.Is(err, shape.Refused), err)
	// Output:
	// [hello, Ada] <nil>
	// true b: greet: greet: name is 7 and text is taken
}

// A peer's Call has a handler's signature, so a proxy is one line.
func ExamplePeer_Call() {
	back, backOther := transport.Pair(nil, transport.HandlerFunc(func(context.Context, shape.Call) (shape.Rows, error) {
		return shape.RowsOf("from far behind"), nil
	}))
	front, frontOther := transport.Pair(nil, transport.HandlerFunc(back.Call))
	for _, p := range []*transport.Peer{back, backOther, front, frontOther} {
		defer p.Close()
	}
	fmt.Println(transport.Call[string](context.Background(), front, "where"))
	// Output: [from far behind] <nil>
}

// A large text is read where it stands.
func ExampleLend() {
	peer, other := transport.Pair(nil, transport.HandlerFunc(func(context.Context, shape.Call) (shape.Rows, error) {
		return shape.RowsOf("one line\nand another\n"), nil
	}))
	defer peer.Close()
	defer other.Close()
	read := shape.Call{Verb: "read", Args: shape.ListArgs("notes.txt")}
	err := transport.Lend(context.Background(), peer, read, func(rows shape.Rows) error {
		text, _ := rows.Raw(0).Text()
		fmt.Println(bytes.Count(text, []byte("\n")), "lines")
		return nil
	})
	fmt.Println(err)
	// Output:
	// 2 lines
	// <nil>
}

type ticker struct{}

// Call emits an event to its caller. It leaves behind the reply.
func (ticker) Call(ctx context.Context, _ shape.Call) (shape.Rows, error) {
	return shape.Rows{}, transport.PeerFrom(ctx).Emit(shape.EventOf("tick", map[string]int{"n": 1}))
}

func (ticker) Event(context.Context, shape.Event) {}

type printer struct {
	transport.HandlerFunc
	done chan struct{}
}

// Event prints what comes.
func (p printer) Event(_ context.Context, event shape.Event) {
	fmt.Println(event.Name, event.More.Get("n").Quote())
	close(p.done)
}

func ExamplePeer_Emit() {
	done := make(chan struct{})
	peer, other := transport.Pair(printer{nil, done}, ticker{})
	defer peer.Close()
	defer other.Close()
	_, err := peer.Call(context.Background(), shape.Call{Verb: "watch"})
	fmt.Println("replied", err)
	<-done
	// Unordered output:
	// replied <nil>
	// tick 1
}

// Answer runs one call as the cli door does: there is no way back to the caller.
func ExampleAnswer() {
	handler := transport.HandlerFunc(func(ctx context.Context, _ shape.Call) (shape.Rows, error) {
		return shape.RowsOf(transport.PeerFrom(ctx).Door().String()), nil
	})
	rows, err := transport.Answer(context.Background(), handler, shape.Call{Verb: "door"}, transport.Config{})
	fmt.Println(rows.Raw(0).Quote(), err)
	// Output: "cli" <nil>
}
