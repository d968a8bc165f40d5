package verbs_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kith-wire/kith/transport/transporttest"
)

// TestMain makes this binary the child of its own tests: children are real processes.
func TestMain(m *testing.M) {
	if mode := os.Getenv("KITH_TEST_CHILD"); mode != "" {
		children[mode]()
		os.Exit(0)
	}
	os.Exit(transporttest.Main(m))
}

// children are what a test may be the parent of. Each is written by hand, with no code of kith.
var children = map[string]func(){
	"echo": func() { // answers each line with itself as a row, last line included
		for in := bufio.NewReader(os.Stdin); ; {
			line, err := in.ReadString('\n')
			if line != "" {
				fmt.Printf("{\"ok\":true,\"family\":1,\"n\":1,\"result\":[%s]}\n\n", strings.TrimSpace(line))
			}
			if err != nil {
				return
			}
		}
	},
	"noisy": func() { // a MiB of stderr before each reply, then it dies
		bufio.NewReader(os.Stdin).ReadString('\n')
		os.Stderr.WriteString(strings.Repeat("noise\n", 1<<20/6))
		fmt.Println(good)
		bufio.NewReader(os.Stdin).ReadString('\n')
		os.Stderr.WriteString("the reason\n")
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	},
	"stubborn": func() { // hears neither the end of its input nor SIGTERM
		signal.Ignore(syscall.SIGTERM)
		leave("stubborn")
		fmt.Println(`{"event":"up"}`)
		select {}
	},
	"wrapper": func() { // sh -c 'server & wait': the server is what stays behind
		leave("wrapper")
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "KITH_TEST_CHILD=stubborn")
		cmd.Stdout = os.Stdout
		cmd.Stderr = os.Stderr
		cmd.Start()
		io.Copy(io.Discard, os.Stdin)
	},
	"full": func() { // has more to say at the end of its input than a pipe holds
		fmt.Println(`{"event":"up"}`)
		io.Copy(io.Discard, os.Stdin)
		for range 1 << 10 {
			fmt.Println(`{"event":"last","text":"` + strings.Repeat("a", 1000) + `"}`)
		}
		leave("full")
	},
	"endless": func() { // a line without an end
		bufio.NewReader(os.Stdin).ReadString('\n')
		io.Copy(os.Stdout, letters{})
	},
	"args": func() { // a one-shot program: what it was asked, and its stdin, as rows
		in, _ := io.ReadAll(os.Stdin)
		fmt.Printf("{\"ok\":true,\"family\":1,\"n\":2,\"result\":[%q,%q]}\n", strings.Join(os.Args[1:], " "), in)
	},
	"silent":  func() { fmt.Fprintln(os.Stderr, "no words"); os.Exit(2) },
	"twice":   func() { fmt.Print(good + "\n" + good + "\n") },
	"calls":   func() { fmt.Print(`{"call":"x"}` + "\n") },
	"lingers": func() { leave("lingers"); io.Copy(io.Discard, os.Stdin); select {} },
	"refuses": func() {
		fmt.Print(`{"ok":false,"family":1,"n":0,"result":[],"error":"no such call: x","fault":"refused"}`)
	},
}

// letters is text without an end, and no line of it.
type letters struct{}

func (letters) Read(p []byte) (int, error) { return copy(p, strings.Repeat("a", len(p))), nil }

// leave says in a file that a child was there, and its process id.
func leave(name string) {
	path := filepath.Join(os.Getenv("KITH_TEST_DIR"), name)
	os.WriteFile(path+".new", []byte(strconv.Itoa(os.Getpid())), 0o600)
	os.Rename(path+".new", path)
}

// left returns the process that was there.
func left(t *testing.T, dir, name string) int {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(b))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// running reports whether a process runs; one that has ended and is nobody's to reap but init's does not.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

