package transport_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
)

// dial returns a peer that calls, and the raw end it calls.
func dial(t testing.TB, cfg transport.Config) (*transport.Peer, raw) {
	r, p := serve(t, cfg)
	return p, r
}

func call(verb string, args ...any) shape.Call {
	return shape.Call{Verb: verb, Args: shape.ListArgs(args...)}
}

// goCall calls in another goroutine.
func goCall(p *transport.Peer, ctx context.Context, c shape.Call) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := p.Call(ctx, c)
		done <- err
	}()
	return done
}

// fault checks an error's fault, whether the peer said it, and a part of its text.
func fault(t *testing.T, err error, want shape.Fault, said bool, part string) {
	t.Helper()
	var e *shape.Error
	if !errors.As(err, &e) || e.Fault != want || e.Said != said || !strings.Contains(e.Error(), part) {
		t.Fatalf("got %#v\nwant %s, said %v, %q", err, want, said, part)
	}
}

func TestCallPairsByPosition(t *testing.T) {
	p, r := dial(t, transport.Config{Name: "peer"})
	first := goCall(p, context.Background(), call("a", 1))
	if got := r.frame(); got != `{"call":"a","args":[1]}` {
		t.Fatalf("sent %s", got)
	}
	second := goCall(p, context.Background(), call("b"))
	r.frame()
	r.send(framed(`{"ok":true,"family":1,"n":0,"result":[]}`, `{"ok":false,"error":"not now","fault":"refused"}`))
	if err := <-first; err != nil {
		t.Error(err)
	}
	fault(t, <-second, shape.Refused, true, "peer: b: not now")
}

// SHAPE-5, VER-1, CLIENT-3: a message with ok that is no reply uses up the oldest call's place, and the connection lives.
func TestBadReplyFailsItsCallAlone(t *testing.T) {
	p, r := dial(t, transport.Config{Name: "peer"})
	for _, c := range []struct{ reply, part string }{
		{`{"ok":true,"n":2,"result":[1]}`, "n is 2 and result holds 1"},
		{`{"ok":true,"result":{}}`, "result is not a list"},
		{`{"ok":"yes"}`, "ok is text"},
		{`{"ok":true,"family":"1"}`, "family is"},
		{`{"ok":false,"family":2,"error":"new words"}`, "peer speaks family 2 and this program reads up to 1"},
	} {
		done := goCall(p, context.Background(), call("a"))
		r.frame()
		r.send(framed(c.reply))
		fault(t, <-done, shape.Malformed, false, c.part)
	}
	done := goCall(p, context.Background(), call("a"))
	r.frame()
	r.send(framed(`{"ok":true,"result":[1,2],"n":1}`))
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// CLIENT-3: what cannot be read while calls are outstanding may be a reply: all of them fail and the connection closes.
func TestUnreadableWhileCallsWait(t *testing.T) {
	for _, bytes := range []string{framed(`{"ok":tru`), framed(`{}`), framed(""), "\xff\xff\xff\xff"} {
		p, r := dial(t, transport.Config{Handler: echo{}})
		one, two := goCall(p, context.Background(), call("a")), (<-chan error)(nil)
		r.frame()
		two = goCall(p, context.Background(), call("b"))
		r.frame()
		r.send(framed(`{"event":"cut`) + bytes) // the event is none of them
		fault(t, <-one, shape.Malformed, false, "")
		fault(t, <-two, shape.Malformed, false, "")
		r.wantEnd()
	}
}

// CLIENT-1: a call that timed out closes the connection, its late reply is nobody's, and the next call says so.
func TestTimeoutEndsTheConnection(t *testing.T) {
	p, r := dial(t, transport.Config{Name: "peer"})
	ctx, cancel := context.WithCancel(context.Background())
	done := goCall(p, ctx, call("slow"))
	r.frame()
	cancel()
	err := <-done
	fault(t, err, shape.Unavailable, false, "slow")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v does not say why", err)
	}
	io.WriteString(r.UnixConn, framed(`{"ok":true,"n":1,"result":["late"]}`))
	_, err = p.Call(context.Background(), call("next"))
	fault(t, err, shape.Unavailable, false, "has ended")
	<-p.Done()
}

