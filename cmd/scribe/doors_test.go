package main

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/kith-wire/kith/cmd/internal/built"
)

// TestFirstBytes holds what others match on, byte for byte (SHAPE-3, VER-2, ENC-3, FAULT-3).
func TestFirstBytes(t *testing.T) {
	e := built.NewEnv(t)
	const verbs = `{"ok":true,"family":1,"surface":1,"n":`
	if got := e.OK(t, "", "scribe", "verbs"); !strings.HasPrefix(got, verbs) || !strings.HasSuffix(got, "]}\n") {
		t.Errorf("verbs begins %.60q", got)
	}
	same(t, "an unknown verb", e.OK(t, "", "scribe", "shout"),
		`{"ok":false,"family":1,"n":0,"result":[],"error":"no such call: shout","fault":"refused"}`+"\n")
	same(t, "no rows", e.OK(t, "", "scribe", "list"), `{"ok":true,"family":1,"n":0,"result":[]}`+"\n")
	same(t, "watch has no row on the cli", ask(t, e, "watch").Error, "no such call: watch")
	for _, args := range [][]string{{"list", "-1"}, {"list", "1.5"}, {"get", "x"}, {"get"}, {"get", "1", "2"}, {"get", "7"}, {"forget", "7"}} {
		got := e.OK(t, "", "scribe", args...)
		if !strings.HasPrefix(got, `{"ok":false,"family":1,"n":0,"result":[],"error":"`+args[0]+": ") || !strings.HasSuffix(got, `","fault":"refused"}`+"\n") {
			t.Errorf("scribe %q: %q", args, got)
		}
	}
	five := e.OK(t, "", "scribe", "verbs", "--cbor")
	if !strings.HasPrefix(five, unhex(t, "a5626f6bf56666616d696c7901")) {
		t.Errorf("verbs in CBOR begins %x", five[:min(len(five), 13)])
	}
	one := e.OK(t, "", "scribe", "--cbor", "note", "a line")
	if !strings.HasPrefix(one, unhex(t, "a4626f6bf56666616d696c7901616e01")) {
		t.Errorf("one row in CBOR begins %x", one[:min(len(one), 16)])
	}
}

// TestShell is the same with tools that know nothing of this wire.
func TestShell(t *testing.T) {
	built.Need(t, "xxd", "jq", "socat")
	e := built.NewEnv(t)
	same(t, "xxd", e.Sh(t, "scribe verbs --cbor | head -c 13 | xxd -p"), "a5626f6bf56666616d696c7901\n")
	same(t, "jq at the cli", e.Sh(t, `scribe note "one line" a b | jq -c '[.ok, .n, .result[0].id, .result[0].text, .result[0].tags]'`),
		`[true,1,1,"one line",["a","b"]]`+"\n")
	same(t, "jq at the pipe", e.Sh(t, `printf '{"call":"list","args":[]}\n' | scribe pipe | jq -r '.result[].text'`), "one line\n")
	p, at := e.Serve(t)
	// The call is fifteen bytes long, and printf takes octal.
	same(t, "socat", e.Sh(t, `printf '\000\000\000\017{"call":"list"}' | socat -t 10 - UNIX-CONNECT:`+at+` | tail -c +5 | jq -r '.result[].text'`),
		"one line\n")
	if r := p.Stop(t, syscall.SIGTERM); r.Status != 0 || r.Out != "" {
		t.Errorf("it ended with %+v", r)
	}
}

// TestPython lets a client that was written from the wire alone talk to every door.
func TestPython(t *testing.T) {
	built.Need(t, "python3")
	client, err := filepath.Abs("testdata/client.py")
	if err != nil {
		t.Fatal(err)
	}
	e := built.NewEnv(t)
	_, at := e.Serve(t)
	for door, where := range map[string]string{"cli": "scribe", "pipe": "scribe", "socket": at} {
		same(t, door, e.OK(t, "", "python3", client, door, where), "ok\n")
	}
}

