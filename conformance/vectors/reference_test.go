package vectors_test

import (
	"context"
	"errors"
	"strings"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
)

// reference is the handler that README.md describes: what a peer under test has to answer.
type reference struct {
	release chan struct{} // lets wait go on
	running chan struct{} // wait has begun
	gone    chan error    // why wait's context ended
	events  chan string
}

func newReference() *reference {
	return &reference{make(chan struct{}, 1), make(chan struct{}, 1), make(chan error, 1), make(chan string, 64)}
}

func (h *reference) Event(_ context.Context, e shape.Event) { h.events <- e.Name }

func (h *reference) Call(ctx context.Context, c shape.Call) (shape.Rows, error) {
	peer := transport.PeerFrom(ctx)
	switch c.Verb {
	case "echo":
		var rows []shape.Raw
		for _, arg := range c.Args.All() {
			rows = append(rows, arg)
		}
		return shape.RowsOf(rows...), nil
	case "fail":
		return shape.Rows{}, errors.New("as asked")
	case "refuse":
		return shape.Rows{}, shape.Refused.Errorf("as asked")
	case "crash":
		panic("as asked")
	case "size":
		var n int
		if err := c.Args.At(0).Decode(&n); err != nil {
			return shape.Rows{}, err
		}
		return shape.RowsOf(strings.Repeat("x", n)), nil
	case "emit":
		return shape.Rows{}, peer.Emit(shape.Event{Name: "noted"})
	case "back":
		return peer.Call(ctx, shape.Call{Verb: "ask", Args: c.Args})
	case "wait":
		h.running <- struct{}{}
		select {
		case <-h.release:
			return shape.RowsOf("released"), nil
		case <-ctx.Done():
			h.gone <- context.Cause(ctx)
			return shape.Rows{}, ctx.Err()
		}
	}
	return shape.Rows{}, shape.Refused.Errorf("no such call: %s", shape.Quote(c.Verb))
}