// CLIENT-1: closing fails what waits, at once.
func TestCloseFailsWhatWaits(t *testing.T) {
	p, r := dial(t, transport.Config{})
	done := goCall(p, context.Background(), call("a"))
	r.frame()
	p.Close()
	fault(t, <-done, shape.Unavailable, false, "closed")
	r.wantEnd()
}

// CLIENT-3: a refusal that comes before any call, or meets a failed write, is the reason the caller is given.
func TestRefusalBeforeTheCall(t *testing.T) {
	const refusal = `{"ok":false,"family":1,"n":0,"result":[],"error":"full: 3 connections","fault":"refused"}`
	p, r := dial(t, transport.Config{})
	r.send(framed(refusal))
	r.Close()
	_, err := p.Call(context.Background(), call("a"))
	fault(t, err, shape.Refused, true, "full: 3 connections")
	_, err = p.Call(context.Background(), call("a"))
	fault(t, err, shape.Refused, true, "full: 3 connections")

	p, r = dial(t, transport.Config{})
	big := call("a", strings.Repeat("x", 900<<10)) // more than the kernel takes: the write fails midway
	done := goCall(p, context.Background(), big)
	var head [4]byte
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		t.Fatal(err)
	}
	r.send(framed(refusal))
	r.Close()
	fault(t, <-done, shape.Refused, true, "full: 3 connections")
}

// CLIENT-1: an end of the connection fails what waits; inside a reply it says so too.
func TestEndFailsWhatWaits(t *testing.T) {
	for _, sent := range []string{"", framed(aliveReply)[:9]} {
		p, r := dial(t, transport.Config{Handler: echo{}})
		done := goCall(p, context.Background(), call("a"))
		r.frame()
		r.send(sent)
		r.Close()
		fault(t, <-done, shape.Unavailable, false, "ended")
	}
}

