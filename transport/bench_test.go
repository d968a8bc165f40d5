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
	"sync"
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
	return func() { rawTrip(b, c, request, buf) }
}

func rawTrip(b *testing.B, c net.Conn, request, buf []byte) {
	if _, err := c.Write(request); err != nil {
		b.Error(err)
	}
	if _, err := c.Read(buf); err != nil {
		b.Error(err)
	}
}

// rawDial returns a connection with one round trip.
func rawDial(b *testing.B, path string) func() {
	request, buf := echoRequest(shape.JSON), make([]byte, 4096)
	return func() {
		c, err := net.Dial("unix", path)
		if err != nil {
			b.Fatal(err)
		}
		rawTrip(b, c, request, buf)
		c.Close()
	}
}

func dialKith(b *testing.B, path string, enc shape.Encoding) *transport.Peer {
	p, err := socket.Dial(context.Background(), path, transport.Config{Encoding: enc})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// kithEcho returns one typed call.
func kithEcho(b *testing.B, path string, enc shape.Encoding) func() {
	p := dialKith(b, path, enc)
	b.Cleanup(func() { p.Close() })
	return func() { kithTrip(b, p) }
}

func kithTrip(b *testing.B, p *transport.Peer) {
	rows, err := transport.Call[Said](context.Background(), p, "echo", echoText)
	if err != nil || len(rows) != 1 || rows[0].Text != echoText {
		b.Errorf("%v, %v", rows, err)
	}
}

// kithDial returns a connection with one typed call.
func kithDial(b *testing.B, path string, enc shape.Encoding) func() {
	return func() {
		p := dialKith(b, path, enc)
		kithTrip(b, p)
		p.Close()
	}
}

// BenchmarkEcho is one typed call after another between two processes, and the same bytes without kith.
func BenchmarkEcho(b *testing.B) {
	raw, kith := startServer(b, "raw"), startServer(b, "kith")
	for _, c := range []contender{
		{"peer=raw", rawEcho(b, raw)},
		{"peer=kith/enc=json", kithEcho(b, kith, shape.JSON)},
		{"peer=kith/enc=cbor", kithEcho(b, kith, shape.CBOR)},
	} {
		b.Run(c.name, c.bench)
	}
}

// BenchmarkDial is a connection with one call, opened and closed.
func BenchmarkDial(b *testing.B) {
	raw, kith := startServer(b, "raw"), startServer(b, "kith")
	for _, c := range []contender{{"peer=raw", rawDial(b, raw)}, {"peer=kith", kithDial(b, kith, shape.JSON)}} {
		b.Run(c.name, c.bench)
	}
}

// BenchmarkSharing is so many callers on one connection.
func BenchmarkSharing(b *testing.B) {
	kith := startServer(b, "kith")
	for _, callers := range []int{1, 16, 64} {
		once := kithEcho(b, kith, shape.JSON)
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			b.ReportAllocs()
			together(b.N, callers, func(int) { once() })
		})
	}
}

type contender struct {
	name string
	once func()
}

func (c contender) bench(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		c.once()
	}
}

// together has n operations done by so many at a time.
func together(n, at int, once func(who int)) {
	var done sync.WaitGroup
	for who := range at {
		done.Go(func() {
			for i := who; i < n; i += at {
				once(who)
			}
		})
	}
	done.Wait()
}

// BenchmarkAgainstRaw takes turns, so that a machine whose speed drifts drifts for all: one operation is a round of slices,
// and what counts is the median of the rounds' ratios.
func BenchmarkAgainstRaw(b *testing.B) {
	raw, kith := startServer(b, "raw"), startServer(b, "kith")
	const many = 16
	var rawMany, kithMany [many]func()
	for i := range many {
		rawMany[i], kithMany[i] = rawEcho(b, raw), kithEcho(b, kith, shape.JSON)
	}
	for _, c := range []struct {
		name      string
		slice     int
		raw, kith func(n int)
	}{
		{"measure=echo/enc=json", 300, inTurn(rawEcho(b, raw)), inTurn(kithEcho(b, kith, shape.JSON))},
		{"measure=echo/enc=cbor", 300, inTurn(rawEcho(b, raw)), inTurn(kithEcho(b, kith, shape.CBOR))},
		{"measure=parties", 1000, func(n int) { together(n, many, func(i int) { rawMany[i]() }) },
			func(n int) { together(n, many, func(i int) { kithMany[i]() }) }},
		{"measure=dial", 100, inTurn(rawDial(b, raw)), inTurn(kithDial(b, kith, shape.JSON))},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			var ratios []float64
			for b.Loop() {
				rawTook := took(c.raw, c.slice)
				ratios = append(ratios, float64(took(c.kith, c.slice))/float64(rawTook))
			}
			b.ReportMetric(median(ratios), "x-raw")
		})
	}
}

// inTurn does an operation n times.
func inTurn(once func()) func(int) {
	return func(n int) {
		for range n {
			once()
		}
	}
}

func took(do func(int), n int) time.Duration {
	start := time.Now()
	do(n)
	return time.Since(start)
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}
