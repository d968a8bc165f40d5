package vectors_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/socket"
)

// socketPair returns the two ends of a connected pair.
func socketPair(t *testing.T) (mine, theirs *net.UnixConn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	conn := func(fd int) *net.UnixConn {
		f := os.NewFile(uintptr(fd), "pair")
		defer f.Close()
		c, err := net.FileConn(f)
		if err != nil {
			t.Fatal(err)
		}
		return c.(*net.UnixConn)
	}
	return conn(fds[0]), conn(fds[1])
}

// twoPipes returns two ends that are connected by a pipe each way.
func twoPipes(t *testing.T) (mine, theirs pipes) {
	t.Helper()
	toThem, fromMe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	toMe, fromThem, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return pipes{toMe, fromMe}, pipes{toThem, fromThem}
}

type pipes struct{ in, out *os.File }

func (p pipes) Read(b []byte) (int, error)         { return p.in.Read(b) }
func (p pipes) Write(b []byte) (int, error)        { return p.out.Write(b) }
func (p pipes) CloseWrite() error                  { return p.out.Close() }
func (p pipes) SetReadDeadline(at time.Time) error { return p.in.SetReadDeadline(at) }
func (p pipes) SetDeadline(at time.Time) error {
	return errors.Join(p.in.SetDeadline(at), p.out.SetDeadline(at))
}
func (p pipes) Close() error {
	p.in.Close()
	return p.out.Close()
}

// talk is a connection under test: the steps are the tester's, the peer is kith's.
type talk struct {
	*wire
	peer    *transport.Peer
	handler *reference
	calls   calls
	ln      *net.UnixListener // where the peer has dialed, if it has
}

// runConnection takes the steps against one end of a connection. Where a step is split everywhere, the case is run for every
// place there is.
func runConnection(t *testing.T, c testCase) {
	everywhere(t, c.Steps, func(split int) { runOnce(t, c, split) })
}

// everywhere runs steps with each place to cut what is sent, and once with none where nothing is split everywhere.
func everywhere(t *testing.T, steps []step, run func(split int)) {
	places := 0
	for _, s := range steps {
		if s.Split == "every" {
			places = max(places, len(s.Bytes))
		}
	}
	if places == 0 {
		run(-1)
	}
	for at := 0; at < places && !t.Failed(); at++ {
		if run(at); t.Failed() {
			t.Errorf("cut at byte %d", at)
		}
	}
}

func runOnce(t *testing.T, c testCase, split int) {
	w := newTalk(t, c, split)
	defer func() {
		if t.Failed() && w.peer != nil {
			t.Logf("the peer says: %v", w.peer.Err())
		}
		w.close()
		if w.peer != nil {
			w.peer.Close()
			<-w.peer.Done()
		}
	}()
	for i, s := range c.Steps {
		if t.Failed() {
			t.Fatalf("before step %d, %s", i, s.Do)
		}
		if !w.common(t, s) {
			w.own(t, s)
		}
	}
}

func newTalk(t *testing.T, c testCase, split int) *talk {
	w := &talk{handler: newReference(), calls: calls{}}
	cfg := transport.Config{Name: "the peer", Limits: c.Limits.shape(), Log: func(string) {}, Handler: w.handler, Encoding: shape.JSON,
		Stall: time.Duration(c.Stall) * time.Millisecond, Timeout: time.Duration(c.Timeout) * time.Millisecond}
	switch {
	case c.Handler == "none":
		cfg.Handler = nil
	case c.Handler != "":
		t.Fatalf("handler %q", c.Handler)
	case c.Encoding == "cbor":
		cfg.Encoding = shape.CBOR
	}
	mine, peer := w.connect(t, c, cfg)
	one := wireOf(mine, lengthAt(c.Door))
	one.split = split
	w.wire, w.peer = one, peer
	return w
}

// ending is the tester's end of a connection.
type ending interface {
	io.ReadWriteCloser
	CloseWrite() error
	SetDeadline(time.Time) error
}

// lengthAt is how a door writes the length of a frame; nil where it has lines.
func lengthAt(door string) binary.ByteOrder {
	if door == "socket" {
		return binary.BigEndian
	}
	return nil
}

// wireOf is the stream over one end.
func wireOf(mine ending, order binary.ByteOrder) *wire {
	mine.SetDeadline(time.Now().Add(patience)) // a case that hangs says where
	return &wire{in: bufio.NewReader(mine), out: mine, end: mine.CloseWrite, close: mine.Close, order: order, split: -1}
}

