// Package transporttest holds what every adapter of package transport must pass, and what every test of one needs: [Run] asks a
// program that serves [Handler] whatever a door must answer, and [Leaks] finds what a test leaves behind.
package transporttest

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
)

// Handler returns the handler that a program under [Run] serves.
//
//	echo …       its arguments, a row each
//	refuse TEXT  refused; fail TEXT: failed; panic: a panic
//	door         the door it was called through
//	big N        one row of N bytes of text
//	back …       what the caller answers to echo …
//	tick N       nothing, and then N events tick with a member i
//	last         the payload of the last event that came
func Handler() transport.Handler { return &handler{} }

type handler struct {
	mu   sync.Mutex
	last string
}

func (h *handler) Event(_ context.Context, e shape.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e.More.Get("text").Decode(&h.last)
}

func (h *handler) Call(ctx context.Context, c shape.Call) (shape.Rows, error) {
	switch peer := transport.PeerFrom(ctx); c.Verb {
	case "echo":
		var rows []shape.Raw
		for _, arg := range c.Args.All() {
			rows = append(rows, arg)
		}
		return shape.RowsOf(rows...), nil
	case "refuse", "fail":
		var text string
		if err := c.Args.At(0).Decode(&text); err != nil {
			return shape.Rows{}, err
		}
		return shape.Rows{}, map[string]shape.Fault{"refuse": shape.Refused, "fail": shape.Failed}[c.Verb].Errorf("%s", text)
	case "panic":
		panic("as asked")
	case "door":
		return shape.RowsOf(peer.Door().String()), nil
	case "big":
		var n int
		if err := c.Args.At(0).Decode(&n); err != nil {
			return shape.Rows{}, err
		}
		return shape.RowsOf(strings.Repeat("x", n)), nil
	case "back":
		return peer.Call(ctx, shape.Call{Verb: "echo", Args: c.Args})
	case "tick":
		return shape.Rows{}, tick(peer, c)
	case "last":
		h.mu.Lock()
		defer h.mu.Unlock()
		return shape.RowsOf(h.last), nil
	}
	return shape.Rows{}, shape.Refused.Errorf("no such call: %s", shape.Quote(c.Verb))
}

func tick(peer *transport.Peer, c shape.Call) error {
	var n int
	if err := c.Args.At(0).Decode(&n); err != nil {
		return err
	}
	for i := range n {
		if err := peer.Emit(shape.EventOf("tick", map[string]int{"i": i})); err != nil {
			return err
		}
	}
	return nil
}

// Connect reaches a program that serves [Handler] as cfg says; it ends with the test.
type Connect func(t *testing.T, cfg transport.Config) transport.Caller

// Run asks what every door answers, and of a [transport.Peer] what both ends of a connection do for each other.
func Run(t *testing.T, door transport.Door, connect Connect) {
	t.Run("calls", func(t *testing.T) { calls(t, door, connect(t, transport.Config{})) })
	t.Run("values", func(t *testing.T) { values(t, connect(t, transport.Config{})) })
	if door == transport.CLI {
		return
	}
	t.Run("both ways", func(t *testing.T) { bothWays(t, connect) })
	t.Run("many callers", func(t *testing.T) { manyCallers(t, connect(t, transport.Config{})) })
}

