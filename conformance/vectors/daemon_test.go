package vectors_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/rpc"
	"github.com/kith-wire/kith/transport/socket"
)

// daemonStage is where a case of the daemon wire is run: the peer under test is a daemon, which listens, or a client.
type daemonStage struct {
	wires  map[string]*wire // the tester's ends; the first has no name
	path   string           // where the daemon listens
	stop   func()           // tells the daemon to stop
	gates  gates            // of the daemon
	client *rpc.Client
	calls  calls
	echoes sync.WaitGroup // of connections that the client was given
}

// runRequest sends one request to a daemon, which may answer in one of several ways, and then closes or does not.
func runRequest(t *testing.T, c testCase) {
	d := newDaemon(t, c)
	w := d.wires[""]
	w.send(t, step{Bytes: lframed(t, c.Input)})
	body, err := w.next()
	if err != nil {
		t.Fatal(err)
	}
	if !oneMatches(c.Answers, string(body)) {
		t.Fatalf("got  %.300s\nallowed %.600q", body, c.Answers)
	}
	if c.Closes {
		w.closed(t)
		return
	}
	w.send(t, step{Bytes: lframed(t, data(`{"id":77,"method":"agent.none","params":{}}`))})
	w.expect(t, step{Replies: []string{`{"id":77,"result":null}`}})
}

func oneMatches(patterns []string, text string) bool {
	for _, pattern := range patterns {
		if matches(pattern, text) {
			return true
		}
	}
	return false
}

// runResponse lets a client make a call, and gives it one response.
func runResponse(t *testing.T, c testCase) {
	d := newClient(t, c)
	w := d.wires[""]
	d.calls.begin(t, step{As: "it", Verb: "agent.it"}, d.client.Call)
	w.expect(t, step{Replies: []string{`{"id":1,"method":"agent.it","params":{}}`}})
	w.send(t, step{Bytes: lframed(t, c.Input)})
	allowed(t, d.calls.result(t, "it"), c.Allow)
	if c.Closes {
		w.closed(t)
		return
	}
	d.calls.begin(t, step{As: "next", Verb: "agent.next"}, d.client.Call)
	w.expect(t, step{Replies: []string{`{"id":2,"method":"agent.next","params":{}}`}})
	w.send(t, step{Bytes: lframed(t, data(`{"id":2,"result":"alive"}`))})
	allowed(t, d.calls.result(t, "next"), []outcome{{Is: "rows", Rows: `["alive"]`}})
}

func lframed(t *testing.T, body data) data {
	t.Helper()
	b, err := piece{LFrame: body}.make()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// runDaemonConnection takes the steps against a daemon, or against a client.
func runDaemonConnection(t *testing.T, c testCase) {
	everywhere(t, c.Steps, func(split int) { runDaemonOnce(t, c, split) })
}

func runDaemonOnce(t *testing.T, c testCase, split int) {
	d := newSide(t, c)
	d.wires[""].split = split
	for i, s := range c.Steps {
		if t.Failed() {
			t.Fatalf("before step %d, %s", i, s.Do)
		}
		if w := d.wires[s.On]; w == nil || !w.common(t, s) {
			d.own(t, s)
		}
	}
}

func newSide(t *testing.T, c testCase) *daemonStage {
	t.Helper()
	switch c.Side {
	case "daemon":
		return newDaemon(t, c)
	case "client":
		return newClient(t, c)
	}
	t.Fatalf("side %q", c.Side)
	return nil
}

// newDaemon starts the daemon that README.md describes, and connects to it.
func newDaemon(t *testing.T, c testCase) *daemonStage {
	t.Helper()
	d := &daemonStage{wires: map[string]*wire{}, path: filepath.Join(shortDir(t), "s")}
	ln, err := socket.Listen(d.path, socket.Options{
		Config: transport.Config{Limits: c.Limits.shape(), Stall: millis(c.Stall), Log: func(string) {}},
		Max:    c.Max, Grace: millis(c.Grace),
		Wire: rpc.Options{Namespaces: d.namespaces(), Upgrades: []string{"channel.drive", "channel.stay"}, InFlight: c.InFlight, Idle: millis(c.Idle)},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	d.stop = stop
	served := make(chan error, 1)
	go func() { served <- ln.Serve(ctx) }()
	t.Cleanup(func() {
		for _, w := range d.wires {
			w.close()
		}
		stop()
		if err := receive(t, served); err != nil {
			t.Error(err)
		}
	})
	d.connect(t, "")
	return d
}

func millis(n int) time.Duration { return time.Duration(n) * time.Millisecond }

func (d *daemonStage) connect(t *testing.T, as string) {
	t.Helper()
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: d.path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	d.wires[as] = wireOf(conn, binary.LittleEndian)
}

// newClient connects a client to the tester.
func newClient(t *testing.T, c testCase) *daemonStage {
	t.Helper()
	mine, theirs := socketPair(t)
	cfg := transport.Config{Name: "the daemon", Limits: c.Limits.shape(), Stall: millis(c.Stall), Timeout: millis(c.Timeout)}
	d := &daemonStage{wires: map[string]*wire{"": wireOf(mine, binary.LittleEndian)}, client: rpc.Connect(theirs, cfg), calls: calls{}}
	t.Cleanup(func() {
		d.wires[""].close()
		d.client.Close()
		receive(t, d.client.Done())
		d.echoes.Wait()
	})
	return d
}

// own does the steps that only whoever holds the peer can do.
func (d *daemonStage) own(t *testing.T, s step) {
	t.Helper()
	switch s.Do {
	case "connect":
		d.connect(t, s.As)
	case "stop":
		d.stop()
	case "running":
		receive(t, d.gates.of(s.Of).running)
	case "release":
		d.gates.of(s.Of).release <- struct{}{}
	case "gone":
		if err := receive(t, d.gates.of(s.Of).gone); err == nil {
			t.Error("the handler's context did not end")
		}
	case "call":
		d.calls.begin(t, s, d.client.Call)
	case "upgrade":
		d.calls.begin(t, s, d.upgrade)
	case "result":
		allowed(t, d.calls.result(t, s.Of), s.Allow)
	case "why":
		receive(t, d.client.Done())
		for _, part := range s.Says {
			if !strings.Contains(d.client.Err().Error(), part) {
				t.Errorf("it ended with %v, which does not say %q", d.client.Err(), part)
			}
		}
	default:
		t.Fatalf("step %q on %q is none of the daemon wire", s.Do, s.On)
	}
}

// upgrade makes the client take its connection, on which each byte is then sent back.
func (d *daemonStage) upgrade(ctx context.Context, call shape.Call) (shape.Rows, error) {
	rows, conn, err := d.client.Upgrade(ctx, call)
	if err == nil {
		d.echoes.Go(func() { echo(conn) })
	}
	return rows, err
}

func echo(conn net.Conn) {
	defer conn.Close()
	io.Copy(conn, conn)
}

// frameFault says how a frame failed (RPC-1); "" where none did.
func frameFault(err error) string {
	var large *rpc.TooLarge
	var malformed *rpc.MalformedJSON
	var end *rpc.EndOfStream
	var system *rpc.IOError
	switch {
	case errors.As(err, &large):
		return "too-large"
	case errors.As(err, &malformed):
		return "malformed-json"
	case errors.As(err, &end):
		return "end-of-stream"
	case errors.As(err, &system):
		return "io"
	}
	return ""
}
