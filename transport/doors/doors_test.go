package doors_test

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kith-wire/kith/transport/internal/reexec"
)

// TestWords: serve and pipe are doors, wherever flags stand; everything else is a call (VERBS-2, ARGV-3).
func TestWords(t *testing.T) {
	for _, args := range [][]string{{"pipe"}, {"pipe", "--json"}, {"--cbor", "pipe"}, {"--cap", "1000", "pipe"}, {"pipe", "--cap=1000"}, {"--", "pipe"}} {
		if r := reexec.Run(t, echo, "prog", args...); r.Out != echoed+"\n" || r.Status != 0 {
			t.Errorf("%q: exit %d, %q, stderr %q", args, r.Status, r.Out, r.Err)
		}
	}
	for _, c := range []struct {
		args []string
		out  string
	}{
		{[]string{"echo", "a"}, echoed},
		{[]string{"--json", "echo", "a"}, echoed},
		{[]string{"echo", "pipe"}, `{"ok":true,"family":1,"n":1,"result":["pipe"]}`},
		{[]string{"--args", "[\"a\"]", "echo"}, echoed},
		{[]string{"--cap", "5", "echo"}, cannot + `there is no flag --cap; a word that begins with - stands behind --","fault":"refused"}`},
		{[]string{"-1", "pipe"}, cannot + `no such call: -1","fault":"refused"}`},
		{[]string{"door"}, `{"ok":true,"family":1,"n":1,"result":["cli"]}`},
	} {
		if r := reexec.Run(t, "", "prog", c.args...); r.Out != c.out+"\n" || r.Status != 0 {
			t.Errorf("%q: exit %d, %q, stderr %q", c.args, r.Status, r.Out, r.Err)
		}
	}
	if r := reexec.Run(t, "", "prog"); r.Status != 2 || r.Out != "" || !strings.HasPrefix(r.Err, "prog: there is no verb\nusage: prog VERB") {
		t.Errorf("alone: exit %d, %q, stderr %q", r.Status, r.Out, r.Err)
	}
}

// TestAdvertised: a door that the program does not list is not there, and one that it lists is (FAULT-5, VERBS-2).
func TestAdvertised(t *testing.T) {
	for _, word := range []string{"serve", "pipe"} {
		r := reexec.Run(t, echo, "only", word)
		if want := cannot + "no such call: " + word + `","fault":"refused"}` + "\n"; r.Out != want || r.Status != 0 {
			t.Errorf("%s: exit %d, %q", word, r.Status, r.Out)
		}
		if r := reexec.Run(t, "", "both", "--help"); !strings.Contains(r.Out, "about "+word) || r.Status != 0 {
			t.Errorf("help: exit %d, %q", r.Status, r.Out)
		}
	}
	if r := reexec.Run(t, echo, "both", "pipe"); r.Out != echoed+"\n" {
		t.Errorf("pipe: %q, stderr %q", r.Out, r.Err)
	}
}

// TestHelp: of a door, on stdout, exit 0, with all its flags (ARGV-2).
func TestHelp(t *testing.T) {
	for word, flags := range map[string]string{
		"serve": "--socket PATH --instance NAME --wire WIRE --limit N --stall DURATION --grace DURATION --cap BYTES --tied PID",
		"pipe":  "--cap BYTES --tied PID",
	} {
		for _, args := range [][]string{{word, "--help"}, {"-h", word}, {word, "--loud", "-h"}, {"help", word}} {
			r := reexec.Run(t, "", "prog", args...)
			if r.Status != 0 || r.Err != "" || !strings.Contains(r.Out, "usage: prog "+word) {
				t.Errorf("%q: exit %d, %q, stderr %q", args, r.Status, r.Out, r.Err)
			}
			for _, flag := range strings.Split(flags, " --") {
				if !strings.Contains(r.Out, strings.TrimPrefix(flag, "--")) {
					t.Errorf("%q: no word of %s", args, flag)
				}
			}
		}
	}
}

