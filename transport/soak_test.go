package transport_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
)

// echoes answers each call with its argument, and says when it has had so many events.
type echoes struct {
	left atomic.Int64
	all  chan struct{}
}

func (e *echoes) Call(_ context.Context, call shape.Call) (shape.Rows, error) {
	if call.Verb == "no" {
		return shape.Rows{}, shape.Refused.Errorf("no")
	}
	return shape.RowsOf(call.Args.At(0)), nil
}

func (e *echoes) Event(context.Context, shape.Event) {
	if e.left.Add(-1) == 0 {
		close(e.all)
	}
}

// Callers at both ends of one connection, texts of all sizes, refusals and events: each reply goes to its own call and every event
// arrives, whoever leads when.
func TestManyAtOnce(t *testing.T) {
	const callers, calls = 6, 400
	for _, framing := range []transport.Framing{transport.Lengths, transport.Lines} {
		for _, enc := range []shape.Encoding{shape.JSON, shape.CBOR} {
			for _, served := range []bool{true, false} { // or the one end only calls
				t.Run(fmt.Sprintf("framing=%v/enc=%v/served=%v", framing, enc, served), func(t *testing.T) {
					near, far := socketPair(t)
					handler := &echoes{all: make(chan struct{})}
					handler.left.Store(callers * calls)
					cfg := transport.Config{Encoding: enc, Limits: shape.Limits{Frame: 1 << 20}}
					if served {
						cfg.Handler = &echoes{}
					}
					a := transport.Connect(context.Background(), near, framing, cfg)
					cfg.Handler = handler
					b := transport.Connect(context.Background(), far, framing, cfg)
					var here, there sync.WaitGroup
					for who := range callers {
						here.Go(func() { soak(t, a, who, calls, true) })
						there.Go(func() { soak(t, b, who, calls, served) })
					}
					here.Wait()
					stop := make(chan struct{})
					if !served { // it reads only while it calls
						here.Go(func() { untilClosed(t, a, stop) })
					}
					there.Wait()
					close(stop)
					here.Wait()
					if !t.Failed() {
						<-handler.all
					}
					a.Close()
					<-a.Done()
					<-b.Done()
				})
			}
		}
	}
}

// untilClosed calls again and again.
func untilClosed(t *testing.T, p *transport.Peer, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		if _, err := transport.Call[string](context.Background(), p, "echo", "on"); err != nil {
			t.Error(err)
			return
		}
	}
}

// soak calls many times, and emits an event for each.
func soak(t *testing.T, p *transport.Peer, who, calls int, served bool) {
	r := rand.New(rand.NewPCG(uint64(who), 1))
	for i := range calls {
		size := r.IntN(200)
		if r.IntN(40) == 0 {
			size = r.IntN(300 << 10)
		}
		text := fmt.Sprint(who, i, strings.Repeat("x", size))
		if err := p.Emit(shape.EventOf("tick", nil)); err != nil {
			t.Error(err)
			return
		}
		verb := "echo"
		if r.IntN(10) == 0 {
			verb = "no"
		}
		rows, err := transport.Call[string](context.Background(), p, verb, text)
		switch {
		case verb == "no" || !served:
			if e, is := err.(*shape.Error); !is || e.Fault != shape.Refused || !e.Said {
				t.Errorf("%d, %d: not refused: %v", who, i, err)
				return
			}
		case err != nil || len(rows) != 1 || rows[0] != text:
			t.Errorf("%d, %d: %v, %v rows", who, i, err, len(rows))
			return
		}
	}
}