// TestServe holds what the daemon promises a shell (SOCK-2, SOCK-6).
func TestServe(t *testing.T) {
	e := built.NewEnv(t)
	p, at := e.Serve(t)
	same(t, "its place", at, filepath.Join(e.Dir, "run", "scribe", "main.sock"))
	info, err := os.Stat(at)
	if err != nil || info.Mode().Perm() != 0o600 || info.Mode().Type() != os.ModeSocket {
		t.Errorf("the socket is %v, %v", info.Mode(), err)
	}
	again := e.Run(t, "", "scribe", "serve")
	if again.Status != 1 || again.Out != "" || strings.Count(again.Err, "\n") != 1 {
		t.Errorf("a second one: %+v", again)
	}
	if r := p.Stop(t, syscall.SIGINT); r.Status != 0 {
		t.Errorf("it ended with %+v", r)
	}
	if _, err := os.Lstat(at); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
	other := filepath.Join(e.Dir, "run", "by-hand.sock")
	p, at = e.Serve(t, "--socket", other, "--limit", "4", "--stall", "5s", "--grace", "2s", "--cap", "4096")
	same(t, "--socket", at, other)
	conn := knock(t, at)
	io.WriteString(conn, framed(`{"call":"echo","args":["`+strings.Repeat("x", 5000)+`"]}`))
	if a := read(t, unframe(t, conn)); a.Fault != "malformed" || !strings.Contains(a.Error, "4096") {
		t.Errorf("over --cap: %+v", a)
	}
	conn.Close()
	p.Stop(t, syscall.SIGTERM)
	p, at = e.Serve(t, "--instance", "work")
	same(t, "--instance", at, filepath.Join(e.Dir, "run", "scribe", "work.sock"))
	p.Stop(t, syscall.SIGTERM)
}

// TestFrames sends two frames in one write and then the same one byte at a time: the same bytes come back (SOCK-5).
func TestFrames(t *testing.T) {
	e := built.NewEnv(t)
	_, at := e.Serve(t)
	calls := framed(`{"call":"echo","args":[1,"two"]}`) + framed(unhex(t, "a2 6463616c6c 646563686f 6461726773 82 01 6374776f"))
	want := []string{`{"ok":true,"family":1,"n":2,"result":[1,"two"]}`,
		unhex(t, "a4 626f6b f5 6666616d696c79 01 616e 02 66726573756c74 82 01 6374776f")}
	conn := knock(t, at)
	io.WriteString(conn, calls)
	for i := range want {
		same(t, "two in one write", unframe(t, conn), want[i])
	}
	for i := range calls {
		io.WriteString(conn, calls[i:i+1])
	}
	for i := range want {
		same(t, "a byte at a time", unframe(t, conn), want[i])
	}
	conn.(*net.UnixConn).CloseWrite()
	if rest, err := io.ReadAll(conn); err != nil || len(rest) != 0 {
		t.Errorf("behind the last reply: %q, %v", rest, err)
	}
}

// TestPipeEnd holds that the end of input costs no reply, however the two race (PIPE-3).
func TestPipeEnd(t *testing.T) {
	e := built.NewEnv(t)
	ask(t, e, "note", "a line")
	runs := 100
	if !built.Race {
		runs = 1000
	}
	want := e.OK(t, `{"call":"list"}`+"\n"+`{"call":"verbs"}`, "scribe", "pipe")
	if strings.Count(want, "\n") != 2 || strings.Count(want, `{"ok":true,"family":1,`) != 2 {
		t.Fatalf("it wrote %q", want)
	}
	got := e.Sh(t, `i=0; while [ $i -lt `+itoa(runs)+` ]; do i=$((i+1)); printf '{"call":"list"}\n{"call":"verbs"}' | scribe pipe || echo "exit $?"; done`)
	if got != strings.Repeat(want, runs) {
		t.Errorf("%d runs wrote %d bytes, not %d", runs, len(got), runs*len(want))
	}
}

// TestJot keeps a line with nobody waiting, and answers nothing (SHAPE-6).
func TestJot(t *testing.T) {
	e := built.NewEnv(t)
	out := e.OK(t, `{"event":"jot","text":"by the way","tags":["x"]}`+"\n"+`{"event":"jot"}`+"\n"+`{"event":"other"}`+"\n"+`{"call":"list"}`+"\n",
		"sh", "-c", "scribe pipe 2>/dev/null")
	if a := read(t, out); len(a.Result) != 1 || a.Result[0].Text != "by the way" || a.Result[0].Tags[0] != "x" {
		t.Errorf("it wrote %q", out)
	}
	_, at := e.Serve(t)
	conn := knock(t, at)
	io.WriteString(conn, framed(`{"event":"jot","text":"and another"}`)+framed(`{"call":"list"}`))
	same(t, "at the socket", texts(read(t, unframe(t, conn)).Result), []string{"by the way", "and another"})
}
