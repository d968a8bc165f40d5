package argv_test

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/kith-wire/kith/transport/internal/reexec"
)

const (
	ok      = `{"ok":true,"family":1,`
	refused = `{"ok":false,"family":1,"n":0,"result":[],"error":"`
)

// TestOneObject: one object on stdout, JSON with a newline behind it, CBOR with nothing (ARGV-1, ENC-3). Every verb takes --json
// and --cbor, before it and behind it (ARGV-3, ARGV-4).
func TestOneObject(t *testing.T) {
	inJSON := ok + `"n":2,"result":["a","b"]}` + "\n"
	inCBOR := "\xa4\x62ok\xf5\x66family\x01\x61n\x02\x66result\x82\x61a\x61b"
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"echo", "a", "b"}, inJSON},
		{[]string{"--json", "echo", "a", "b"}, inJSON},
		{[]string{"echo", "a", "--json", "b"}, inJSON},
		{[]string{"--cbor", "echo", "a", "b"}, inCBOR},
		{[]string{"echo", "a", "b", "--cbor"}, inCBOR},
		{[]string{"echo", "a", "b", "--cbor", "--json"}, inJSON},
		{[]string{"door"}, ok + `"n":1,"result":["cli"]}` + "\n"},
		{[]string{"echo"}, ok + `"n":0,"result":[]}` + "\n"},
	} {
		if r := reexec.Run(t, "", "prog", c.args...); r.Out != c.want || r.Status != 0 || r.Err != "" {
			t.Errorf("%q: exit %d, %q, stderr %q", c.args, r.Status, r.Out, r.Err)
		}
	}
}

// TestRefusalsExit0: whatever is wrong with a call that is one is told in the shape of a reply, in the encoding asked for
// (ARGV-2, ARGV-3, FAULT-2, FAULT-3).
func TestRefusalsExit0(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string // of the error, and what follows
	}{
		{[]string{"nope"}, `no such call: nope","fault":"refused"}`},
		{[]string{"refuse", "not today"}, `not today","fault":"refused"}`},
		{[]string{"fail", "disk full"}, `disk full","fault":"failed"}`},
		{[]string{"add", "1", "two"}, `add: argument 1`},
		{[]string{"echo", "--loud"}, `there is no flag --loud; a word that begins with - stands behind --","fault":"refused"}`},
		{[]string{"--loud", "echo"}, `there is no flag --loud;`},
		{[]string{"echo", "-x"}, `there is no flag -x;`},
		{[]string{"echo", "-1x"}, `there is no flag -1x;`},
		{[]string{"echo", "--json=1"}, `there is no flag --json=1;`},
		{[]string{"echo", "--\xff"}, `there is no flag `},
		{[]string{"echo", "word", "--args", "[]"}, `--args is the whole list of arguments, and the word word stands beside it`},
		{[]string{"echo", "--args", "[]", "--", "word"}, `--args is the whole list of arguments, and the word word stands beside it`},
		{[]string{"echo", "--args", "[]", "--args", "[]"}, `--args is the whole list of arguments, and it stands there twice`},
		{[]string{"echo", "a\xffb"}, `the word a`},
		{[]string{"\xff"}, `the word `},
	} {
		r := reexec.Run(t, "", "prog", c.args...)
		if !strings.HasPrefix(r.Out, refused+c.want) || !strings.HasSuffix(r.Out, "}\n") || r.Status != 0 || r.Err != "" {
			t.Errorf("%q: exit %d, %q, stderr %q", c.args, r.Status, r.Out, r.Err)
		}
	}
	if r := reexec.Run(t, "", "prog", "--cbor", "--loud", "echo"); r.Status != 0 || !strings.HasPrefix(r.Out, "\xa6\x62ok\xf4\x66family\x01") {
		t.Errorf("in CBOR: exit %d, %x", r.Status, r.Out)
	}
}