func (w *talk) connect(t *testing.T, c testCase, cfg transport.Config) (ending, *transport.Peer) {
	ctx := context.Background()
	switch {
	case c.Policy == "nobody":
		return w.refused(t, cfg)
	case c.Door == "socket" && c.Listen:
		path := filepath.Join(shortDir(t), "s")
		ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		w.ln = ln
		t.Cleanup(func() { ln.Close() })
		peer, err := socket.Dial(ctx, path, cfg)
		if err != nil {
			t.Fatal(err)
		}
		mine, err := ln.AcceptUnix()
		if err != nil {
			t.Fatal(err)
		}
		return mine, peer
	case c.Door == "socket":
		mine, theirs := socketPair(t)
		cfg.Door = transport.Socket
		return mine, transport.Connect(ctx, theirs, transport.Lengths, cfg)
	case c.Door == "pipe":
		mine, theirs := twoPipes(t)
		cfg.Door = transport.Pipe
		return mine, transport.Connect(ctx, theirs, transport.Lines, cfg)
	}
	t.Fatalf("door %q", c.Door)
	return nil, nil
}

// refused is a connection to a socket whose policy refuses everybody: there is no peer.
func (w *talk) refused(t *testing.T, cfg transport.Config) (ending, *transport.Peer) {
	t.Helper()
	path := filepath.Join(shortDir(t), "s")
	ln, err := socket.Listen(path, socket.Options{Config: cfg, Allow: func(transport.Cred) bool { return false }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- ln.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := receive(t, served); err != nil {
			t.Error(err)
		}
	})
	mine, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	return mine, nil
}

// shortDir makes a directory whose path leaves room for that of a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "v")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// own does the steps that only whoever holds the peer can do.
func (w *talk) own(t *testing.T, s step) {
	t.Helper()
	switch s.Do {
	case "call":
		w.calls.begin(t, s, w.peer.Call)
	case "result":
		allowed(t, w.calls.result(t, s.Of), s.Allow)
	case "emit":
		payload, err := shape.Limits{}.Value([]byte(s.More), shape.JSON)
		if err != nil {
			t.Fatal(err)
		}
		for range max(1, s.Times) {
			if err = w.peer.Emit(shape.Event{Name: s.Verb, More: payload.Members()}); err != nil {
				break
			}
		}
		if err != nil && !s.May {
			t.Errorf("emit: %v", err)
		}
	case "nobody-else":
		w.ln.SetDeadline(time.Now()) // whoever has dialed is there already
		if conn, err := w.ln.Accept(); err == nil {
			conn.Close()
			t.Error("it has dialed again")
		}
	case "noticed":
		if name := receive(t, w.handler.events); name != s.Verb {
			t.Errorf("the event that came is %q, not %q", name, s.Verb)
		}
	case "release":
		w.handler.release <- struct{}{}
	case "running":
		receive(t, w.handler.running)
	case "gone":
		if err := receive(t, w.handler.gone); err == nil {
			t.Error("the handler's context did not end")
		}
	case "why":
		w.why(t, s)
	default:
		t.Fatalf("step %q is none of a connection", s.Do)
	}
}

// calls are those that the peer under test has begun, by the names that the steps give them.
type calls map[string]chan got

func (c calls) begin(t *testing.T, s step, do func(context.Context, shape.Call) (shape.Rows, error)) {
	t.Helper()
	call, err := callOf(s.Verb, s.Args, s.More)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if s.Timeout > 0 {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(s.Timeout)*time.Millisecond)
	}
	done := make(chan got, 1)
	c[s.As] = done
	go func() {
		defer cancel()
		rows, err := do(ctx, call)
		if err != nil {
			done <- refusedAs(err)
			return
		}
		done <- rowsAs(rows)
	}()
}

func (c calls) result(t *testing.T, of string) got {
	t.Helper()
	done := c[of]
	if done == nil {
		t.Fatalf("no call is named %q", of)
	}
	delete(c, of)
	return receive(t, done)
}

// why checks how the peer says that its connection ended.
func (w *talk) why(t *testing.T, s step) {
	t.Helper()
	receive(t, w.peer.Done())
	err := w.peer.Err()
	if (err == nil) != (s.Is == "clean") {
		t.Fatalf("it ended with %v, want %s", err, s.Is)
	}
	for _, part := range s.Says {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("it ended with %v, which does not say %q", err, part)
		}
	}
}

func receive[T any](t *testing.T, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(patience):
		t.Fatal("nothing came")
	}
	return v
}
