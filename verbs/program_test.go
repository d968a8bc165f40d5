package verbs_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/doors"
	"github.com/kith-wire/kith/transport/transporttest"
	"github.com/kith-wire/kith/verbs"
)

func init() {
	children["program"] = func() { doors.Main(diary()) }
	children["one-shot"] = func() { doors.Main(verbs.New("one-shot", 1, verbs.Doors(transport.CLI))) }
}

// diary is a real program on its three doors.
func diary() *verbs.Set {
	set := book()
	verbs.Add(set, "echo", "its arguments", func(_ context.Context, a struct {
		V []shape.Raw `kith:"rest"`
	}) ([]shape.Raw, error) {
		return a.V, nil
	})
	verbs.Add(set, "tell", "an event, and after it nothing", func(ctx context.Context, a struct{ Text string }) ([]int, error) {
		return nil, transport.PeerFrom(ctx).Emit(shape.EventOf("told", map[string]string{"text": a.Text}))
	}, verbs.Doors(transport.Pipe, transport.Socket))
	verbs.Add(set, "hang", "no reply before its caller is gone", func(ctx context.Context, _ none) ([]int, error) {
		<-ctx.Done()
		return nil, nil
	}, verbs.Doors(transport.Pipe, transport.Socket))
	return set
}

// serveProgram starts the program on a socket and returns the path.
func serveProgram(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	transporttest.Leaks(t, dir)
	path := filepath.Join(dir, "s.sock")
	cmd := exec.Command(os.Args[0], "serve", "--socket", path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the program: %v", err)
		}
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, `"listening"`) {
		t.Fatalf("the program announced %q, %v", line, err)
	}
	return path
}

// TestClientProgram: the client against the program it is served by, at each of its doors.
func TestClientProgram(t *testing.T) {
	t.Setenv("KITH_TEST_CHILD", "program")
	const script = `
client.GRACE = 0.3
with open("client.py") as f:
    source = f.read()
link = connect(target)
print(tell(link.call, "note", "a", "b", "c"))
print(tell(link.call, "list", 2), tell(link.call, "list"), tell(link.call, "list", None))
print(tell(link.call, "list", "x"))
print(tell(link.call, "nothing"))
print(tell(link.call, "echo", 2**53 + 1, 2**64 - 1, -0.0, 1.0, 1, "\u2028<>&", 10**300, None, {"b": [], "a": {}}) ==
    repr([2**53 + 1, 2**64 - 1, -0.0, 1.0, 1, "\u2028<>&", 10**300, None, {"b": [], "a": {}}]))
print(tell(link.call, "client") == repr([source]), len(link.call("verbs")))
`
	const held = `
print(link.call("tell", "x"), link.event(timeout=20), link.emit("nobody", x=1))
print(tell(link.call, "hang", timeout=0.2).replace(target, "PEER"))
`
	want := []string{
		`[{'id': 2, 'text': 'a'}]`,
		`[{'id': 0, 'text': ''}, {'id': 0, 'text': ''}] [] []`,
		`refused said=True: list: limit is "x" and int is taken`,
		`refused said=True: no such call: nothing`,
		`True`,
		`True 23`,
	}
	wantHeld := []string{
		`[] {'event': 'told', 'text': 'x'} None`,
		`unavailable said=False: PEER: hang: no reply in 0.2 s`,
	}
	for _, target := range []string{"argv:" + os.Args[0], "pipe:" + os.Args[0], "unix:" + serveProgram(t)} {
		t.Run(target[:4], func(t *testing.T) {
			script, want := script, want
			if target[:4] != "argv" {
				script, want = script+held, append(want[:len(want):len(want)], wantHeld...)
			}
			got := python(t, script+"link.close()\n", target)
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// TestClientIsServed: `prog client > client.py` is the file as it is, and a reply of one row where an encoding is named
// (VERBS-1). A program without a socket has no word serve (VERBS-2).
func TestClientIsServed(t *testing.T) {
	transporttest.Leaks(t)
	run := func(child string, args ...string) string {
		cmd := exec.Command(os.Args[0], args...)
		cmd.Env = append(os.Environ(), "KITH_TEST_CHILD="+child)
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%s %q: %v", child, args, err)
		}
		return string(out)
	}
	source := clientSource(t)
	if got := run("program", "client"); got != source {
		t.Errorf("client printed %.100q and %d bytes", got, len(got))
	}
	if got := run("program", "client", "--json"); got != string(shape.RowsOf(source).AppendReply(nil, shape.JSON, shape.Limits{}, nil))+"\n" {
		t.Errorf("client --json printed %.100q", got)
	}
	if got := run("program", "client", "--cbor"); got != string(shape.RowsOf(source).AppendReply(nil, shape.CBOR, shape.Limits{}, nil)) {
		t.Errorf("client --cbor printed %.100q", got)
	}
	if got, want := run("one-shot", "serve"), refusal(`"no such call: serve"`)+"\n"; got != want {
		t.Errorf("serve without a socket: %s", got)
	}
	if got, want := run("one-shot", "pipe"), refusal(`"no such call: pipe"`)+"\n"; got != want {
		t.Errorf("pipe without a pipe: %s", got)
	}
	if got := fmt.Sprint(len(listed(t, diary(), transport.CLI)["cli"])); got != "7" {
		t.Errorf("the cli has %s rows", got)
	}
}
