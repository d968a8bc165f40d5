package argv_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/argv"
	"github.com/kith-wire/kith/transport/internal/reexec"
	"github.com/kith-wire/kith/transport/transporttest"
)

// program is a caller of one of the test's programs.
func program(name string, env ...string) argv.Program {
	return argv.Program{Path: reexec.Self(), Name: name, Env: reexec.Env(name, env...)}
}

// TestSuite: everything any door must do, in both encodings.
func TestSuite(t *testing.T) {
	for _, enc := range []shape.Encoding{shape.JSON, shape.CBOR} {
		t.Run(enc.String(), func(t *testing.T) {
			transporttest.Run(t, transport.CLI, func(t *testing.T, cfg transport.Config) transport.Caller {
				p := program("prog")
				p.Encoding, p.Limits = enc, cfg.Limits
				return p
			})
		})
	}
}

// TestCommandLine: words stay words, -- where one begins with -, our own flags last; anything else is a list through stdin.
func TestCommandLine(t *testing.T) {
	transporttest.Leaks(t)
	list := func(values ...any) shape.Args { return shape.ListArgs(values...) }
	words := func(words ...string) shape.Args { return shape.WordArgs(words) }
	for _, c := range []struct {
		call        shape.Call
		enc         shape.Encoding
		line, stdin string
	}{
		{shape.Call{Verb: "list"}, shape.JSON, "list", ""},
		{shape.Call{Verb: "list"}, shape.CBOR, "list --cbor", ""},
		{shape.Call{Verb: "client"}, shape.JSON, "client --json", ""},
		{shape.Call{Verb: "add", Args: words("1", "two")}, shape.CBOR, "add 1 two --cbor", ""},
		{shape.Call{Verb: "add", Args: words("-1", "-x")}, shape.CBOR, "--cbor -- add -1 -x", ""},
		{shape.Call{Verb: "-x"}, shape.JSON, "-- -x", ""},
		{shape.Call{Verb: "add", Args: list("12", 12, nil)}, shape.CBOR, "add --args - --cbor", `["12",12,null]`},
	} {
		p := program("says")
		p.Encoding = c.enc
		rows, err := p.Call(context.Background(), c.call)
		if err != nil {
			t.Errorf("%q: %v", c.line, err)
			continue
		}
		if got, err := shape.Decode[string](rows, nil); err != nil || len(got) != 2 || got[0] != c.line || got[1] != c.stdin {
			t.Errorf("got %q, want %q, %q", got, c.line, c.stdin)
		}
	}
	p := program("says")
	p.Args = []string{"before", "the verb"}
	if got, err := transport.Call[string](context.Background(), p, "list"); err != nil || got[0] != "before the verb list" {
		t.Errorf("Args: %q, %v", got, err)
	}
}

// TestNothingIsRun: what a command line cannot carry is refused here, before anything has happened.
func TestNothingIsRun(t *testing.T) {
	value, err := shape.Limits{}.Value([]byte(`"me"`))
	if err != nil {
		t.Fatal(err)
	}
	for want, call := range map[string]shape.Call{
		"a command line carries no member beside verb and arguments, and the call has from": {Verb: "x", More: shape.Members{}.With("from", value)},
		"a call must name a verb":     {},
		"its answer is a stream":      {Verb: "serve"},
		"a command line holds no NUL": {Verb: "x", Args: shape.WordArgs([]string{"a\x00b"})},
		"args":                        {Verb: "x", Args: shape.ListArgs(func() {})},
	} {
		p := program("x")
		p.Path = "/there/is/nothing"
		_, err := p.Call(context.Background(), call)
		var e *shape.Error
		if !errors.As(err, &e) || e.Fault != shape.Refused || e.Said || !strings.HasPrefix(e.Text, want) {
			t.Errorf("got %#v, want %s", err, want)
		}
	}
	p := program("x")
	p.Limits.Frame = 10
	if _, err := transport.Call[any](context.Background(), p, "x", "0123456789"); !errors.Is(err, shape.Refused) {
		t.Errorf("over the cap: %v", err)
	}
}