// TestPanicIsOneReply: of a handler, and of a row while it is written (FAULT-3, ENC-7); the stack is for stderr.
func TestPanicIsOneReply(t *testing.T) {
	for verb, want := range map[string]string{"panic": "panic panicked: as asked", "broken": "broken panicked: no row"} {
		r := reexec.Run(t, "", "prog", verb)
		if r.Out != refused+want+`","fault":"failed"}`+"\n" || r.Status != 0 {
			t.Errorf("%s: exit %d, %q", verb, r.Status, r.Out)
		}
		if verb == "panic" && !strings.Contains(r.Err, "goroutine ") {
			t.Errorf("stderr has no stack: %q", r.Err)
		}
	}
}

// TestNoCall: exit 2, an empty stdout, and why on stderr (ARGV-2).
func TestNoCall(t *testing.T) {
	for _, c := range []struct {
		stdin string
		args  []string
		why   string
	}{
		{"", nil, "prog: there is no verb\nusage: prog VERB"},
		{"", []string{"--cbor"}, "prog: there is no verb\n"},
		{"", []string{"--loud"}, "prog: there is no verb\n"},
		{"", []string{"--"}, "prog: there is no verb\n"},
		{"", []string{"--args", "[]"}, "prog: there is no verb\n"},
		{"", []string{"echo", "--args"}, "prog: --args is missing its value"},
		{"", []string{"echo", "--args", ""}, "prog: --args: "},
		{"", []string{"echo", "--args", "["}, "prog: --args: "},
		{"", []string{"echo", "--args", "--", "[]"}, "prog: --args: "},
		{"", []string{"echo", "--args", "{}"}, "prog: --args: args is map and must be a list\n"},
		{"", []string{"echo", "--args", "-5"}, "prog: --args: args is int and must be a list\n"},
		{"", []string{"echo", "--args", "[1] [2]"}, "prog: --args: "},
		{"", []string{"echo", "--args", `["` + "\xff" + `"]`}, "prog: --args: "},
		{"", []string{"echo", "--args", "\x80"}, "prog: --args: "}, // CBOR is for stdin
		{"", []string{"echo", "--args", strings.Repeat("[", 64) + strings.Repeat("]", 64)}, "prog: --args: "},
		{"", []string{"echo", "--args", "-"}, "prog: --args: "},
		{"[1,", []string{"echo", "--args", "-"}, "prog: --args: "},
		{"\xa0", []string{"echo", "--args", "-"}, "prog: --args: args is map and must be a list\n"},
		{`["` + strings.Repeat("x", 16<<20) + `"]`, []string{"echo", "--args", "-"},
			"prog: --args: the list is more than 16777216 bytes, which is the cap\n"},
	} {
		r := reexec.Run(t, c.stdin, "prog", c.args...)
		if r.Status != 2 || r.Out != "" || !strings.HasPrefix(r.Err, c.why) {
			t.Errorf("%.60q: exit %d, %q, stderr %q", c.args, r.Status, r.Out, r.Err)
		}
	}
}

// TestWordsAndLists: a word is text, or JSON where the verb takes something else; --args is the list itself, and on stdin in either
// encoding, which is not that of the reply (ARGV-3).
func TestWordsAndLists(t *testing.T) {
	for _, c := range []struct {
		stdin, result string
		args          []string
	}{
		{"", `["12","true","null","-","-1","-1.5e3",""]`, []string{"echo", "12", "true", "null", "-", "-1", "-1.5e3", ""}},
		{"", `[-3]`, []string{"add", "2", "-5"}},
		{"", `["--cbor","-x","--"]`, []string{"echo", "--", "--cbor", "-x", "--"}},
		{"", `["a"]`, []string{"--", "echo", "a"}},
		{"", `["12",12,null,{"a":[]}]`, []string{"echo", "--args", `["12", 12,null,{"a":[]}]`}},
		{"", `[1]`, []string{"echo", `--args=[1]`}},
		{"", `["\u0000\u2028<>&"]`, []string{"echo", "--args", `["\u0000\u2028<>&"]`}},
		{" [1.0,\n\"x\"]\n", `[1.0,"x"]`, []string{"echo", "--args", "-"}},
		{"\x82\x01\x61x", `[1,"x"]`, []string{"echo", "--args", "-"}},
		{"\x9f\x01\xff", `[1]`, []string{"--args", "-", "echo"}},
	} {
		result := strings.ReplaceAll(c.result, `\u2028`, "\u2028")
		r := reexec.Run(t, c.stdin, "prog", c.args...)
		if _, got, _ := strings.Cut(r.Out, `"result":`); got != result+"}\n" || r.Status != 0 {
			t.Errorf("%q: exit %d, %q, stderr %q", c.args, r.Status, r.Out, r.Err)
		}
	}
}

