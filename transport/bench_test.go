package transport_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/socket"
	"github.com/kith-wire/kith/transport/transporttest"
	"github.com/kith-wire/kith/verbs"
)

// The benchmark's server is this test binary again, in a process of its own.
const benchServer = "KITH_BENCH_SERVER"

func TestMain(m *testing.M) {
	if kind := os.Getenv(benchServer); kind != "" {
		if err := benchServe(kind, os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(transporttest.Main(m))
}

// Said is what the echo takes and gives.
type Said struct {
	Text string `json:"text"`
}

const echoText = "a line of text as calls carry it"

func benchServe(kind, path string) error {
	ctx, stop := context.WithCancel(context.Background())
	go func() { // it lives as long as its parent holds its input
		io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	if kind == "raw" {
		return rawServe(ctx, path)
	}
	set := verbs.New("bench", 1)
	verbs.Add(set, "echo", "say it again", func(_ context.Context, s Said) ([]Said, error) { return []Said{s}, nil })
	l, err := socket.Listen(path, socket.Options{Config: transport.Config{Handler: set}})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	return l.Serve(ctx)
}

// rawServe answers every request with the reply that kith would write, and looks at neither.
func rawServe(ctx context.Context, path string) error {
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { l.Close() })
	fmt.Println("ready")
	request, reply := len(echoRequest(shape.JSON)), shape.RowsOf(Said{echoText})
	frame := make([]byte, 4)
	frame = reply.AppendReply(frame, shape.JSON, shape.Limits{}, nil)
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
	for {
		c, err := l.Accept()
		if err != nil {
			return nil
		}
		go func() {
			buf := make([]byte, 4096)
			for have := 0; ; {
				n, err := c.Read(buf)
				if err != nil {
					return
				}
				for have += n; have >= request; have -= request {
					if _, err := c.Write(frame); err != nil {
						return
					}
				}
			}
		}()
	}
}

func echoRequest(enc shape.Encoding) []byte {
	b, err := shape.Call{Verb: "echo", Args: shape.ListArgs(echoText)}.Append(make([]byte, 4), enc, shape.Limits{})
	if err != nil {
		panic(err)
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// startServer starts a server and returns its path.
func startServer(b *testing.B, kind string) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "s")
	cmd := exec.Command(os.Args[0], path)
	cmd.Env = append(os.Environ(), benchServer+"="+kind)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	if _, err := io.ReadFull(out, make([]byte, len("ready\n"))); err != nil {
		b.Fatal(err)
	}
	return path
}

// rawEcho returns one round trip of bytes.
func rawEcho(b *testing.B, path string) func() {
	c, err := net.Dial("unix", path)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	request, buf := echoRequest(shape.JSON), make([]byte, 4096)
	return func() {
		if _, err := c.Write(request); err != nil {
			b.Fatal(err)
		}
		if _, err := c.Read(buf); err != nil {
			b.Fatal(err)
		}
	}
}

// kithEcho returns one typed call.
func kithEcho(b *testing.B, path string, enc shape.Encoding) func() {
	p, err := socket.Dial(context.Background(), path, transport.Config{Encoding: enc})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { p.Close() })
	return func() {
		rows, err := transport.Call[Said](context.Background(), p, "echo", echoText)
		if err != nil || len(rows) != 1 || rows[0].Text != echoText {
			b.Fatalf("%v, %v", rows, err)
		}
	}
}

// BenchmarkEcho is one typed call after another between two processes, and the same bytes without kith.
func BenchmarkEcho(b *testing.B) {
	raw, kith := startServer(b, "raw"), startServer(b, "kith")
	for _, c := range []struct {
		name string
		once func()
	}{
		{"peer=raw", rawEcho(b, raw)},
		{"peer=kith/enc=json", kithEcho(b, kith, shape.JSON)},
		{"peer=kith/enc=cbor", kithEcho(b, kith, shape.CBOR)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.once()
			}
		})
	}
}

// BenchmarkEchoAgainstRaw takes turns, so that a machine whose speed drifts drifts for all: one operation is a round of slices,
// and what counts is the median of the rounds' ratios.
func BenchmarkEchoAgainstRaw(b *testing.B) {
	const slice = 300
	raw, kith := startServer(b, "raw"), startServer(b, "kith")
	contenders := []func(){rawEcho(b, raw), kithEcho(b, kith, shape.JSON), kithEcho(b, kith, shape.CBOR)}
	var json, cbor []float64
	for round := 0; b.Loop(); round++ {
		var took [3]time.Duration
		for i := range contenders {
			if round%2 == 1 {
				i = len(contenders) - 1 - i
			}
			start := time.Now()
			for range slice {
				contenders[i]()
			}
			took[i] = time.Since(start)
		}
		json = append(json, float64(took[1])/float64(took[0]))
		cbor = append(cbor, float64(took[2])/float64(took[0]))
	}
	b.ReportMetric(median(json), "json-x-raw")
	b.ReportMetric(median(cbor), "cbor-x-raw")
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}