// TestCannotBeServed: nothing on stdout, one sentence on stderr, exit 1 (SOCK-6).
func TestCannotBeServed(t *testing.T) {
	dir := place(t)
	for _, c := range []struct {
		args []string
		why  string
	}{
		{[]string{"serve", "--socket"}, "serve: --socket is missing its PATH"},
		{[]string{"serve", "--socket", ""}, "serve: --socket: it is empty"},
		{[]string{"serve", "--loud"}, "serve: there is no flag --loud"},
		{[]string{"serve", "-x"}, "serve: there is no flag -x"},
		{[]string{"serve", "--json=yes"}, "serve: --json takes no value"},
		{[]string{"serve", "word"}, "serve: the word word stands there, and only flags are taken"},
		{[]string{"serve", "--limit", "0"}, "serve: --limit: 0 is not a number from 1 to 2147483647"},
		{[]string{"serve", "--limit", "many"}, "serve: --limit: many is not a number from 1 to 2147483647"},
		{[]string{"serve", "--cap", "99999999999"}, "serve: --cap: 99999999999 is not a number from 1 to 2147483647"},
		{[]string{"serve", "--stall", "5"}, "serve: --stall: 5 is not a duration above 0, such as 5s or 300ms"},
		{[]string{"serve", "--grace", "-1s"}, "serve: --grace: -1s is not a duration above 0, such as 5s or 300ms"},
		{[]string{"serve", "--tied", "-4"}, "serve: --tied: -4 is not a number from 1 to 2147483647"},
		{[]string{"serve", "--socket", dir + "/s", "--instance", "x"}, "serve: --socket is a whole path and --instance a name in the usual place: one of them"},
		{[]string{"serve", "--wire", "telegraph"}, "serve: --wire: telegraph is no wire: family or daemon"},
		{[]string{"serve", "--instance", "a/b"}, "serve: instance a/b: a name holds no slash"},
		{[]string{"serve", "--socket", dir + "/none/s.sock"}, "serve: "},
		{[]string{"serve", "--socket", dir + "/" + strings.Repeat("x", 110)}, "serve: the path of a socket is at most "},
		{[]string{"pipe", "--cap", "0"}, "pipe: --cap: 0 is not a number from 1 to 2147483647"},
		{[]string{"pipe", "--tied", "me"}, "pipe: --tied: me is not a number from 1 to 2147483647"},
		{[]string{"pipe", "--socket", "x"}, "pipe: there is no flag --socket"},
	} {
		r := reexec.Run(t, echo, "prog", c.args...)
		if r.Status != 1 || r.Out != "" || !strings.HasPrefix(r.Err, "prog: "+c.why) || strings.Count(r.Err, "\n") != 1 {
			t.Errorf("%q: exit %d, %q, stderr %q", c.args, r.Status, r.Out, r.Err)
		}
	}
	first, at := serve(t)
	defer first.stop(t, syscall.SIGTERM)
	if r := reexec.Run(t, "", "prog", "serve", "--socket", at); r.Status != 1 || r.Out != "" || strings.Count(r.Err, "\n") != 1 {
		t.Errorf("a second one: exit %d, %q, stderr %q", r.Status, r.Out, r.Err)
	}
}

// TestServe: it announces what can be called, writes nothing else, and stops in order (SOCK-6, ARGV-5).
func TestServe(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		r, at := serve(t, "--json", "--cbor")
		conn := knock(t, at)
		io.WriteString(conn, framed(`{"call":"print"}`)+framed(`{"call":"door"}`))
		if got := answer(t, conn) + answer(t, conn); got != `{"ok":true,"family":1,"n":0,"result":[]}{"ok":true,"family":1,"n":1,"result":["socket"]}` {
			t.Errorf("answers %q", got)
		}
		io.WriteString(conn, framed(echo)+framed(echo)[:9]) // one that is whole, and one that has begun
		r.Process.Signal(sig)
		end := r.stop(t, sig)
		if end.Status != 0 || end.Out != "" || end.Err != "stray\nfrom a child\n" {
			t.Errorf("%v: exit %d, %q, stderr %q", sig, end.Status, end.Out, end.Err)
		}
		if rest, _ := io.ReadAll(conn); string(rest) != framed(echoed) {
			t.Errorf("%v: behind it %q", sig, rest)
		}
		if _, err := os.Lstat(at); !os.IsNotExist(err) {
			t.Errorf("%v: the file is still there, %v", sig, err)
		}
	}
}

// TestUsualPlace: without --socket it is where the name of the program says (SOCK-2).
func TestUsualPlace(t *testing.T) {
	dir := place(t)
	for instance, file := range map[string]string{"": "main.sock", "work": "work.sock"} {
		args := []string{"serve"}
		if instance != "" {
			args = append(args, "--instance", instance)
		}
		cmd := reexec.Command(t, "prog", args...)
		cmd.Env = append(cmd.Env, "XDG_RUNTIME_DIR="+dir)
		r := run(t, cmd)
		if got, want := r.line(t), `{"event":"listening","at":"`+filepath.Join(dir, "prog", file)+`"}`; got != want {
			t.Errorf("it said %q, want %q", got, want)
		}
		if end := r.stop(t, syscall.SIGTERM); end.Status != 0 {
			t.Errorf("exit %d, %q", end.Status, end.Err)
		}
	}
	os.RemoveAll(filepath.Join(dir, "prog"))
}

// TestCannotAnnounce: a stdout that takes nothing is exit 1, by no signal, and no socket is left (SOCK-6, ARGV-5).
func TestCannotAnnounce(t *testing.T) {
	at := filepath.Join(place(t), "s.sock")
	unread, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	unread.Close()
	targets := []*os.File{w}
	if full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0); err == nil {
		targets = append(targets, full)
	} else if os.Getenv("KITH_REQUIRE") == "1" {
		t.Fatal(err)
	}
	for _, stdout := range targets {
		cmd := reexec.Command(t, "prog", "serve", "--socket", at)
		cmd.Stdout = stdout
		if r := reexec.Wait(t, cmd); r.Status != 1 || !strings.HasPrefix(r.Err, "prog: serve: it cannot say that it listens: write: ") || strings.Count(r.Err, "\n") != 1 {
			t.Errorf("%s: exit %d, stderr %q", stdout.Name(), r.Status, r.Err)
		}
		stdout.Close()
	}
}

