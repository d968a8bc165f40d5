package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kith-wire/kith/cmd/internal/built"
)

// listed is what ls prints, by the path below the environment's directory.
func listed(t *testing.T, e *built.Env) (rows []found) {
	t.Helper()
	for line := range strings.Lines(e.OK(t, "", "kith", "ls", "--timeout", "300ms")) {
		var row found
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		row.At = strings.TrimPrefix(row.At, e.Dir+"/")
		rows = append(rows, row)
	}
	return rows
}

// silent listens and says nothing, as programs on other wires do.
func silent(t *testing.T, at string) *net.UnixListener {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: at})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// TestLs finds what runs, what does not answer and what is left over, two folders deep, and nothing else.
func TestLs(t *testing.T) {
	e := built.NewEnv(t)
	if rows := listed(t, e); rows != nil {
		t.Errorf("in an empty directory: %+v", rows)
	}
	main, _ := e.Serve(t)
	work, _ := e.Serve(t, "--instance", "work")
	run := filepath.Join(e.Dir, "run")
	silent(t, run+"/other.sock")
	silent(t, run+"/a/b/quiet")
	silent(t, run+"/a/b/c/deep.sock")
	stale := silent(t, run+"/scribe/stale.sock")
	stale.SetUnlinkOnClose(false)
	stale.Close()

	one, self := uint64(1), os.Getpid()
	want := []found{
		{At: "run/a/b/quiet", Name: "b", PID: &self, Why: "have passed"},
		{At: "run/other.sock", Name: "other", PID: &self, Why: "have passed"},
		{At: "run/scribe/main.sock", Name: "scribe", Surface: &one, PID: &main.Cmd.Process.Pid},
		{At: "run/scribe/stale.sock", Name: "scribe", Why: "connection refused"},
		{At: "run/scribe/work.sock", Name: "scribe", Surface: &one, PID: &work.Cmd.Process.Pid},
	}
	got := listed(t, e)
	for i := range got {
		if i < len(want) && strings.Contains(got[i].Why, want[i].Why) && want[i].Why != "" {
			got[i].Why = want[i].Why
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, dir := range []string{"/a", "/other.sock", "/scribe/stale.sock"} {
		os.RemoveAll(run + dir)
	}
}

// TestLsWithoutRuntimeDir looks where programs are when there is no $XDG_RUNTIME_DIR (SOCK-2).
func TestLsWithoutRuntimeDir(t *testing.T) {
	e := built.NewEnv(t)
	e.Set("XDG_RUNTIME_DIR", "")
	p, at := e.Serve(t)
	dir := fmt.Sprintf("%s/tmp/scribe-%d", e.Dir, os.Getuid())
	if at != dir+"/main.sock" {
		t.Errorf("it listens at %s", at)
	}
	rows := listed(t, e)
	if len(rows) != 1 || rows[0].Name != "scribe" || rows[0].Surface == nil || *rows[0].PID != p.Cmd.Process.Pid {
		t.Errorf("%+v", rows)
	}
	p.Stop(t, syscall.SIGTERM)
	os.RemoveAll(dir)
}

// TestWatch prints events of other processes, one a line, until it is interrupted.
func TestWatch(t *testing.T) {
	e := built.NewEnv(t)
	_, at := e.Serve(t)
	w := e.Start(t, "kith", "watch", at)
	p := e.Start(t, "kith", "watch", "pipe:scribe", "watch")
	// Both watch once they print a note; those that came before they did are not theirs to print.
	for i, w := range []*built.Process{w, p} {
		first := make(chan string, 1)
		go func() { line, _ := w.Out.ReadString('\n'); first <- line }()
		for got := ""; got == ""; {
			e.OK(t, "", "scribe", "note", fmt.Sprint("knock ", i))
			select {
			case got = <-first:
				if !strings.Contains(got, `"text":"knock `) {
					t.Fatalf("it printed %q", got)
				}
			default:
			}
		}
	}
	e.OK(t, "", "scribe", "note", "the last")
	event := regexp.MustCompile(`^{"event":"noted","id":\d+,"at":"[^"]+","text":"the last","tags":\[\]}$`)
	for _, w := range []*built.Process{w, p} {
		line := w.Line(t)
		for strings.Contains(line, `"text":"knock `) {
			line = w.Line(t)
		}
		if !event.MatchString(line) {
			t.Errorf("it printed %q", line)
		}
		if r := w.Stop(t, syscall.SIGINT); r.Status != 0 || r.Err != "" || r.Out != "" {
			t.Errorf("interrupted, it ended with %+v", r)
		}
	}
}

// TestWatchEnds ends when the program closes its door: with 0 between two messages, and else with the reason (SOCK-1).
func TestWatchEnds(t *testing.T) {
	e := built.NewEnv(t)
	at := filepath.Join(e.Dir, "run", "x.sock")
	l := silent(t, at)
	reply, event := framed(`{"ok":true,"family":1,"n":0,"result":[]}`), framed(`{"event":"x","a":1.0}`)
	for _, end := range []struct {
		what, sent string
		status     int
		out        string
	}{
		{"an event and a clean end", reply + event, exitOK, `{"event":"x","a":1.0}` + "\n"},
		{"an end in the middle of an event", reply + event[:9], exitMalformed, ""},
		{"a reply nobody waits for", reply + reply, exitMalformed, ""},
		{"no reply", "", exitUnavailable, ""},
		{"a refusal", framed(`{"ok":false,"family":1,"n":0,"result":[],"error":"no","fault":"refused"}`), exitRefused, ""},
	} {
		w := e.Start(t, "kith", "watch", at)
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		call := make([]byte, len(framed(`{"call":"watch","args":[]}`)))
		if _, err := io.ReadFull(conn, call); err != nil || string(call) != framed(`{"call":"watch","args":[]}`) {
			t.Errorf("it called %q, %v", call, err)
		}
		io.WriteString(conn, end.sent)
		conn.(*net.UnixConn).CloseWrite()
		r := w.Wait(t)
		conn.Close()
		if r.Status != end.status || r.Out != end.out || (r.Err == "") != (end.status == exitOK) || strings.Count(r.Err, "\n") > 1 {
			t.Errorf("%s: it ended with %+v", end.what, r)
		}
	}
	l.Close()
}

// framed is a body behind its length (SOCK-1).
func framed(body string) string {
	return string(binary.BigEndian.AppendUint32(nil, uint32(len(body)))) + body
}

// TestDemo shows every door, and leaves nothing behind.
func TestDemo(t *testing.T) {
	e := built.NewEnv(t)
	out := e.OK(t, "", "kith", "demo")
	id := `"result":[{"id":1,"at":"`
	for what, n := range map[string]int{
		id: 4, `{"call":"get","args":[1]}`: 2, "|.bok.ffamily.an.|": 2, `"error":"no such call: shout","fault":"refused"`: 1,
		`{"event":"noted","id":2,"at":"`: 1,
	} {
		if got := strings.Count(out, what); got != n {
			t.Errorf("%d times %s, not %d times, in\n%s", got, what, n, out)
		}
	}
}
