package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kith-wire/kith/cmd/internal/built"
)

type noted struct {
	Event string
	note
}

func event(t testing.TB, text string) noted {
	t.Helper()
	var e noted
	if err := json.Unmarshal([]byte(text), &e); err != nil || e.Event != "noted" {
		t.Fatalf("%q is no event noted: %v", text, err)
	}
	return e
}

const noRows = `{"ok":true,"family":1,"n":0,"result":[]}`

// TestWatch has notes come from other processes, from other connections and from the watcher itself: each once, in order.
func TestWatch(t *testing.T) {
	e := built.NewEnv(t)
	kept(t, e, "note", "before")
	_, at := e.Serve(t)
	socket := knock(t, at)
	pipe := e.Start(t, "scribe", "pipe")
	for range 2 { // watching twice is watching
		io.WriteString(socket, framed(`{"call":"watch"}`))
		same(t, "watch at the socket", unframe(t, socket), noRows)
	}
	pipe.Say(t, `{"call":"watch"}`)
	same(t, "watch at the pipe", pipe.Line(t), noRows)

	want := kept(t, e, "note", "by a run", "tag")[0]
	text := unframe(t, socket)
	same(t, "at the socket", event(t, text).note, want)
	if !strings.HasPrefix(text, `{"event":"noted","id":2,"at":"`) || !strings.HasSuffix(text, `","text":"by a run","tags":["tag"]}`) {
		t.Errorf("the event is %s", text)
	}
	same(t, "at the pipe", pipe.Line(t), text)

	io.WriteString(socket, framed(`{"call":"note","args":["by myself"]}`))
	reply := one(t, unframe(t, socket)) // before the event it causes (SOCK-5)
	same(t, "by myself", event(t, unframe(t, socket)).note, reply)
	same(t, "seen from the pipe", event(t, pipe.Line(t)).Text, "by myself")

	other := knock(t, at)
	io.WriteString(other, framed(`{"event":"jot","text":"a jot"}`))
	same(t, "a jot at the socket", event(t, unframe(t, socket)).Text, "a jot")
	same(t, "a jot at the pipe", event(t, pipe.Line(t)).Text, "a jot")
	kept(t, e, "forget", "3")
	kept(t, e, "note", "last")
	same(t, "nothing for what is forgotten", event(t, unframe(t, socket)).Text, "last")
	same(t, "nor at the pipe", event(t, pipe.Line(t)).ID, int64(5))
}

// TestWatchLosesNothing has several processes write while several watch.
func TestWatchLosesNothing(t *testing.T) {
	e := built.NewEnv(t)
	_, at := e.Serve(t)
	var watchers []io.Reader
	for range 3 {
		conn := knock(t, at)
		io.WriteString(conn, framed(`{"call":"watch"}`))
		same(t, "watch", unframe(t, conn), noRows)
		watchers = append(watchers, conn)
	}
	const each = 40
	writers := e.Start(t, "sh", "-c", "for w in 1 2 3; do (i=0; while [ $i -lt "+itoa(each)+
		" ]; do i=$((i+1)); echo '{\"call\":\"note\",\"args\":[\"x\"]}'; done | scribe pipe >out) & done; wait")
	for _, w := range watchers {
		for i := range 3 * each {
			same(t, "the next id", event(t, unframe(t, w)).ID, int64(i+1))
		}
	}
	if r := writers.Wait(t); r.Status != 0 {
		t.Errorf("the writers ended with %+v", r)
	}
}

// TestWatchReplaced replaces the book under a watcher: it is told of what is new in it, and of nothing twice.
func TestWatchReplaced(t *testing.T) {
	e := built.NewEnv(t)
	for _, text := range []string{"one", "two"} {
		kept(t, e, "note", text)
	}
	p := e.Start(t, "scribe", "pipe")
	p.Say(t, `{"call":"watch"}`)
	same(t, "watch", p.Line(t), noRows)
	book := contents(t, bookOf(e))
	edited := filepath.Join(e.Dir, "edited")
	if err := os.WriteFile(edited, []byte(book+`{"id":9,"at":"2026-01-01T00:00:00Z","text":"by an editor","tags":[]}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(edited, bookOf(e)); err != nil {
		t.Fatal(err)
	}
	same(t, "in the new file", event(t, p.Line(t)).ID, int64(9))
	if err := os.Remove(bookOf(e)); err != nil {
		t.Fatal(err)
	}
	kept(t, e, "note", "the first of a new book")
	same(t, "in a new book", event(t, p.Line(t)).Text, "the first of a new book")
}

// TestWatchBeforeTheBook watches before anything was ever kept.
func TestWatchBeforeTheBook(t *testing.T) {
	e := built.NewEnv(t)
	p := e.Start(t, "scribe", "pipe")
	p.Say(t, `{"call":"watch"}`)
	same(t, "watch", p.Line(t), noRows)
	kept(t, e, "note", "the very first")
	same(t, "the event", event(t, p.Line(t)).Text, "the very first")
	p.In.Close()
	if r := p.Wait(t); r.Status != 0 || r.Err != "" {
		t.Errorf("it ended with %+v", r)
	}
}
