package transport_test

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/transporttest"
)

// rough is a stream of which nothing is known but that it can be read, written and closed.
type rough struct {
	io.Reader
	io.Writer
	close func()
}

func (r rough) Close() error {
	r.close()
	return nil
}

func roughPair() (a, b io.ReadWriteCloser) {
	fromA, toB := io.Pipe()
	fromB, toA := io.Pipe()
	end := func(r *io.PipeReader, w *io.PipeWriter) rough {
		return rough{r, w, func() {
			r.Close()
			w.Close()
		}}
	}
	return end(fromB, toB), end(fromA, toA)
}

// Any stream carries a connection, also one that can neither be interrupted nor asked whether it has room; and replies that
// nobody reads for a while stop calls from being taken, and nothing else (LIMIT-5).
func TestAnyStream(t *testing.T) {
	for name, pair := range map[string]func() (a, b io.ReadWriteCloser){
		"rough": roughPair,
		"net.Pipe": func() (a, b io.ReadWriteCloser) {
			x, y := net.Pipe()
			return x, y
		},
	} {
		t.Run(name, func(t *testing.T) {
			transporttest.Leaks(t)
			mine, theirs := pair()
			p := transport.Connect(context.Background(), theirs, transport.Lengths, transport.Config{Handler: echo{}})
			text := strings.Repeat("x", 20<<10)
			const calls, unread = 300, 90 // 1.8 MB of replies: a backlog, and an inbox behind it
			behind := make(chan struct{})
			go func() {
				for i := range calls {
					if i == unread {
						close(behind)
					}
					io.WriteString(mine, framed(`{"call":"echo","args":["`+text+`"]}`))
				}
			}()
			<-behind
			head := make([]byte, 4)
			for i := range calls {
				if _, err := io.ReadFull(mine, head); err != nil {
					t.Fatalf("reply %d: %v", i, err)
				}
				body := make([]byte, int(head[1])<<16|int(head[2])<<8|int(head[3]))
				if _, err := io.ReadFull(mine, body); err != nil || !strings.Contains(string(body), text) {
					t.Fatalf("reply %d: %v", i, err)
				}
			}
			p.Close()
			mine.Close()
			<-p.Done()
		})
	}
}

// A peer on such a stream calls and is called like any other.
func TestAnyStreamSuite(t *testing.T) {
	transporttest.Leaks(t)
	transporttest.Run(t, transport.Socket, func(t *testing.T, cfg transport.Config) transport.Caller {
		a, b := roughPair()
		cfg.Door = transport.Socket
		p := transport.Connect(context.Background(), a, transport.Lengths, cfg)
		other := transport.Connect(context.Background(), b, transport.Lengths, transport.Config{Handler: transporttest.Handler(), Door: transport.Socket})
		t.Cleanup(func() {
			p.Close()
			other.Close()
			<-p.Done()
			<-other.Done()
		})
		return p
	})
}
