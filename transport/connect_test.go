package transport_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/kith-wire/kith/shape"
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
			text := strings.Repeat("x", 20<<10)
			p := transport.Connect(context.Background(), theirs, transport.Lengths, transport.Config{
				Handler: echo{calls: func(context.Context, shape.Call) (shape.Rows, error) { return shape.RowsOf(text), nil }},
			})
			const calls = 900 // 18 MB of replies, none of them read before the last call has been taken
			for range calls {
				io.WriteString(mine, framed(`{"call":"big"}`))
			}
			head := make([]byte, 4)
			for i := range calls {
				if _, err := io.ReadFull(mine, head); err != nil {
					t.Fatalf("reply %d: %v", i, err)
				}
				body := make([]byte, binary.BigEndian.Uint32(head))
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
