package rpc

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
)

// line is the other end of a session, in a bubble of its own time.
type line struct {
	t    *testing.T
	conn net.Conn
	last int
}

// inBubble serves the namespace a with two methods: a.quick answers at once, and a.slow in an hour.
func inBubble(t *testing.T, do func(*session, *line)) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		s, ended := serveHere(t, far)
		do(s, &line{t: t, conn: near})
		near.Close()
		<-ended
	})
}

func serveHere(t *testing.T, conn net.Conn) (*session, <-chan struct{}) {
	methods := transport.HandlerFunc(func(ctx context.Context, call shape.Call) (shape.Rows, error) {
		if call.Verb == "slow" {
			time.Sleep(time.Hour)
		}
		return shape.RowsOf(call.Verb), nil
	})
	ended := make(chan struct{})
	o := Options{Namespaces: map[string]transport.Handler{"a": methods}}
	return o.Serve(t.Context(), conn, transport.Config{Ended: func() { close(ended) }}).(*session), ended
}

// ask sends a request without waiting for its response.
func (l *line) ask(method string) {
	l.last++
	body := fmt.Sprintf(`{"id":%d,"method":"a.%s"}`, l.last, method)
	if _, err := l.conn.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...)); err != nil {
		l.t.Fatal(err)
	}
}

// want reads one response.
func (l *line) want(id int, method string) {
	l.t.Helper()
	var head [4]byte
	if _, err := io.ReadFull(l.conn, head[:]); err != nil {
		l.t.Fatal(err)
	}
	body := make([]byte, binary.LittleEndian.Uint32(head[:]))
	if _, err := io.ReadFull(l.conn, body); err != nil {
		l.t.Fatal(err)
	}
	if want := fmt.Sprintf(`{"id":%d,"result":%q}`, id, method); string(body) != want {
		l.t.Fatalf("got %s, want %s", body, want)
	}
}

// A program may be tested in bubbles, and outside of them too: what a call leaves behind for the next one stays where it was made.
func TestBubbles(t *testing.T) {
	talk := func(t *testing.T) {
		near, far := net.Pipe()
		_, ended := serveHere(t, far)
		c := Connect(near, transport.Config{})
		for range 3 {
			if rows, err := transport.Call[string](t.Context(), c, "a.quick"); err != nil || len(rows) != 1 {
				t.Errorf("%q, %v", rows, err)
			}
		}
		c.Close()
		<-c.Done()
		<-ended
	}
	for range 3 {
		synctest.Test(t, talk)
		talk(t)
	}
}

// RPC-3: however quiet it has been, a request that takes its time holds up the one behind it for two looks of the clock; from then on
// its method is known, and that is soon.
func TestSlowRequestHoldsNoneUp(t *testing.T) {
	inBubble(t, func(_ *session, l *line) {
		for _, within := range []time.Duration{2 * seldom, 2 * handover} {
			for range 500 { // the clock comes to look seldom
				l.ask("quick")
				l.want(l.last, "quick")
				time.Sleep(time.Millisecond)
			}
			start := time.Now()
			l.ask("slow")
			l.ask("quick")
			l.want(l.last, "quick")
			if took := time.Since(start); took > within {
				t.Errorf("it was answered after %v, and not within %v", took, within)
			}
			l.want(l.last-1, "slow")
		}
	})
}

// A connection that has nothing to answer for a while rests: it holds no buffer and no timer. The next request wakes it, and it may
// rest again; one that rests ends like any other.
func TestIdleRests(t *testing.T) {
	inBubble(t, func(s *session, l *line) {
		for range 3 {
			l.ask("quick")
			l.want(l.last, "quick")
			time.Sleep(4 * restAfter)
			synctest.Wait()
			s.mu.Lock()
			if s.rest != rested || s.turn.clock != nil || s.flying != nil || s.out.out != nil || s.out.spare != nil || s.idle.timer != nil {
				t.Errorf("it holds on: rest %d, turn %+v, in flight %v, out %v", s.rest, s.turn, s.flying, s.out.out)
			}
			s.mu.Unlock()
		}
	})
}