// TestHelp: text on stdout, exit 0; --help and -h anywhere before --, help as the verb. It lists what the program's own verbs says
// of this door (ARGV-2).
func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"-h"}, {"help"}, {"--cbor", "help"}, {"nope", "--help"}, {"--args", "-h"}, {"--loud", "--help"}} {
		r := reexec.Run(t, "", "prog", args...)
		if r.Status != 0 || r.Err != "" || !strings.HasPrefix(r.Out, "usage: prog VERB [WORD…]") ||
			!strings.Contains(r.Out, "\n  add FIRST [MORE…]  add numbers\n  say TEXT [HOW]     say it\n") || strings.Contains(r.Out, "watch") {
			t.Errorf("%q: exit %d, %q, stderr %q", args, r.Status, r.Out, r.Err)
		}
	}
	for _, args := range [][]string{{"say", "-h"}, {"help", "say"}} {
		r := reexec.Run(t, "", "prog", args...)
		if r.Status != 0 || !strings.HasPrefix(r.Out, "say it\n\nusage: prog say TEXT [HOW]\n") || !strings.Contains(r.Out, "HOW           map, may be left out") {
			t.Errorf("%q: exit %d, %q", args, r.Status, r.Out)
		}
	}
	if r := reexec.Run(t, "", "prog", "echo", "--", "--help", "-h"); r.Out != ok+`"n":2,"result":["--help","-h"]}`+"\n" {
		t.Errorf("behind --: %q", r.Out)
	}
}

// TestClientIsBare: where no encoding is named client is the source as it is, and framed where one is (VERBS-1).
func TestClientIsBare(t *testing.T) {
	if r := reexec.Run(t, "", "prog", "client"); r.Out != "import this\n" || r.Status != 0 {
		t.Errorf("bare: exit %d, %q", r.Status, r.Out)
	}
	if r := reexec.Run(t, "", "prog", "client", "--json"); r.Out != ok+`"n":1,"result":["import this\n"]}`+"\n" {
		t.Errorf("--json: %q", r.Out)
	}
	if r := reexec.Run(t, "", "prog", "client", "--cbor"); !strings.HasPrefix(r.Out, "\xa4\x62ok\xf5") {
		t.Errorf("--cbor: %x", r.Out)
	}
}

// TestStdinIsLeftAlone: a call that does not ask for stdin ends though it is open, and leaves what is in it (ARGV-4).
func TestStdinIsLeftAlone(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	w.WriteString("left alone")
	cmd := reexec.Command(t, "prog", "echo")
	cmd.Stdin = r
	if got := reexec.Wait(t, cmd); got.Status != 0 {
		t.Errorf("exit %d, %q", got.Status, got.Err)
	}
	w.Close()
	b := make([]byte, 100)
	if n, _ := r.Read(b); string(b[:n]) != "left alone" {
		t.Errorf("stdin holds %q", b[:n])
	}
}

