package socket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/transporttest"
)

// serveHere serves in this process until the test ends, and checks how it ends.
func serveHere(t testing.TB, l *Listener) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- l.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
}

// A socket is a door like the others, and leaves nothing behind.
func TestSuite(t *testing.T) {
	transporttest.Run(t, transport.Socket, func(t *testing.T, cfg transport.Config) transport.Caller {
		dir := t.TempDir()
		transporttest.Leaks(t, dir)
		path := filepath.Join(dir, "main.sock")
		l, err := Listen(path, Options{Config: transport.Config{Handler: transporttest.Handler(), Log: func(string) {}}})
		must(t, err)
		serveHere(t, l)
		peer, err := Dial(context.Background(), path, cfg)
		must(t, err)
		t.Cleanup(func() {
			peer.Close()
			<-peer.Done()
		})
		return peer
	})
}

// SOCK-1, SOCK-5: two frames in one packet are two messages, a frame in many packets is one, and after a half-close all of it is
// answered, then closed, silently.
func TestFramesAndHalfClose(t *testing.T) {
	path := place(t)
	startServer(t, path)
	r := dialRaw(t, path)
	r.send(framed(alive, alive))
	r.want(aliveReply)
	r.want(aliveReply)
	for _, b := range []byte(framed(alive)) {
		r.send(string(b))
	}
	r.want(aliveReply)
	r.send(strings.Repeat(framed(alive), 100))
	must(t, r.CloseWrite())
	for range 100 {
		r.want(aliveReply)
	}
	r.wantEnd()
}

// SOCK-5: callers who say nothing, or half of something, do not keep another one waiting.
func TestSilentCallersBlockNobody(t *testing.T) {
	path := place(t)
	startServer(t, path)
	for range 50 {
		dialRaw(t, path)
		dialRaw(t, path).send(framed(alive)[:20])
	}
	began := time.Now()
	wantAlive(t, path)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("a new caller waited %v", took)
	}
}

// SOCK-5: over the limit a caller is told, without having to call, and its end makes room for the next.
func TestConnectionLimit(t *testing.T) {
	path := place(t)
	startServer(t, "-max", "3", path)
	var open []raw
	for range 3 {
		r := dialRaw(t, path)
		r.send(framed(alive))
		r.want(aliveReply)
		open = append(open, r)
	}
	const refusal = `{"ok":false,"family":1,"n":0,"result":[],` +
		`"error":"3 connections are open and the limit is 3: try again later","fault":"refused"}`
	for range 5 {
		r := dialRaw(t, path)
		r.want(refusal)
		r.wantEnd()
	}
	peer, err := Dial(context.Background(), path, transport.Config{})
	must(t, err)
	_, err = peer.Call(context.Background(), shape.Call{Verb: "echo"})
	var e *shape.Error
	if !errors.As(err, &e) || e.Fault != shape.Refused || !e.Said || !strings.Contains(e.Text, "the limit is 3") {
		t.Errorf("a caller is told %#v", err)
	}
	peer.Close()
	<-peer.Done()

	open[0].Close()
	eventually(t, "a place that was given back is served", func() bool {
		r := dialRaw(t, path)
		defer r.Close()
		io.WriteString(r, framed(alive)) // who is refused may find it closed, and the refusal there
		return r.frame() == aliveReply
	})
	open[1].send(framed(alive)) // those who were there first have noticed nothing
	open[1].want(aliveReply)
}

// eventually tries until it is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !so(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 10 s: %s", what)
		}
	}
}

// gone waits until a server has begun to stop, which is when its file goes.
func gone(t *testing.T, path string) {
	t.Helper()
	eventually(t, "the file is removed", func() bool { return !exists(path) })
}

// SOCK-6: after SIGTERM nobody is accepted, every frame that has wholly arrived is answered, those in the kernel too, a started
// one is cut, and the file is removed; a second signal changes nothing.
func TestStopAnswersWhatHasArrived(t *testing.T) {
	path := place(t)
	server := startServer(t, path)
	idle, half, busy := dialRaw(t, path), dialRaw(t, path), dialRaw(t, path)
	half.send(framed(alive) + framed(alive)[:20])
	half.want(aliveReply)
	busy.send(framed(`{"call":"wait"}`))
	server.says("waiting")
	busy.send(strings.Repeat(framed(alive), 50) + framed(alive)[:20])

	server.signal(syscall.SIGTERM)
	gone(t, path)
	server.signal(syscall.SIGTERM)
	if _, err := Dial(context.Background(), path, transport.Config{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("dial while it stops: %v", err)
	}
	idle.wantEnd()
	half.wantEnd()
	fmt.Fprintln(server.in)
	busy.want(`{"ok":true,"family":1,"n":1,"result":["late"]}`)
	for range 50 {
		busy.want(aliveReply)
	}
	busy.wantEnd()
	server.stops()
	if !exists(path + ".lock") {
		t.Error("the lock is gone")
	}
}

// SOCK-6: who connected before the stop is answered, though nobody had accepted them yet.
func TestStopAnswersTheQueue(t *testing.T) {
	path := place(t)
	server := startServer(t, path)
	server.freeze()
	var queue []raw
	for range 20 {
		r := dialRaw(t, path)
		r.send(framed(alive))
		queue = append(queue, r)
	}
	server.signal(syscall.SIGTERM)
	server.signal(syscall.SIGCONT)
	for _, r := range queue {
		r.want(aliveReply)
		r.wantEnd()
	}
	server.stops()
}

// SOCK-6: what does not end by itself is ended within the grace: a handler by its context, and one that does not listen to it by
// the end of the process.
func TestStopIsBounded(t *testing.T) {
	for _, verb := range []string{"hold", "wait"} {
		path := place(t)
		server := startServer(t, "-grace", "600ms", path)
		r := dialRaw(t, path)
		r.send(framed(`{"call":"` + verb + `"}`))
		server.says(verb + "ing")
		began := time.Now()
		server.signal(syscall.SIGTERM)
		if verb == "hold" {
			server.says("let go")
		}
		server.stops()
		if took := time.Since(began); took < 500*time.Millisecond || took > 3*time.Second {
			t.Errorf("%s: took %v, want 600ms", verb, took)
		}
		r.wantEnd()
	}
}

// A listener that is closed while it is served ends its connections in order and says so.
func TestCloseWhileServing(t *testing.T) {
	dir := t.TempDir()
	transporttest.Leaks(t, dir)
	path := filepath.Join(dir, "main.sock")
	l, err := Listen(path, Options{Config: transport.Config{Handler: transporttest.Handler()}})
	must(t, err)
	served := make(chan error, 1)
	go func() { served <- l.Serve(context.Background()) }()
	r := dialRaw(t, path)
	r.send(framed(alive))
	r.want(aliveReply)
	must(t, l.Close())
	if err := <-served; !errors.Is(err, net.ErrClosed) {
		t.Errorf("serve: %v", err)
	}
	r.wantEnd()
}

// Nobody's call goes unanswered where there is no handler.
func TestServeWithoutHandler(t *testing.T) {
	path := place(t)
	l, err := Listen(path, Options{})
	must(t, err)
	serveHere(t, l)
	r := dialRaw(t, path)
	r.send(framed(`{"call":"x"}`))
	r.want(`{"ok":false,"family":1,"n":0,"result":[],"error":"no such call: x","fault":"refused"}`)
	if info, err := os.Lstat(path); err != nil || info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("%v, %v", info, err)
	}
}
