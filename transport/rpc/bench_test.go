package rpc_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/rpc"
	"github.com/kith-wire/kith/transport/socket"
	"github.com/kith-wire/kith/verbs"
)

// Said is what the echo takes and gives.
type Said struct {
	Text string `json:"text"`
}

var echoText = strings.Clone("a line of text as calls carry it") // no constant, whose interface value the compiler would have ready

func echoSet() *verbs.Set {
	set := verbs.New("bench", 1)
	verbs.Add(set, "echo", "say it again", func(_ context.Context, s Said) ([]Said, error) { return []Said{s}, nil })
	verbs.Add(set, "blob", "a text", func(_ context.Context, a struct{ N int }) ([]string, error) { return []string{blob[:a.N]}, nil })
	verbs.Add(set, "size", "how long a text is", func(_ context.Context, s Said) ([]int, error) { return []int{len(s.Text)}, nil })
	return set
}

var blob = strings.Repeat("x", 1<<20)

// benchClient is the client of a daemon in this process.
func benchClient(tb testing.TB) *rpc.Client {
	tb.Helper()
	dir, err := os.MkdirTemp("", "kith")
	if err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(dir, "s")
	l, err := socket.Listen(path, socket.Options{Wire: rpc.Options{Namespaces: map[string]transport.Handler{"bench": echoSet()}}})
	if err != nil {
		tb.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- l.Serve(ctx) }()
	c, err := rpc.Dial(context.Background(), path, transport.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		c.Close()
		<-c.Done()
		stop()
		<-ended
		os.RemoveAll(dir)
	})
	return c
}

func echo(ctx context.Context, c transport.Caller) error {
	rows, err := transport.Call[Said](ctx, c, "bench.echo", Said{echoText})
	if err == nil && (len(rows) != 1 || rows[0].Text != echoText) {
		err = fmt.Errorf("echo returned %v", rows)
	}
	return err
}

// BenchmarkEcho is a round trip through both ends, of callers who share one connection.
func BenchmarkEcho(b *testing.B) {
	for _, callers := range []int{1, 64} {
		for _, deadline := range []bool{false, true} {
			b.Run(fmt.Sprintf("callers=%d/deadline=%v", callers, deadline), func(b *testing.B) {
				c := benchClient(b)
				ctx := context.Background()
				if deadline {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, time.Hour)
					defer cancel()
				}
				b.ReportAllocs()
				b.ResetTimer()
				var all sync.WaitGroup
				for i := range callers {
					all.Go(func() {
						for range (b.N + i) / callers {
							if err := echo(ctx, c); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				all.Wait()
			})
		}
	}
}

// BenchmarkBlob is a call whose response is one large text.
func BenchmarkBlob(b *testing.B) {
	for _, size := range []int{64 << 10, 256 << 10} {
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			c := benchClient(b)
			b.ReportAllocs()
			b.SetBytes(int64(size))
			for b.Loop() {
				rows, err := transport.Call[string](context.Background(), c, "bench.blob", map[string]int{"n": size})
				if err != nil || len(rows) != 1 || len(rows[0]) != size {
					b.Fatal(len(rows), err)
				}
			}
		})
	}
}

// BenchmarkConnect is a connection that makes one call.
func BenchmarkConnect(b *testing.B) {
	b.ReportAllocs()
	handler := map[string]transport.Handler{"bench": echoSet()}
	for b.Loop() {
		a, z := net.Pipe()
		ended := make(chan struct{})
		rpc.Options{Namespaces: handler}.Serve(context.Background(), z, transport.Config{Ended: func() { close(ended) }})
		c := rpc.Connect(a, transport.Config{})
		if err := echo(context.Background(), c); err != nil {
			b.Fatal(err)
		}
		c.Close()
		<-c.Done()
		<-ended
	}
}
