package transport_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
)

// FAULT-3, FAULT-1: what a handler's error becomes.
func TestHandlerErrors(t *testing.T) {
	var log atomic.Value
	r, _ := serve(t, transport.Config{
		Log: func(text string) { log.Store(text) },
		Handler: echo{calls: func(_ context.Context, c shape.Call) (shape.Rows, error) {
			switch c.Verb {
			case "plain":
				return shape.Rows{}, io.ErrUnexpectedEOF
			case "refused":
				return shape.Rows{}, fmt.Errorf("note: %w", shape.Refused.Errorf("too long"))
			case "bare":
				return shape.Rows{}, shape.Refused
			case "unavailable":
				return shape.Rows{}, shape.Unavailable.Errorf("store is down")
			case "malformed":
				return shape.Rows{}, shape.Malformed.Errorf("store said nonsense")
			case "text":
				return shape.Rows{}, errors.New("bad \xff text")
			case "nan":
				return shape.RowsOf(map[string]float64{"x": nan()}), nil
			case "row":
				return shape.RowsOf(explosive{}), nil
			}
			panic("boom")
		}},
	})
	for _, c := range []struct {
		verb  string
		fault shape.Fault
		part  string
	}{
		{"plain", shape.Failed, `"error":"unexpected EOF"`},
		{"refused", shape.Refused, `"error":"note: too long"`},
		{"bare", shape.Refused, "refused"},
		{"unavailable", shape.Failed, "store is down"},
		{"malformed", shape.Failed, "store said nonsense"},
		{"text", shape.Failed, "bad \uFFFD text"},
		{"nan", shape.Failed, "x"},
		{"row", shape.Failed, "row panicked: in the row"},
		{"panic", shape.Failed, "panic panicked: boom"},
	} {
		log.Store("")
		r.send(framed(`{"call":"` + c.verb + `"}`))
		r.wantRefusal(c.fault, c.part)
		r.wantAlive()
		if panics := c.verb == "panic" || c.verb == "row"; panics != strings.Contains(log.Load().(string), "serve_test.go") {
			t.Errorf("%s: logged %q", c.verb, log.Load())
		}
	}
}

func nan() float64 {
	zero := 0.0
	return zero / zero
}

// explosive panics when it is written.
type explosive struct{}

func (explosive) MarshalText() ([]byte, error) { panic("in the row") }
func (*explosive) UnmarshalText([]byte) error  { return nil }

// LIMIT-3: a reply over the cap becomes a failed one that names both sizes; the connection lives.
func TestReplyOverTheCap(t *testing.T) {
	r, _ := serve(t, transport.Config{
		Limits: shape.Limits{Frame: 1000},
		Handler: echo{calls: func(context.Context, shape.Call) (shape.Rows, error) {
			return shape.RowsOf(strings.Repeat("x", 1000)), nil
		}},
	})
	r.send(framed(`{"call":"big"}`))
	r.wantRefusal(shape.Failed, "the reply is 1042 bytes and the cap is 1000")
	r.wantAlive()
}

// SOCK-5: messages of one connection, events too, are handled one after the other in the order they came.
func TestOrderOfHandling(t *testing.T) {
	var seen []string
	r, _ := serve(t, transport.Config{Handler: echo{
		calls: func(_ context.Context, c shape.Call) (shape.Rows, error) {
			seen = append(seen, c.Verb)
			if c.Verb == "seen" {
				return shape.RowsOf(seen...), nil
			}
			return shape.Rows{}, nil
		},
		events: func(_ context.Context, e shape.Event) { seen = append(seen, e.Name) },
	}})
	r.send(framed(`{"event":"a"}`, `{"call":"b"}`, `{"event":"c"}`, `{"call":"d"}`, `{"call":"seen"}`))
	r.frame()
	r.frame()
	r.want(`{"ok":true,"family":1,"n":5,"result":["a","b","c","d","seen"]}`)
}

// SOCK-5: an event caused by a call follows that call's reply; LIMIT-5: Emit does not wait.
func TestEventsFollowTheReply(t *testing.T) {
	r, p := serve(t, transport.Config{Handler: echo{calls: func(ctx context.Context, c shape.Call) (shape.Rows, error) {
		peer := transport.PeerFrom(ctx)
		for i := range 3 {
			if err := peer.Emit(shape.EventOf("tick", map[string]int{"i": i})); err != nil {
				return shape.Rows{}, err
			}
		}
		return shape.RowsOf("done"), nil
	}}})
	for range 3 {
		r.send(framed(`{"call":"go"}`))
		r.want(`{"ok":true,"family":1,"n":1,"result":["done"]}`)
		for i := range 3 {
			r.want(fmt.Sprintf(`{"event":"tick","i":%d}`, i))
		}
	}
	if err := p.Emit(shape.EventOf("free", nil)); err != nil {
		t.Fatal(err)
	}
	r.want(`{"event":"free"}`)
}

