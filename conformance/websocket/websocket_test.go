package websocket_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/rpc"
	"github.com/kith-wire/kith/transport/socket"
	"github.com/kith-wire/kith/transport/transporttest"
)

func TestMain(m *testing.M) { transporttest.Main(m) }

const large = 1 << 20

// agent is the daemon: drive acknowledges, and serves one WebSocket on the connection that is its own from then on.
type agent struct {
	closed chan websocket.StatusCode // what a client closed with
}

func (a *agent) Call(ctx context.Context, call shape.Call) (shape.Rows, error) {
	if call.Verb != "drive" {
		return shape.RowsOf("alive"), nil
	}
	conn, err := rpc.Upgrade(ctx, shape.RowsOf("upgraded"))
	if err != nil {
		return shape.Rows{}, err
	}
	l := newOne(conn)
	server := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { a.drive(ctx, w, r) })}
	server.Serve(l)
	return shape.Rows{}, nil
}

func (*agent) Event(context.Context, shape.Event) {}

// drive sends every message back, and says goodbye when the daemon stops or is asked to.
func (a *agent) drive(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer ws.CloseNow()
	ws.SetReadLimit(2 * large)
	for {
		kind, message, err := ws.Read(ctx)
		if err != nil {
			a.closed <- websocket.CloseStatus(err)
			return
		}
		if string(message) == "leave" {
			ws.Close(4001, "as you wish")
			return
		}
		if err := ws.Write(ctx, kind, message); err != nil {
			return
		}
	}
}

// one is a listener that has one connection, and ends with it.
type one struct {
	conn net.Conn
	next chan net.Conn
	gone chan struct{}
	once sync.Once
}

func newOne(conn net.Conn) *one {
	l := &one{conn: conn, next: make(chan net.Conn, 1), gone: make(chan struct{})}
	l.next <- &counted{conn, l}
	return l
}

func (l *one) Accept() (net.Conn, error) {
	select {
	case conn := <-l.next:
		return conn, nil
	case <-l.gone:
		return nil, net.ErrClosed
	}
}

func (l *one) Close() error   { return nil }
func (l *one) Addr() net.Addr { return l.conn.LocalAddr() }

type counted struct {
	net.Conn
	of *one
}

func (c *counted) Close() error {
	c.of.once.Do(func() { close(c.of.gone) })
	return c.Conn.Close()
}

// start serves the daemon until the test ends.
func start(t *testing.T) (*agent, string, context.CancelFunc) {
	t.Helper()
	dir := t.TempDir()
	transporttest.Leaks(t, dir)
	path := filepath.Join(dir, "d.sock")
	a := &agent{closed: make(chan websocket.StatusCode, 1)}
	l, err := socket.Listen(path, socket.Options{Wire: rpc.Options{
		Namespaces: map[string]transport.Handler{"agent": a}, Upgrades: []string{"agent.drive"},
	}})
	must(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- l.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		must(t, <-ended)
	})
	return a, path, stop
}

// open calls agent.drive and makes the handshake on what the daemon gave away.
func open(t *testing.T, path string) *websocket.Conn {
	t.Helper()
	ctx := t.Context()
	c, err := rpc.Dial(ctx, path, transport.Config{})
	must(t, err)
	_, err = c.Call(ctx, shape.Call{Verb: "agent.alive"})
	must(t, err)
	rows, conn, err := c.Upgrade(ctx, shape.Call{Verb: "agent.drive"})
	must(t, err)
	if got := string(rows.Raw(0).Append(nil, shape.JSON)); got != `"upgraded"` {
		t.Errorf("acknowledged with %s", got)
	}
	dial := func(context.Context, string, string) (net.Conn, error) { return conn, nil }
	ws, _, err := websocket.Dial(ctx, "ws://daemon/", &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: &http.Transport{DialContext: dial}},
	})
	must(t, err)
	t.Cleanup(func() {
		ws.CloseNow()
		<-c.Done()
	})
	ws.SetReadLimit(2 * large)
	return ws
}

// TestMessages: text and binary frames, empty ones and 1 MiB, and pings.
func TestMessages(t *testing.T) {
	a, path, _ := start(t)
	ws := open(t, path)
	ctx := t.Context()
	for _, m := range []struct {
		kind websocket.MessageType
		data []byte
	}{
		{websocket.MessageText, []byte("héllo\n")},
		{websocket.MessageBinary, []byte("\x00\xff\x80{}")},
		{websocket.MessageText, nil},
		{websocket.MessageBinary, bytes.Repeat([]byte("\xfe\x00"), large/2)},
		{websocket.MessageText, []byte(strings.Repeat("x", large))},
	} {
		must(t, ws.Write(ctx, m.kind, m.data))
		kind, data, err := ws.Read(ctx)
		if err != nil || kind != m.kind || !bytes.Equal(data, m.data) {
			t.Errorf("%v of %d bytes: %v of %d, %v", m.kind, len(m.data), kind, len(data), err)
		}
	}
	reading := ws.CloseRead(ctx) // answers of pings are read by it
	for range 3 {
		must(t, ws.Ping(ctx))
	}
	must(t, reading.Err())
	must(t, ws.Close(4002, "enough"))
	if code := <-a.closed; code != 4002 {
		t.Errorf("the daemon read close code %d", code)
	}
}

// TestCloseCode: what a daemon closes with reaches its client.
func TestCloseCode(t *testing.T) {
	_, path, _ := start(t)
	ws := open(t, path)
	must(t, ws.Write(t.Context(), websocket.MessageText, []byte("leave")))
	_, _, err := ws.Read(t.Context())
	var closed websocket.CloseError
	if !errors.As(err, &closed) || closed.Code != 4001 || closed.Reason != "as you wish" {
		t.Errorf("got %v", err)
	}
}

// TestStop: a daemon that stops does not wait for a WebSocket that is open.
func TestStop(t *testing.T) {
	_, path, stop := start(t)
	ws := open(t, path)
	began := time.Now()
	stop()
	if _, _, err := ws.Read(t.Context()); err == nil {
		t.Error("it went on")
	}
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("it took %v", took)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