// TestClientChild: a child of the Python client, held (PIPE-1, PIPE-4, CLIENT-1).
func TestClientChild(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("KITH_TEST_DIR", dir)
	for name, c := range map[string]struct {
		child, script, want string
	}{
		"lines, blank ones and one after the other": {"echo",
			`print(tell(link.call, "a", "\n\u2028", 2**64)); print(tell(link.call, "b" * 100000)[-20:])`,
			`[{'call': 'a', 'args': ['\n\u2028', 18446744073709551616]}]` + "\n" + `bbbbb', 'args': []}]`},
		"stderr is drained, and its tail is why": {"noisy",
			`print(tell(link.call, "a")); print(tell(link.call, "a")[-34:])`,
			`['good']` + "\n" + "noise\nnoise\nnoise\nnoise\nthe reason"},
		"LIMIT-1 a line over the cap": {"endless",
			`link._cap = 100000; print(tell(link.call, "a").replace(target, "PEER")[:45])`,
			`malformed said=False: PEER: a message of 1`},
		"killed in the middle of a call": {"noisy",
			`link.call("a"); print(tell(link.call, "a").replace(target, "PEER")[:57])`,
			`unavailable said=False: PEER: it ended with signal 9: `},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KITH_TEST_CHILD", c.child)
			got := strings.Join(python(t, "link = connect(target)\n"+c.script+"\nlink.close()\n", "pipe:"+os.Args[0]), "\n")
			if !strings.HasPrefix(got, c.want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

// TestClientClose: close is stdin, grace, TERM, grace, KILL, to the whole group; it always returns and leaves nobody (PIPE-4).
func TestClientClose(t *testing.T) {
	for _, c := range []struct {
		child string
		gone  []string
		limit time.Duration // two times the grace of the script, and room for a slow machine
	}{
		{"stubborn", []string{"stubborn"}, 5 * time.Second},
		{"wrapper", []string{"wrapper", "stubborn"}, 5 * time.Second},
		{"full", []string{"full"}, 5 * time.Second},
	} {
		t.Run(c.child, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("KITH_TEST_DIR", dir)
			t.Setenv("KITH_TEST_CHILD", c.child)
			got := python(t, `
client.GRACE = 0.3
def descriptors(): return len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else 0
before = descriptors()
link = connect(target)
link.event(timeout=30)
start = time.monotonic()
link.close()
print(time.monotonic() - start, descriptors() - before, link._stream.proc.returncode is not None)
print(tell(link.call, "x").replace(target, "PEER"))
`, "pipe:"+os.Args[0])
			f := strings.Fields(got[0])
			if took, err := strconv.ParseFloat(f[0], 64); err != nil || took > c.limit.Seconds() {
				t.Errorf("close took %s s", f[0])
			}
			if f[1] != "0" || f[2] != "True" {
				t.Errorf("%s more descriptors, and reaped is %s", f[1], f[2])
			}
			if want := `unavailable said=False: PEER: this connection has ended: PEER: closed here`; got[1] != want {
				t.Errorf("after close: %s", got[1])
			}
			for _, name := range c.gone {
				if pid := left(t, dir, name); running(pid) {
					t.Errorf("%s %d is left", name, pid)
					syscall.Kill(pid, syscall.SIGKILL)
				}
			}
		})
	}
}

// TestClientOnce: a program that is run for one call (ARGV-1, ARGV-2, ARGV-3, FAULT-4).
func TestClientOnce(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("KITH_TEST_DIR", dir)
	big := `print(len(tell(prog.call, "a", "b" * 3000000)))`
	for _, c := range []struct{ child, script, want string }{
		{"args", `print(tell(prog.call, "a"))`, `['a --json', '']`},
		{"args", `print(tell(prog.call, "a", 1, "-x", None))`, `['a --json --args -', '[1,"-x",null]']`},
		{"args", big, `3000029`},
		{"refuses", `print(tell(prog.call, "x", "b" * 3000000))`, `refused said=True: no such call: x`},
		{"silent", `print(tell(prog.call, "x"))`, `unavailable said=False: PEER: it ended with status 2: no words`},
		{"twice", `print(tell(prog.call, "x"))`, `malformed said=False: PEER: a reply came and no call waits for it`},
		{"calls", `print(tell(prog.call, "x"))`, `malformed said=False: PEER: it called, and its answer can be nothing but a reply`},
		{"args", `print(tell(prog.call, "--x"))`, `refused said=False: a verb is text and begins with no -, not '--x'`},
		{"lingers", `client.GRACE = 0.2; print(tell(prog.call, "x", timeout=0.3))`, `unavailable said=False: PEER: x: no reply in 0.3 s`},
	} {
		t.Run(c.child, func(t *testing.T) {
			t.Setenv("KITH_TEST_CHILD", c.child)
			target := "argv:" + os.Args[0]
			got := strings.Join(python(t, "prog = connect(target)\n"+c.script+"\n", target), "\n")
			if want := strings.Replace(c.want, "PEER", target, 1); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
	if pid := left(t, dir, "lingers"); running(pid) {
		t.Errorf("the child that went over its deadline is left")
	}
}

// TestClientCommand: the client as a command, for a look at a program by hand.
func TestClientCommand(t *testing.T) {
	for _, c := range []struct {
		child, args, want string
	}{
		{"args", `"a", "1", "x y", "[null]"`, `0 ["a --json --args -","[1,\"x y\",[null]]"] `},
		{"refuses", `"x"`, `3 [] refused: no such call: x`},
		{"silent", `"x"`, `4 [] unavailable: PEER: it ended with status 2: no words`},
		{"calls", `"x"`, `6 [] malformed: PEER: it called, and its answer can be nothing but a reply`},
	} {
		t.Run(c.child, func(t *testing.T) {
			t.Setenv("KITH_TEST_CHILD", c.child)
			got := python(t, `
import json, subprocess
done = subprocess.run([sys.executable, "client.py", target, `+c.args+`], stdout=-1, stderr=-1, text=True)
print(done.returncode, json.dumps([json.loads(line) for line in done.stdout.splitlines()], separators=(",", ":")), done.stderr.replace(target, "PEER").strip())
`, "argv:"+os.Args[0])
			if got[0] != c.want {
				t.Errorf("got  %s\nwant %s", got[0], c.want)
			}
		})
	}
}

// TestClientDial: nobody there is unavailable, and says why (FAULT-4, SOCK-2).
func TestClientDial(t *testing.T) {
	long := "/" + strings.Repeat("a", 107)
	got := python(t, `
print(tell(connect, "unix:/nonexistent/s"))
print(tell(connect, "unix:" + target))
print(tell(connect, "pipe:/nonexistent"))
os.environ["XDG_RUNTIME_DIR"] = "/run/user/7"; print(socket_path("scribe"), socket_path("scribe", "two"))
os.environ["XDG_RUNTIME_DIR"] = ""; os.environ["TMPDIR"] = "/t"; print(socket_path("scribe") == "/t/scribe-%d/main.sock" % os.getuid())
`, long)
	want := []string{
		"unavailable said=False: unix:/nonexistent/s: [Errno 2] No such file or directory",
		"unavailable said=False: unix:" + long + ": the path is 108 bytes and the limit of a socket's is 107",
		"unavailable said=False: pipe:/nonexistent: [Errno 2] No such file or directory: '/nonexistent'",
		"/run/user/7/scribe/main.sock /run/user/7/scribe/two.sock",
		"True",
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got  %s\nwant %s", got[i], want[i])
		}
	}
}