// LIMIT-3: a call over the cap is refused before one byte of it is written.
func TestCallOverTheCap(t *testing.T) {
	p, r := dial(t, transport.Config{Limits: shape.Limits{Frame: 100}})
	_, err := p.Call(context.Background(), call("a", strings.Repeat("x", 100)))
	fault(t, err, shape.Refused, false, "and the cap is 100")
	done := goCall(p, context.Background(), call("b"))
	if got := r.frame(); got != `{"call":"b","args":[]}` {
		t.Errorf("sent %q", got)
	}
	r.send(framed(`{"ok":true}`))
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// Many callers share one connection, both ends call, and every reply is its call's.
func TestManyCallersBothWays(t *testing.T) {
	a, b := transport.Pair(echo{}, echo{})
	defer a.Close()
	defer b.Close()
	var all sync.WaitGroup
	for i := range 64 {
		p := a
		if i%2 == 1 {
			p = b
		}
		all.Go(func() {
			for k := range 100 {
				want := fmt.Sprintf("%d-%d", i, k)
				rows, err := transport.Call[string](context.Background(), p, "echo", want)
				if err != nil || len(rows) != 1 || rows[0] != want {
					t.Errorf("got %q, %v, want %q", rows, err, want)
					return
				}
			}
		})
	}
	all.Wait()
}

// LIMIT-5: two ends that both write more than the kernel holds before they read make progress.
func TestBothEndsFlood(t *testing.T) {
	a, b := transport.Pair(echo{}, echo{})
	defer a.Close()
	defer b.Close()
	text := strings.Repeat("x", 200<<10)
	var all sync.WaitGroup
	for i := range 40 {
		p := a
		if i%2 == 1 {
			p = b
		}
		all.Go(func() {
			for range 4 {
				if rows, err := transport.Call[string](context.Background(), p, "echo", text); err != nil || rows[0] != text {
					t.Errorf("got %d rows, %v", len(rows), err)
				}
			}
		})
	}
	all.Wait()
}

// CLIENT-6: a handler may call its caller back.
func TestCallBack(t *testing.T) {
	back := echo{calls: func(ctx context.Context, c shape.Call) (shape.Rows, error) {
		return transport.PeerFrom(ctx).Call(ctx, shape.Call{Verb: "echo", Args: c.Args})
	}}
	a, b := transport.Pair(echo{}, back)
	defer a.Close()
	defer b.Close()
	for range 100 {
		rows, err := transport.Call[string](context.Background(), a, "back", "there")
		if err != nil || len(rows) != 1 || rows[0] != "there" {
			t.Fatalf("got %q, %v", rows, err)
		}
	}
}

// CLIENT-6: a call made from inside a handler says so on the wire, to any peer.
func TestWithin(t *testing.T) {
	p, r := dial(t, transport.Config{Handler: echo{calls: func(ctx context.Context, c shape.Call) (shape.Rows, error) {
		return transport.PeerFrom(ctx).Call(ctx, call("inner"))
	}}})
	_ = p
	r.send(framed(`{"call":"outer"}`))
	r.want(`{"call":"inner","args":[],"within":true}`)
	r.send(framed(aliveReply))
	r.want(aliveReply)
}

// CLIENT-6: once deep: a called-back handler that calls again would wait for itself, and is told so at once.
func TestCallBackTwiceDeep(t *testing.T) {
	again := func(ctx context.Context, c shape.Call) (shape.Rows, error) {
		return transport.PeerFrom(ctx).Call(ctx, call("again"))
	}
	a, b := transport.Pair(echo{calls: again}, echo{calls: again})
	defer a.Close()
	defer b.Close()
	_, err := a.Call(context.Background(), call("start"))
	fault(t, err, shape.Refused, true, "would wait for itself")
}

// CLIENT-6: two ends that call back from inside a handler at once are told no, and the connection lives.
func TestBothEndsCallBack(t *testing.T) {
	a, b := transport.Pair(nil, nil)
	a.Close()
	b.Close()
	meet := make(chan struct{}, 2)
	both := make(chan struct{})
	h := echo{calls: func(ctx context.Context, c shape.Call) (shape.Rows, error) {
		if c.Verb != "outer" {
			return shape.Rows{}, nil
		}
		meet <- struct{}{}
		<-both // both handlers run
		return transport.PeerFrom(ctx).Call(ctx, call("inner"))
	}}
	a, b = transport.Pair(h, h)
	defer a.Close()
	defer b.Close()
	one, two := goCall(a, context.Background(), call("outer")), goCall(b, context.Background(), call("outer"))
	<-meet
	<-meet
	close(both)
	for _, done := range []<-chan error{one, two} {
		select {
		case err := <-done:
			if err != nil {
				fault(t, err, shape.Refused, true, "would wait for itself")
			}
		case <-time.After(10 * time.Second):
			t.Fatal("both ends wait for each other")
		}
	}
	for _, p := range []*transport.Peer{a, b} {
		if _, err := p.Call(context.Background(), call("echo")); err != nil {
			t.Errorf("the connection did not live: %v", err)
		}
	}
}

// A peer that takes calls without a handler refuses them, and one end's calls do not stop the other's.
func TestCallsWithoutAHandler(t *testing.T) {
	p, r := dial(t, transport.Config{})
	done := goCall(p, context.Background(), call("a"))
	r.frame()
	r.send(framed(`{"call":"nobody"}`, `{"event":"x"}`, `{"ok":true}`))
	if err := <-done; err != nil {
		t.Error(err)
	}
	r.wantRefusal(shape.Refused, "no such call: nobody")
}
