package socket

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/transporttest"
)

// FAULT-4: who cannot be reached is unavailable, inferred, by path and with the reason.
func TestDialErrors(t *testing.T) {
	dir := t.TempDir()
	transporttest.Leaks(t)
	dead := deadSocket(t, dir, unix.SOCK_STREAM)
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, nil, 0o600))
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		ctx   context.Context
		path  string
		part  string
		cause error
	}{
		{context.Background(), filepath.Join(dir, "none"), "nothing is listening, there is no such file", fs.ErrNotExist},
		{context.Background(), dead, "nothing is listening", unix.ECONNREFUSED},
		{context.Background(), file, "nothing is listening", unix.ECONNREFUSED},
		{context.Background(), deadSocket(t, t.TempDir(), unix.SOCK_DGRAM), "nothing is listening", unix.ECONNREFUSED},
		{ended, dead, "no connection", context.Canceled},
	} {
		for _, name := range []string{"", "scribe"} {
			_, err := Dial(c.ctx, c.path, transport.Config{Name: name})
			var e *shape.Error
			if !errors.As(err, &e) || e.Fault != shape.Unavailable || e.Said || !errors.Is(err, c.cause) {
				t.Errorf("%s: got %#v", c.part, err)
				continue
			}
			text := err.Error()
			if strings.Count(text, c.path) != 1 || !strings.HasPrefix(text, name) || !strings.Contains(text, c.part) {
				t.Errorf("got %q, want %q in it and the path once", text, c.part)
			}
		}
	}
}

// CLIENT-4: the context of a dial is that of the dial alone.
func TestConnectionOutlivesItsDial(t *testing.T) {
	path := place(t)
	startServer(t, path)
	ctx, cancel := context.WithCancel(context.Background())
	peer, err := Dial(ctx, path, transport.Config{})
	must(t, err)
	cancel()
	if _, err := peer.Call(context.Background(), shape.Call{Verb: "echo"}); err != nil {
		t.Error(err)
	}
	peer.Close()
	<-peer.Done()
}

// A server whose queue is full for a moment is reached once it accepts again: no byte had left (CLIENT-2).
func TestDialWaitsForItsTurn(t *testing.T) {
	path := place(t)
	server := start(t, command("deaf", path))
	server.says("listening")
	fill(t, path)
	reached := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		peer, err := Dial(ctx, path, transport.Config{})
		if err == nil {
			peer.Close()
		}
		reached <- err
	}()
	select {
	case err := <-reached:
		t.Fatalf("the queue is full, and it was reached: %v", err)
	case <-time.After(5 * dialWait):
	}
	server.in.Close() // it accepts now
	if err := <-reached; err != nil {
		t.Error(err)
	}
}

// CLIENT-4: a dial to a server that accepts nobody ends with its deadline, and within 2 s where it has none.
func TestDialIsBounded(t *testing.T) {
	path := place(t)
	server := start(t, command("deaf", path))
	server.says("listening")
	server.freeze()
	fill(t, path)
	for _, limit := range []time.Duration{0, 100 * time.Millisecond} {
		ctx, want := context.Background(), dialTime
		if limit > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, limit)
			defer cancel()
			want = limit
		}
		began := time.Now()
		_, err := Dial(ctx, path, transport.Config{})
		took := time.Since(began)
		if !errors.Is(err, shape.Unavailable) || !strings.Contains(err.Error(), path) {
			t.Errorf("got %v", err)
		}
		if took < want || took > want+time.Second {
			t.Errorf("took %v, want %v", took, want)
		}
	}
}
