package transport_test

import (
	"context"
	"testing"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
)

// counted is a Caller around another, as its user may write one.
type counted struct {
	*transport.Peer
	calls int
}

func (c *counted) Call(ctx context.Context, call shape.Call) (shape.Rows, error) {
	c.calls++
	return c.Peer.Call(ctx, call)
}

// A typed call goes through the Call of whoever it was given, also where something inside could read the reply where it stands.
func TestCallGoesThroughTheCaller(t *testing.T) {
	there := transport.HandlerFunc(func(context.Context, shape.Call) (shape.Rows, error) { return shape.RowsOf("there"), nil })
	near, far := socketPair(t)
	served := transport.Connect(context.Background(), far, transport.Lengths, transport.Config{Handler: there})
	c := &counted{Peer: transport.Connect(context.Background(), near, transport.Lengths, transport.Config{})}
	for _, caller := range []transport.Caller{c, c.Peer, c} {
		rows, err := transport.Call[string](context.Background(), caller, "hello")
		if err != nil || len(rows) != 1 || rows[0] != "there" {
			t.Fatalf("%q, %v", rows, err)
		}
	}
	if c.calls != 2 {
		t.Errorf("%d of 2 calls went through it", c.calls)
	}
	c.Close()
	<-c.Done()
	<-served.Done()
}
