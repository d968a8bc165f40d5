package transport

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport/internal/stream"
)

// pipe is a peer and the raw other end, in memory: its time is the test's.
func pipe(cfg Config, f Framing) (*Peer, stream.Stream) {
	mine, theirs := stream.Memory()
	return Connect(context.Background(), theirs, f, cfg), mine
}

var silent = HandlerFunc(func(ctx context.Context, _ shape.Call) (shape.Rows, error) {
	<-ctx.Done()
	return shape.Rows{}, ctx.Err()
})

var quick = HandlerFunc(func(context.Context, shape.Call) (shape.Rows, error) {
	return shape.RowsOf(strings.Repeat("x", 100<<10)), nil
})

// within checks that an end came after the limit, and not long after.
func within(t *testing.T, p *Peer, limit time.Duration, part string) {
	t.Helper()
	start := time.Now()
	<-p.Done()
	if took := time.Since(start); took < limit || took > limit+limit/2 {
		t.Errorf("ended after %v, the limit is %v", took, limit)
	}
	if p.Err() == nil || !strings.Contains(p.Err().Error(), part) {
		t.Errorf("ended with %v, want %q", p.Err(), part)
	}
}

// SOCK-5: a started frame must end within the limit, one clock for header and body; before it, a connection may be idle for ever.
func TestStartedFrameLimit(t *testing.T) {
	for _, start := range []string{"\x00", "\x00\x00\x00\x09", "\x00\x00\x00\x09{\"call\""} {
		synctest.Test(t, func(t *testing.T) {
			p, end := pipe(Config{Handler: quick}, Lengths)
			time.Sleep(24 * time.Hour)
			end.Write([]byte(start))
			synctest.Wait()
			within(t, p, defaultStall, "not finished within 30s")
			got := make([]byte, 1000)
			n, _ := end.TryRead(got)
			if !strings.Contains(string(got[:n]), `"fault":"malformed"`) {
				t.Errorf("the peer was told %q", got[:n])
			}
		})
	}
}

// SOCK-5: a byte now and then does not buy a frame more time.
func TestSlowFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, end := pipe(Config{Handler: quick}, Lengths)
		begun, stopped := time.Now(), make(chan struct{})
		go func() {
			defer close(stopped)
			for _, b := range []byte("\x00\x00\x10\x00" + strings.Repeat(" ", 4096)) {
				if _, err := end.Write([]byte{b}); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		}()
		<-p.Done()
		if took := time.Since(begun); took > 2*defaultStall {
			t.Errorf("a slow frame lived %v", took)
		}
		<-stopped
	})
}

// SOCK-5, LIMIT-5: a write that moves no byte for the limit closes the connection; below 0 it waits (a served pipe).
func TestStalledWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, end := pipe(Config{Handler: quick}, Lengths)
		for range 4 { // 400 KB of replies, more than the stream holds
			end.Write([]byte("\x00\x00\x00\x0c{\"call\":\"a\"}"))
		}
		synctest.Wait()
		within(t, p, defaultStall, "took no byte within 30s")

		p, end = pipe(Config{Handler: quick, Stall: -1}, Lines)
		for range 4 {
			end.Write([]byte("{\"call\":\"a\"}\n"))
		}
		time.Sleep(24 * time.Hour)
		if p.Err() != nil {
			t.Errorf("a served pipe ended: %v", p.Err())
		}
		p.Close()
		<-p.Done()
	})
}

// CLIENT-4: a call without a deadline ends within the default; and a context's ends it when it says.
func TestCallDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, end := pipe(Config{}, Lengths)
		start := time.Now()
		_, err := p.Call(context.Background(), shape.Call{Verb: "a"})
		if took := time.Since(start); took < defaultCallTimeout || took > defaultCallTimeout+time.Second {
			t.Errorf("took %v", took)
		}
		if !errors.Is(err, shape.Unavailable) {
			t.Errorf("got %v", err)
		}
		end.Close()

		p, end = pipe(Config{}, Lengths)
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		start = time.Now()
		_, err = p.Call(ctx, shape.Call{Verb: "a"})
		if took := time.Since(start); took != time.Minute || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("took %v: %v", took, err)
		}
		end.Close()
	})
}

// CLIENT-7: the program's stop ends a handler's context.
func TestContextEndsTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mine, theirs := stream.Memory()
		ctx, cancel := context.WithCancel(context.Background())
		p := Connect(ctx, theirs, Lengths, Config{Handler: silent})
		mine.Write([]byte("\x00\x00\x00\x0c{\"call\":\"a\"}"))
		synctest.Wait()
		cancel()
		<-p.Done()
		if !errors.Is(p.Err(), context.Canceled) {
			t.Errorf("ended with %v", p.Err())
		}
	})
}

// A connection that serves nothing for a while rests: it holds no buffer and its clock stands still. The next call wakes it, and it
// may rest again; one that rests ends like any other.
func TestIdleRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var there HandlerFunc = func(context.Context, shape.Call) (shape.Rows, error) { return shape.RowsOf("there"), nil }
		p, raw := pipe(Config{Handler: there}, Lines)
		for range 3 {
			io.WriteString(raw, `{"call":"hello"}`+"\n")
			var reply [256]byte
			if n, err := raw.Read(reply[:]); err != nil || !strings.Contains(string(reply[:n]), `["there"]`) {
				t.Fatalf("%s, %v", reply[:n], err)
			}
			time.Sleep(4 * restAfter)
			synctest.Wait()
			p.mu.Lock()
			if p.serving.rest != rested || p.clock.running || p.tick != nil || p.batch != nil || p.inbox.items != nil || p.write.spare != nil {
				t.Errorf("it holds on: rest %d, clock %+v, tick %v, batch %v, spare %v", p.serving.rest, p.clock, p.tick, p.batch, p.write.spare)
			}
			p.mu.Unlock()
		}
		raw.CloseWrite()
		<-p.Done()
		if p.Err() != nil {
			t.Error(p.Err())
		}
	})
}