// TestFaults: what the caller's side makes of a program that does not answer (FAULT-4), and what a program says itself.
func TestFaults(t *testing.T) {
	transporttest.Leaks(t)
	refusal := `{"ok":false,"family":1,"n":0,"result":[],"error":"no","fault":"unavailable"}`
	for _, c := range []struct {
		name, print string
		fault       shape.Fault
		said        bool
		text        string
	}{
		{"silent", "", shape.Unavailable, false, "it ended without a reply: exit status 3: no words"},
		{"dies", "", shape.Unavailable, false, "it ended without a reply: signal: killed: the reason"},
		{"prints", "hello\n", shape.Malformed, false, "what it printed is no reply: "},
		{"prints", good + good, shape.Malformed, false, "what it printed is no reply: "},
		{"prints", good[:20], shape.Malformed, false, "what it printed is no reply: "},
		{"prints", `{"call":"x"}`, shape.Malformed, false, `what it printed is a message and no reply: {`},
		{"prints", `{"event":"x"}`, shape.Malformed, false, `what it printed is a message and no reply: {`},
		{"prints", `{"ok":true,"family":2,"n":0,"result":[]}`, shape.Malformed, false, "prints speaks family 2 and this program reads up to 1"},
		{"prints", `{"ok":true,"family":1,"n":2,"result":[1]}`, shape.Malformed, false, "n is 2 and result holds 1"},
		{"prints", refusal, shape.Unavailable, true, "no"},
		{"prints", refusal + "\n", shape.Unavailable, true, "no"},
	} {
		rows, err := program(c.name, "PRINT="+c.print).Call(context.Background(), shape.Call{Verb: "x"})
		var e *shape.Error
		if !errors.As(err, &e) || e.Fault != c.fault || e.Said != c.said || !strings.HasPrefix(e.Text, c.text) {
			t.Errorf("%s %q: %d rows, %#v", c.name, c.print, rows.Len(), err)
			continue
		}
		if e.Peer != c.name || e.Verb != "x" {
			t.Errorf("%s: of %q, verb %q", c.name, e.Peer, e.Verb)
		}
	}
	for _, path := range []string{"/there/is/nothing", "no-such-program-in-path", os.TempDir()} {
		_, err := argv.Program{Path: path}.Call(context.Background(), shape.Call{Verb: "x"})
		var e *shape.Error
		if !errors.As(err, &e) || e.Fault != shape.Unavailable || e.Said || !strings.HasPrefix(e.Error(), path+": x: it cannot be started: ") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestNoisy: a program that writes a MiB to stderr before its reply is not held up by it, and its tail can be had (PIPE-4).
func TestNoisy(t *testing.T) {
	transporttest.Leaks(t)
	var errs bytes.Buffer
	p := program("noisy")
	p.Stderr = &errs
	if got, err := transport.Call[string](context.Background(), p, "x"); err != nil || got[0] != "good" {
		t.Errorf("%q, %v", got, err)
	}
	if errs.Len() < 1<<20-6 {
		t.Errorf("%d bytes of stderr were passed on", errs.Len())
	}
}

// TestOverTheCap: a reply over the cap is malformed, names the cap, and its program is ended however much it has still to say
// (LIMIT-1, LIMIT-4).
func TestOverTheCap(t *testing.T) {
	transporttest.Leaks(t)
	start := time.Now()
	_, err := program("endless").Call(context.Background(), shape.Call{Verb: "x"})
	if !errors.Is(err, shape.Malformed) || !strings.Contains(err.Error(), "more than 16777216 bytes") {
		t.Errorf("endless: %v", err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	for size, fits := range map[int]bool{len(good) - 1: true, len(good) - 2: false} {
		p := program("prints", "PRINT="+good)
		p.Limits.Frame = size
		if _, err := p.Call(context.Background(), shape.Call{Verb: "x"}); (err == nil) != fits {
			t.Errorf("a reply of %d bytes and a cap of %d: %v", len(good)-1, size, err)
		}
	}
}

// pids are those of a program and of the process it has started.
func pids(t *testing.T, path string) (program, child int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(string(b), &program, &child); err != nil {
		t.Fatal(err)
	}
	return program, child
}

// TestDeadline: a call ends within its deadline, and the whole group of the program with it (CLIENT-4, PIPE-4).
func TestDeadline(t *testing.T) {
	transporttest.Leaks(t)
	path := filepath.Join(t.TempDir(), "pids")
	p := program("hangs", "PIDS="+path)
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	go func() {
		reexec.Eventually(t, "its pids", func() bool { _, err := os.Stat(path); return err == nil })
		cancel(errors.New("enough"))
	}()
	_, err := p.Call(ctx, shape.Call{Verb: "x"})
	if !errors.Is(err, shape.Unavailable) || err.Error() != "hangs: x: no reply: enough" {
		t.Errorf("cancelled: %v", err)
	}
	head, child := pids(t, path)
	reexec.Eventually(t, "nobody is left", func() bool { return !reexec.Running(head) && !reexec.Running(child) })

	p.Timeout = 50 * time.Millisecond
	if _, err := p.Call(context.Background(), shape.Call{Verb: "x"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Timeout: %v", err)
	}
	if _, err := p.Call(ctx, shape.Call{Verb: "x"}); err == nil || !strings.HasSuffix(err.Error(), "no reply: enough") {
		t.Errorf("ended before: %v", err)
	}
}

// TestOthersHoldItsStdout: a reply is read though somebody in another session holds the program's stdout open, and though the
// program itself does not end.
func TestOthersHoldItsStdout(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pids")
	for _, name := range []string{"daemon", "lingers"} {
		t.Run(name, func(t *testing.T) {
			transporttest.Leaks(t)
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			got, err := transport.Call[string](ctx, program(name, "PIDS="+path), "x")
			if err != nil || len(got) != 1 || got[0] != "good" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	_, child := pids(t, path)
	if p, err := os.FindProcess(child); err == nil {
		p.Kill()
	}
}

// TestWithinStaysHere: the member that a call from inside a handler has for its connection has no use on a command line, and does
// not stop the call (CLIENT-6).
func TestWithinStaysHere(t *testing.T) {
	yes, err := shape.Limits{}.Value([]byte("true"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := program("prog").Call(context.Background(), shape.Call{Verb: "within", More: shape.Members{}.With("within", yes)})
	if err != nil || rows.Len() != 1 || rows.Raw(0).Kind() != "null" {
		t.Errorf("%d rows, %v", rows.Len(), err)
	}
}