// TestStdoutIsTheReply: what a handler prints, its child prints, and a goroutine goes on printing is on stderr (ARGV-5).
func TestStdoutIsTheReply(t *testing.T) {
	for range 20 {
		r := reexec.Run(t, "", "prog", "print")
		if r.Out != ok+`"n":1,"result":["printed"]}`+"\n" || r.Status != 0 {
			t.Fatalf("exit %d, %q", r.Status, r.Out)
		}
		if !strings.HasPrefix(r.Err, "stray\nprint\nfrom a child\nlate\n") {
			t.Fatalf("stderr %q", r.Err)
		}
	}
}

// TestBrokenStdout: a full disk, and a pipe nobody reads, exit 1 and by no signal; help the same (ARGV-2, ARGV-5).
func TestBrokenStdout(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil && os.Getenv("KITH_REQUIRE") == "1" {
		t.Fatal(err)
	}
	r, unread, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	for _, stdout := range []*os.File{full, unread} {
		if stdout == nil {
			continue // this system has none
		}
		for _, args := range [][]string{{"echo", "a"}, {"nope"}, {"big", "1000000"}, {"--help"}} {
			cmd := reexec.Command(t, "prog", args...)
			cmd.Stdout = stdout
			if got := reexec.Wait(t, cmd); got.Status != 1 || !strings.Contains(got.Err, "prog: the reply could not be written: write: ") {
				t.Errorf("%q to %s: exit %d, stderr %q", args, stdout.Name(), got.Status, got.Err)
			}
		}
		stdout.Close()
	}
}

// TestSharedStdio: O_NONBLOCK is never set on what is inherited, and where somebody else has set it, a reply that does not fit the
// pipe is written whole, and a list on stdin that is not all there yet is waited for (ARGV-5).
func TestSharedStdio(t *testing.T) {
	for _, nonblocking := range []bool{false, true} {
		in, out, up := rawPipe(t, nonblocking), rawPipe(t, nonblocking), rawPipe(t, false)
		pid, err := syscall.ForkExec(reexec.Self(), []string{"prog", "big", "--args", "-"}, &syscall.ProcAttr{
			Env: reexec.Env("slow"), Files: []uintptr{uintptr(in[0]), uintptr(out[1]), uintptr(up[1])},
		})
		if err != nil {
			t.Fatal(err)
		}
		unix.SetNonblock(out[0], false)
		unix.SetNonblock(in[1], false)
		unix.Read(up[0], make([]byte, 10)) // it is about to read
		unix.Write(in[1], []byte("[1048"))
		unix.Write(in[1], []byte("576]"))
		unix.Close(in[1])
		want := ok + `"n":1,"result":["` + strings.Repeat("x", 1<<20) + `"]}` + "\n"
		got := make([]byte, 0, len(want))
		for b := make([]byte, 4096); len(got) < len(want); {
			n, err := unix.Read(out[0], b)
			if n <= 0 {
				t.Fatalf("after %d bytes: %v", len(got), err)
			}
			got = append(got, b[:n]...)
		}
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil || !status.Exited() || status.ExitStatus() != 0 {
			t.Errorf("non-blocking %v: %v, %v", nonblocking, status, err)
		}
		if string(got) != want {
			t.Errorf("non-blocking %v: %d bytes, want %d; they end %q", nonblocking, len(got), len(want), got[len(got)-20:])
		}
		if isNonblocking(t, in[0]) != nonblocking || isNonblocking(t, out[1]) != nonblocking {
			t.Errorf("O_NONBLOCK is no longer %v", nonblocking)
		}
		for _, fd := range []int{in[0], out[0], out[1], up[0], up[1]} {
			unix.Close(fd)
		}
	}
}

// rawPipe is a pipe as a shell makes it, blocking, or as somebody has left it who did not want that.
func rawPipe(t *testing.T, nonblocking bool) (fds [2]int) {
	t.Helper()
	if err := unix.Pipe(fds[:]); err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		unix.CloseOnExec(fd)
		unix.SetNonblock(fd, nonblocking)
	}
	return fds
}

func isNonblocking(t *testing.T, fd int) bool {
	t.Helper()
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		t.Fatal(err)
	}
	return flags&unix.O_NONBLOCK != 0
}
