package rpc_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/rpc"
	"github.com/kith-wire/kith/transport/socket"
	"github.com/kith-wire/kith/transport/transporttest"
	"github.com/kith-wire/kith/verbs"
)

func TestMain(m *testing.M) { transporttest.Main(m) }

// daemon is a program on the daemon wire in this process.
type daemon struct {
	path  string
	gates gates
	opts  rpc.Options
	sock  socket.Options
	stop  context.CancelFunc
	ended chan error
	took  chan net.Conn // what keep upgrades
	inner bool          // another daemon of the test looks for what is left behind
}

// gates are what requests wait for: each says that it waits, and goes on once opened.
type gates struct {
	mu      sync.Mutex
	open    map[string]chan struct{}
	waiting chan string
}

func (g *gates) gate(name string) chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open[name] == nil {
		g.open[name] = make(chan struct{})
	}
	return g.open[name]
}

func newDaemon(t *testing.T, change ...func(*daemon)) *daemon {
	t.Helper()
	d := &daemon{ended: make(chan error, 1), took: make(chan net.Conn, 1)}
	d.gates = gates{open: map[string]chan struct{}{}, waiting: make(chan string, 1000)}
	d.opts = rpc.Options{
		Namespaces: map[string]transport.Handler{"agent": d.agent(), "channel": d.channel()},
		Upgrades:   []string{"channel.raw", "channel.keep"},
	}
	d.sock.Log = func(string) {}
	for _, c := range change {
		c(d)
	}
	dir := t.TempDir()
	if !d.inner {
		transporttest.Leaks(t, dir)
	}
	d.path = filepath.Join(dir, "daemon.sock")
	d.sock.Wire = d.opts
	l, err := socket.Listen(d.path, d.sock)
	must(t, err)
	var ctx context.Context
	ctx, d.stop = context.WithCancel(context.Background())
	go func() { d.ended <- l.Serve(ctx) }()
	t.Cleanup(func() {
		d.stop()
		if err := <-d.ended; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return d
}

func (d *daemon) agent() *verbs.Set {
	set := verbs.New("agent", 1)
	verbs.Add(set, "none", "no rows", func(context.Context, struct{}) ([]int, error) { return nil, nil })
	verbs.Add(set, "add", "a sum", func(_ context.Context, a struct {
		A, B int
		Note *string
	}) ([]int, error) {
		return []int{a.A + a.B}, nil
	})
	verbs.Add(set, "two", "two rows", func(context.Context, struct{}) ([]string, error) { return []string{"a", "b"}, nil })
	verbs.Add(set, "list-all", "a listing", func(_ context.Context, a struct{ N int }) ([]int, error) {
		return make([]int, a.N), nil
	}, verbs.Listing())
	verbs.Add(set, "back", "a value", func(_ context.Context, a struct{ V shape.Raw }) ([]shape.Raw, error) {
		return []shape.Raw{a.V}, nil
	})
	verbs.Add(set, "wait", "answers once its gate opens", func(ctx context.Context, a struct{ Gate string }) ([]string, error) {
		d.gates.waiting <- a.Gate
		select {
		case <-d.gates.gate(a.Gate):
			return []string{a.Gate}, nil
		case <-ctx.Done():
			d.gates.waiting <- "ended"
			return nil, ctx.Err()
		}
	})
	verbs.Add(set, "fail", "an error with a code", func(_ context.Context, a struct{ Code, Text string }) ([]string, error) {
		return nil, rpc.Code(a.Code).Errorf("%s", a.Text)
	})
	verbs.Add(set, "fault", "an error with a fault", func(_ context.Context, a struct{ Fault string }) ([]string, error) {
		if a.Fault == "" {
			return nil, errors.New("plain")
		}
		return nil, shape.Fault(a.Fault).Errorf("so it is")
	})
	verbs.Add(set, "panic", "panics", func(context.Context, struct{}) ([]string, error) { panic("oh") })
	verbs.Add(set, "big", "a text", func(_ context.Context, a struct{ N int }) ([]string, error) {
		return []string{string(bytes.Repeat([]byte("x"), a.N))}, nil
	})
	verbs.Add(set, "way", "whether there is a way back", func(ctx context.Context, _ struct{}) ([]string, error) {
		peer := transport.PeerFrom(ctx)
		_, err := peer.Call(ctx, shape.Call{Verb: "x"})
		var e *shape.Error
		if !errors.As(err, &e) || peer.Emit(shape.Event{Name: "x"}) == nil {
			return []string{"there is"}, nil
		}
		return []string{fmt.Sprintf("%v %v %s", peer.WayBack(), peer.Door(), e.Text)}, nil
	})
	return set
}

func (d *daemon) channel() transport.Handler {
	return transport.HandlerFunc(func(ctx context.Context, call shape.Call) (shape.Rows, error) {
		switch call.Verb {
		case "params":
			return shape.RowsOf(call.Args.At(0)), nil
		case "raw":
			conn, err := rpc.Upgrade(ctx, shape.RowsOf("yours"))
			if err != nil {
				return shape.Rows{}, err
			}
			defer conn.Close()
			io.Copy(conn, conn)
			return shape.Rows{}, nil
		case "keep": // the connection outlives its handler
			conn, err := rpc.Upgrade(ctx, shape.RowsOf("yours"))
			if err != nil {
				return shape.Rows{}, err
			}
			go func() {
				<-ctx.Done()
				fmt.Fprint(conn, "bye")
				conn.Close()
			}()
			d.took <- conn
		case "undeclared":
			_, err := rpc.Upgrade(ctx, shape.Rows{})
			return shape.Rows{}, err
		}
		return shape.Rows{}, rpc.UnknownMethod.Errorf("channel has no %s", call.Verb)
	})
}

// wire is a connection that speaks bytes.
type wire struct {
	t *testing.T
	*net.UnixConn
}

func (d *daemon) dial(t *testing.T) wire {
	t.Helper()
	conn, err := net.Dial("unix", d.path)
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	must(t, conn.SetDeadline(time.Now().Add(30*time.Second)))
	return wire{t, conn.(*net.UnixConn)}
}

func framed(bodies ...string) string {
	var b []byte
	for _, body := range bodies {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(body)))
		b = append(b, body...)
	}
	return string(b)
}