// TestFlags: each one changes what it says.
func TestFlags(t *testing.T) {
	r, at := serve(t, "--limit", "1", "--cap", "200", "--stall", "200ms", "--grace", "500ms")
	conn := knock(t, at)
	io.WriteString(conn, framed(echo))
	if got := answer(t, conn); got != echoed {
		t.Errorf("it answered %q", got)
	}
	if got := answer(t, knock(t, at)); !strings.Contains(got, "the limit is 1") {
		t.Errorf("--limit: %q", got)
	}
	io.WriteString(conn, "\x00\x00\x00\xc9")
	if got := answer(t, conn); !strings.Contains(got, "201 bytes is over the cap of 200") {
		t.Errorf("--cap: %q", got)
	}
	reexec.Eventually(t, "the place is free again", func() bool {
		conn = knock(t, at)
		io.WriteString(conn, framed(echo)[:7])
		return strings.Contains(answer(t, conn), "not finished within 200ms") // --stall
	})
	reexec.Eventually(t, "the place is free again", func() bool {
		conn = knock(t, at)
		io.WriteString(conn, framed(echo)+framed(`{"call":"hang"}`))
		return answer(t, conn) == echoed
	})
	start := time.Now()
	end := r.stop(t, syscall.SIGTERM)
	if took := time.Since(start); end.Status != 0 || took > 4*time.Second || took < 300*time.Millisecond {
		t.Errorf("--grace: exit %d after %v", end.Status, took)
	}
}

// TestNobodyReadsStderr: a log that cannot be written is no reason to die (ARGV-5).
func TestNobodyReadsStderr(t *testing.T) {
	unread, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	unread.Close()
	defer w.Close()
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	syscall.Close(pair[0])
	socket := os.NewFile(uintptr(pair[1]), "socket")
	defer socket.Close()
	for _, stderr := range []*os.File{w, socket} {
		for _, args := range [][]string{{"prog", "log"}, {"prog", "print"}, {"prog", "panic"}, {"busy", "log"}, {"busy", "print"}} {
			cmd := reexec.Command(t, args[0], args[1:]...)
			cmd.Stderr = stderr
			if r := reexec.Wait(t, cmd); r.Status != 0 || !strings.HasPrefix(r.Out, `{"ok":`) {
				t.Errorf("%q, %s: exit %d, %q", args, stderr.Name(), r.Status, r.Out)
			}
		}
	}
	for _, program := range []string{"prog", "busy"} {
		cmd := reexec.Command(t, program, "say")
		cmd.Stderr = w
		want := `{"ok":true,"family":1,"n":7,"result":["EPIPE","EPIPE","EPIPE","EPIPE","EPIPE","","EPIPE"]}` + "\n"
		if r := reexec.Wait(t, cmd); r.Status != 0 || r.Out != want {
			t.Errorf("%s to nobody: exit %d, %q", program, r.Status, r.Out)
		}
		want = `{"ok":true,"family":1,"n":7,"result":["","","","","","",""]}` + "\n"
		if r := reexec.Run(t, "", program, "say"); r.Status != 0 || r.Out != want || r.Err != "one\ntwo\nthree\nfour\nfive\nsix\n" {
			t.Errorf("%s: exit %d, %q, stderr %q", program, r.Status, r.Out, r.Err)
		}
	}
	cmd := reexec.Command(t, "prog", "pipe")
	cmd.Stderr, cmd.Stdin = w, strings.NewReader(`{"call":"panic"}`+"\n"+echo)
	if r := reexec.Wait(t, cmd); r.Status != 0 || !strings.HasSuffix(r.Out, "\n"+echoed+"\n") {
		t.Errorf("pipe: exit %d, %q", r.Status, r.Out)
	}
}

// TestPassedSocket: a socket that a service manager passes is served, and its file is not ours to remove (SOCK-6).
func TestPassedSocket(t *testing.T) {
	at := filepath.Join(place(t), "s.sock")
	l, err := net.Listen("unix", at)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	passed, err := l.(*net.UnixListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer passed.Close()
	cmd := reexec.Command(t, "prog", "-c", `LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" serve`, reexec.Self())
	cmd.Path, cmd.ExtraFiles = "/bin/sh", []*os.File{passed}
	r := run(t, cmd)
	if got, want := r.line(t), `{"event":"listening","at":"`+at+`"}`; got != want {
		t.Errorf("it said %q", got)
	}
	conn := knock(t, at)
	io.WriteString(conn, framed(echo))
	if got := answer(t, conn); got != echoed {
		t.Errorf("it answered %q", got)
	}
	if end := r.stop(t, syscall.SIGTERM); end.Status != 0 || end.Out != "" {
		t.Errorf("exit %d, %q, stderr %q", end.Status, end.Out, end.Err)
	}
	if _, err := os.Lstat(at); err != nil {
		t.Errorf("the file is gone: %v", err)
	}
}
