package transport_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/kith-wire/kith/internal/alloctest"
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

// What is lent is a part of what was read: nothing of a large text is made anew. An error or a panic in use gives it back as well, and
// the connection goes on.
func TestLend(t *testing.T) {
	text := strings.Repeat("large ", 100<<10)
	large := transport.HandlerFunc(func(context.Context, shape.Call) (shape.Rows, error) { return shape.RowsOf(text), nil })
	for _, enc := range []shape.Encoding{shape.JSON, shape.CBOR} {
		near, far := socketPair(t)
		served := transport.Connect(context.Background(), far, transport.Lengths, transport.Config{Handler: large})
		c := transport.Connect(context.Background(), near, transport.Lengths, transport.Config{Encoding: enc})
		lend := func(use func(shape.Rows) error) error {
			return transport.Lend(context.Background(), c, shape.Call{Verb: "large"}, use)
		}
		read := func(rows shape.Rows) error {
			if got, is := rows.Raw(0).Text(); !is || string(got) != text {
				t.Errorf("%v: %d bytes of text, and %d are right", enc, len(got), len(text))
			}
			return nil
		}
		if err := lend(func(shape.Rows) error { return io.ErrNoProgress }); err != io.ErrNoProgress {
			t.Errorf("%v: what use returned became %v", enc, err)
		}
		func() {
			defer func() {
				if r := recover(); r != "as asked" {
					t.Errorf("%v: the panic became %v", enc, r)
				}
			}()
			lend(func(shape.Rows) error { panic("as asked") })
		}()
		if made := alloctest.Bytes(t, 50, func() error { return lend(read) }); made > len(text)/2 {
			t.Errorf("%v: a call made %d bytes, and the text has %d", enc, made, len(text))
		}
		c.Close()
		<-c.Done()
		<-served.Done()
	}
}

// A call that fails is not used.
func TestLendFails(t *testing.T) {
	c, other := transport.Pair(nil, transport.HandlerFunc(func(context.Context, shape.Call) (shape.Rows, error) {
		return shape.Rows{}, shape.Failed.Errorf("nothing to lend")
	}))
	defer other.Close()
	defer c.Close()
	err := transport.Lend(context.Background(), c, shape.Call{Verb: "large"}, func(shape.Rows) error {
		t.Error("it was used")
		return nil
	})
	if !errors.Is(err, shape.Failed) {
		t.Errorf("got %v", err)
	}
}