// calls: rows, refusals that are replies, and a program that lives through a panic (SHAPE-4, FAULT-2, FAULT-3).
func calls(t *testing.T, door transport.Door, c transport.Caller) {
	ctx := context.Background()
	for range 2 {
		if got, err := transport.Call[string](ctx, c, "door"); err != nil || len(got) != 1 || got[0] != door.String() {
			t.Errorf("door: %q, %v", got, err)
		}
		for _, want := range []struct {
			verb  string
			args  []any
			fault shape.Fault
			text  string
		}{
			{"refuse", []any{"not today"}, shape.Refused, "not today"},
			{"fail", []any{"disk full"}, shape.Failed, "disk full"},
			{"panic", nil, shape.Failed, "panicked: as asked"},
			{"nope", nil, shape.Refused, "no such call: nope"},
		} {
			_, err := transport.Call[any](ctx, c, want.verb, want.args...)
			var e *shape.Error
			if !errors.As(err, &e) || e.Fault != want.fault || !e.Said || !strings.Contains(e.Text, want.text) {
				t.Errorf("%s: got %#v", want.verb, err)
			}
		}
	}
	for _, n := range []int{0, 1, 4095, 4096, 65535, 65536, 65537, 900 << 10} {
		if got, err := transport.Call[string](ctx, c, "big", n); err != nil || len(got) != 1 || len(got[0]) != n {
			t.Errorf("big %d: %d rows, %v", n, len(got), err)
		}
		if got, err := lent(ctx, c, n); err != nil || got != n {
			t.Errorf("big %d, lent: %d bytes, %v", n, got, err)
		}
	}
}

// lent returns how long the row of big N is, read where it stands.
func lent(ctx context.Context, c transport.Caller, n int) (size int, err error) {
	call := shape.Call{Verb: "big", Args: shape.ListArgs(n)}
	err = transport.Lend(ctx, c, call, func(rows shape.Rows) error {
		text, is := rows.Raw(0).Text()
		if !is || rows.Len() != 1 || bytes.Count(text, []byte("x")) != len(text) {
			return errors.New("not the text that was asked for")
		}
		size = len(text)
		return nil
	})
	return size, err
}

// values: what goes in comes out, whatever it is (ENC-4, ENC-6).
func values(t *testing.T, c transport.Caller) {
	ctx := context.Background()
	huge := new(big.Int).Lsh(big.NewInt(1), 1000)
	for _, v := range []any{nil, true, "", "\u2028<>&\n\r\x00", int64(1<<53 + 1), huge, 1.0, 1e300, []any{}, map[string]any{"a": []any{int64(1), nil}}} {
		got, err := transport.Call[any](ctx, c, "echo", v)
		if err != nil || len(got) != 1 || !same(got[0], v) {
			t.Errorf("echo %#v: got %#v, %v", v, got, err)
		}
	}
}

func same(a, b any) bool {
	text := func(v any) string { return string(shape.RowsOf(v).Raw(0).Append(nil, shape.JSON)) }
	return text(a) == text(b)
}

// bothWays: events each way, those of a call behind its reply, and calls back (SOCK-5, CLIENT-6).
func bothWays(t *testing.T, connect Connect) {
	ctx := context.Background()
	ticks := make(chan int, 100)
	c := connect(t, transport.Config{Handler: &listener{Handler(), ticks}})
	p := c.(*transport.Peer)
	for range 3 {
		if _, err := transport.Call[any](ctx, p, "tick", 5); err != nil {
			t.Fatal(err)
		}
		for want := range 5 {
			if got := <-ticks; got != want {
				t.Errorf("event %d, want %d", got, want)
			}
		}
		if got, err := transport.Call[string](ctx, p, "back", "there"); err != nil || len(got) != 1 || got[0] != "there" {
			t.Errorf("back: %q, %v", got, err)
		}
		if err := p.Emit(shape.EventOf("note", map[string]string{"text": "heard"})); err != nil {
			t.Error(err)
		}
		if got, err := transport.Call[string](ctx, p, "last"); err != nil || len(got) != 1 || got[0] != "heard" {
			t.Errorf("last: %q, %v", got, err)
		}
	}
}

type listener struct {
	transport.Handler
	ticks chan<- int
}

func (l *listener) Event(_ context.Context, e shape.Event) {
	var i int
	if e.More.Get("i").Decode(&i) == nil {
		l.ticks <- i
	}
}

// manyCallers: replies pair with calls, and many may wait at once.
func manyCallers(t *testing.T, c transport.Caller) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			for k := range 30 {
				if got, err := transport.Call[int](ctx, c, "echo", i, k); err != nil || len(got) != 2 || got[0] != i || got[1] != k {
					t.Errorf("echo %d %d: %v, %v", i, k, got, err)
					return
				}
			}
		})
	}
	all.Wait()
}
