package transport_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/transporttest"
)

// A pair in memory passes what every adapter passes, and leaves nothing behind.
func TestPair(t *testing.T) {
	transporttest.Leaks(t)
	transporttest.Run(t, transport.Socket, func(t *testing.T, cfg transport.Config) transport.Caller {
		p, other := transport.Pair(cfg.Handler, transporttest.Handler())
		t.Cleanup(func() {
			p.Close()
			<-p.Done()
			<-other.Done()
		})
		return p
	})
}

// A connection that ends, however it does, leaves nothing behind: no goroutine, no descriptor.
func TestNothingIsLeftBehind(t *testing.T) {
	transporttest.Leaks(t)
	for _, end := range []func(*transport.Peer, raw){
		func(p *transport.Peer, r raw) { p.Close() },
		func(p *transport.Peer, r raw) { p.End(nil) },
		func(p *transport.Peer, r raw) { r.CloseWrite() },
		func(p *transport.Peer, r raw) { r.Close() },
		func(p *transport.Peer, r raw) { r.send("\xff\xff\xff\xff") },
		func(p *transport.Peer, r raw) { r.send(framed(aliveReply)) },
	} {
		r, p := serve(t, transport.Config{Handler: echo{}})
		r.wantAlive()
		end(p, r)
		<-p.Done()
		if err := p.Emit(shape.EventOf("late", nil)); err == nil {
			t.Error("an event was taken by a connection that has ended")
		}
		r.Close()
	}
}

// A program may be tested in bubbles of testing/synctest, one after the other, and outside of them too: what a call leaves behind for the
// next one stays where it was made. A runtime that finds a channel elsewhere ends the program.
func TestBubbles(t *testing.T) {
	talk := func(t *testing.T) {
		p, other := transport.Pair(echo{}, echo{})
		for range 3 {
			for _, end := range []*transport.Peer{p, other} {
				if rows, err := transport.Call[string](context.Background(), end, "echo", "alive"); err != nil || len(rows) != 1 {
					t.Errorf("%q, %v", rows, err)
				}
			}
		}
		p.Close()
		<-p.Done()
		<-other.Done()
	}
	for range 3 {
		synctest.Test(t, talk)
		talk(t)
	}
}

// A call costs no allocation inside the connection beyond what its rows are made of.
func BenchmarkPairEcho(b *testing.B) {
	p, other := transport.Pair(nil, echo{})
	defer p.Close()
	defer other.Close()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := transport.Call[string](context.Background(), p, "echo", "alive"); err != nil {
			b.Fatal(err)
		}
	}
}