// LIMIT-5: a peer that is 1,024 events behind is closed, and the emitter is told.
func TestEventsNobodyReads(t *testing.T) {
	r, p := serve(t, transport.Config{Handler: echo{}})
	payload := map[string]string{"text": strings.Repeat("x", 1000)}
	var err error
	sent := 0
	for ; err == nil && sent < 1<<20; sent++ {
		err = p.Emit(shape.EventOf("tick", payload))
	}
	fault(t, err, shape.Unavailable, false, "behind")
	<-p.Done()
	if sent < 1024 {
		t.Errorf("only %d events were taken", sent)
	}
	n, _ := io.Copy(io.Discard, r)
	if n == 0 {
		t.Error("nothing of it arrived")
	}
}

// LIMIT-5: an end that does not read its replies stops neither its calls from being read, up to the bounds, nor the end itself.
func TestPeerThatDoesNotRead(t *testing.T) {
	r, _ := serve(t, transport.Config{Handler: echo{}})
	text := strings.Repeat("x", 10<<10)
	body := `{"call":"echo","args":["` + text + `"]}`
	const calls = 180 // 1.8 MB of replies: what the kernel holds, a backlog, and an inbox
	for range calls {
		r.send(framed(body))
	}
	for range calls {
		if got := r.frame(); !strings.Contains(got, text) {
			t.Fatalf("got %.80s", got)
		}
	}
	r.wantAlive()
}

// CLIENT-7: a handler's context ends when its peer is gone both ways, and not at a half-close.
func TestHandlerContext(t *testing.T) {
	started, ended := make(chan context.Context), make(chan error, 1)
	wait := make(chan struct{})
	r, p := serve(t, transport.Config{Handler: echo{calls: func(ctx context.Context, c shape.Call) (shape.Rows, error) {
		started <- ctx
		select {
		case <-ctx.Done():
			ended <- ctx.Err()
		case <-wait:
		}
		return shape.Rows{}, nil
	}}})
	r.send(framed(`{"call":"wait"}`))
	ctx := <-started
	r.CloseWrite()
	r.SetReadDeadline(deadlineSoon())
	if _, err := r.r.ReadByte(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("read %v", err)
	}
	if ctx.Err() != nil {
		t.Fatal("a half-close ended the handler's context")
	}
	r.Close()
	if err := <-ended; err == nil {
		t.Error("the context has no error")
	}
	<-p.Done()
}

// SOCK-6: End answers every frame that has wholly arrived, the kernel's buffer included, and cuts started ones.
func TestEnd(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	r, p := serve(t, transport.Config{Handler: echo{calls: func(context.Context, shape.Call) (shape.Rows, error) {
		entered <- struct{}{}
		<-leave
		return shape.RowsOf("late"), nil
	}}})
	r.send(framed(`{"call":"wait"}`))
	<-entered
	r.send(strings.Repeat(framed(alive), 100) + framed(alive)[:7])
	p.End(nil)
	close(leave)
	r.want(`{"ok":true,"family":1,"n":1,"result":["late"]}`)
	for range 100 {
		r.want(aliveReply)
	}
	r.wantEnd()
	<-p.Done()
	if p.Err() != nil {
		t.Errorf("ended with %v", p.Err())
	}
}

// A finished reply does not wait for another handler (DESIGN, W3).
func TestReplyDoesNotWaitForTheNextHandler(t *testing.T) {
	leave := make(chan struct{})
	r, _ := serve(t, transport.Config{Handler: echo{calls: func(context.Context, shape.Call) (shape.Rows, error) {
		<-leave
		return shape.Rows{}, nil
	}}})
	r.send(framed(alive, `{"call":"wait"}`))
	r.want(aliveReply)
	close(leave)
	r.want(`{"ok":true,"family":1,"n":0,"result":[]}`)
}

// A peer's Flush returns once all is written, and CloseWrite is end of input for the other end.
func TestFlushAndCloseWrite(t *testing.T) {
	r, p := serve(t, transport.Config{Handler: echo{}})
	for range 200 {
		if err := p.Emit(shape.EventOf("tick", map[string]string{"x": strings.Repeat("x", 4000)})); err != nil {
			t.Fatal(err)
		}
	}
	read := make(chan int)
	go func() {
		b, _ := io.ReadAll(r.r)
		read <- bytes.Count(b, []byte("tick"))
	}()
	if err := p.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	p.CloseWrite()
	if n := <-read; n != 200 {
		t.Errorf("%d events arrived", n)
	}
	if err := p.Emit(shape.EventOf("late", nil)); !errors.Is(err, shape.Refused) {
		t.Errorf("an event after CloseWrite: %v", err)
	}
	_, err := p.Call(context.Background(), call("late"))
	fault(t, err, shape.Refused, false, "nothing more comes")
}