func (w wire) send(text string) {
	w.t.Helper()
	if _, err := io.WriteString(w, text); err != nil {
		w.t.Fatal(err)
	}
}

// frame reads one frame; "" at the end of the stream.
func (w wire) frame() string {
	w.t.Helper()
	var head [4]byte
	if _, err := io.ReadFull(w, head[:]); err == io.EOF {
		return ""
	} else if err != nil {
		w.t.Fatal(err)
	}
	b := make([]byte, binary.LittleEndian.Uint32(head[:]))
	if _, err := io.ReadFull(w, b); err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

func (w wire) want(frame string) {
	w.t.Helper()
	if got := w.frame(); got != frame {
		w.t.Fatalf("got  %q\nwant %q", got, frame)
	}
}

func (w wire) wantEnd() {
	w.t.Helper()
	w.want("")
}

// waits reads which request waits next.
func (d *daemon) waits(t *testing.T, gate string) {
	t.Helper()
	select {
	case got := <-d.gates.waiting:
		if got != gate {
			t.Fatalf("%q waits, want %q", got, gate)
		}
	case <-time.After(20 * time.Second):
		t.Fatalf("nobody waits for %q", gate)
	}
}

func (d *daemon) client(t *testing.T, cfg transport.Config) *rpc.Client {
	t.Helper()
	c, err := rpc.Dial(context.Background(), d.path, cfg)
	must(t, err)
	t.Cleanup(func() {
		c.Close()
		<-c.Done()
	})
	return c
}

// peer is a client whose daemon is a test's.
func peer(t *testing.T, cfg transport.Config) (*rpc.Client, wire) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	must(t, err)
	defer l.Close()
	c, err := rpc.Dial(context.Background(), path, cfg)
	must(t, err)
	conn, err := l.Accept()
	must(t, err)
	must(t, conn.SetDeadline(time.Now().Add(30*time.Second)))
	t.Cleanup(func() {
		conn.Close()
		c.Close()
		<-c.Done()
	})
	return c, wire{t, conn.(*net.UnixConn)}
}

func params(t *testing.T, text string) shape.Args {
	t.Helper()
	raw, err := shape.Limits{}.Value([]byte(text))
	must(t, err)
	return shape.NamedArgs(raw)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
