package peers

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kith-wire/kith/conformance"
	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/argv"
	"github.com/kith-wire/kith/transport/pipe"
	"github.com/kith-wire/kith/transport/socket"
	"github.com/kith-wire/kith/transport/transporttest"
)

// program is one program that takes part, by its language.
type program struct {
	name string
	path string
}

// scribe is where TestMain has built the example program.
var scribe program

func TestMain(m *testing.M) {
	// The Python peer finds its interpreter in PATH, with its package.
	venv, _ := filepath.Abs("python/.venv/bin")
	os.Setenv("PATH", venv+string(os.PathListSeparator)+os.Getenv("PATH"))
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "kith-peers-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		scribe = program{"go", filepath.Join(dir, "scribe")}
		if out, err := exec.Command("go", "build", "-o", scribe.path, "../../cmd/scribe").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "building the scribe: %v\n%s", err, out)
			return 1
		}
		return transporttest.Main(m)
	}())
}

// built returns a file that the build script makes. Without it the test is skipped, and fails where nothing may be missing.
func built(t *testing.T, made ...string) {
	t.Helper()
	for _, file := range made {
		if _, err := os.Stat(file); err != nil {
			if os.Getenv("KITH_REQUIRE") == "1" {
				t.Fatalf("bash conformance/peers/build has not run: %v", err)
			}
			t.Skipf("bash conformance/peers/build builds what this needs: %v", err)
		}
	}
}

// family are the peers of the family wire.
func family(t *testing.T) []program {
	t.Helper()
	built(t, "python/.venv/bin/python3", "node/node_modules/cbor-x", "rust/target/release/peer")
	var all []program
	for name, file := range map[string]string{"python": "python/peer", "node": "node/peer", "rust": "rust/target/release/peer"} {
		path, err := filepath.Abs(file)
		must(t, err)
		all = append(all, program{name, path})
	}
	return all
}

// TestCheck: each passes the checker.
func TestCheck(t *testing.T) {
	for _, p := range family(t) {
		t.Run(p.name, func(t *testing.T) {
			conformance.Test(t, p.path, conformance.Options{Wait: 20 * time.Second})
		})
	}
}

// serving is a program's socket, as long as the test runs.
func serving(t *testing.T, p program) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.sock")
	cmd := exec.Command(p.path, "serve", "--socket", path)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s serve: %v", p.name, err)
		}
	})
	line := make([]byte, 1000)
	n, err := out.Read(line)
	if want := `{"event":"listening","at":"` + path + `"}`; strings.TrimSpace(string(line[:n])) != want {
		t.Fatalf("%s serve says %q, %v; want %s", p.name, line[:n], err, want)
	}
	return path
}

// ways are the callers for a program, one for each door and encoding.
func ways(t *testing.T, p program) map[string]transport.Caller {
	t.Helper()
	ctx := context.Background()
	all := map[string]transport.Caller{
		"argv":      argv.Program{Path: p.path},
		"argv cbor": argv.Program{Path: p.path, Encoding: shape.CBOR},
	}
	child, err := pipe.Start(ctx, pipe.Command{Path: p.path})
	must(t, err)
	t.Cleanup(func() { child.Close() })
	all["pipe"] = child
	path := serving(t, p)
	for name, enc := range map[string]shape.Encoding{"socket": shape.JSON, "socket cbor": shape.CBOR} {
		peer, err := socket.Dial(ctx, path, transport.Config{Encoding: enc})
		must(t, err)
		t.Cleanup(func() { peer.Close() })
		all[name] = peer
	}
	return all
}

// values are what tells encodings apart that lose something.
const values = `[null,true,"","\u2028<>&\u0000é𝄞",0,-1,9007199254740993,18446744073709551615,18446744073709551616,-18446744073709551617,` +
	`1.0,-0.0,0.1,1e300,5e-324,[],{},[[{"b":[1.5],"a":null}]]]`

// TestCalled: kith calls each of them at every door and in both encodings, and nothing is lost; a refusal is one.
func TestCalled(t *testing.T) {
	list, err := shape.Limits{}.Value([]byte(values))
	must(t, err)
	args, err := list.Args()
	must(t, err)
	for _, p := range family(t) {
		t.Run(p.name, func(t *testing.T) {
			for name, way := range ways(t, p) {
				rows, err := way.Call(context.Background(), shape.Call{Verb: "echo", Args: args})
				got, _ := rows.Append(nil, shape.JSON, shape.Limits{})
				if want := string(list.Append(nil, shape.JSON)); err != nil || string(got) != want {
					t.Errorf("%s: %v\ngot  %s\nwant %s", name, err, got, want)
				}
				_, err = way.Call(context.Background(), shape.Call{Verb: "no-such-verb"})
				if e := (*shape.Error)(nil); !as(err, &e) || !e.Said || e.Fault != shape.Refused || !strings.HasPrefix(e.Text, "no such call: no-such-verb") {
					t.Errorf("%s: an unknown verb: %#v", name, err)
				}
			}
		})
	}
}

// TestCallsTheScribe: each keeps a note with the scribe at every door, and is told its refusals.
func TestCallsTheScribe(t *testing.T) {
	t.Setenv("SCRIBE_BOOK", filepath.Join(t.TempDir(), "book.jsonl"))
	at := serving(t, scribe)
	for _, p := range family(t) {
		t.Run(p.name, func(t *testing.T) {
			for _, target := range []string{"argv:" + scribe.path, "pipe:" + scribe.path, "unix:" + at} {
				text := p.name + " by " + target
				rows, err := transport.Call[struct {
					Text string   `json:"text"`
					Tags []string `json:"tags"`
				}](context.Background(), argv.Program{Path: p.path}, "ask", target, "note", text, "é")
				if err != nil || len(rows) != 1 || rows[0].Text != text || len(rows[0].Tags) != 1 || rows[0].Tags[0] != "é" {
					t.Errorf("%s: %v, %v", target, rows, err)
				}
				_, err = transport.Call[int](context.Background(), argv.Program{Path: p.path}, "ask", target, "get", 1<<40)
				if e := (*shape.Error)(nil); !as(err, &e) || !e.Said || e.Fault != shape.Refused || !strings.Contains(e.Text, "no note has id 1099511627776") {
					t.Errorf("%s: a refusal: %v", target, err)
				}
			}
		})
	}
	notes, err := transport.Call[struct {
		ID int `json:"id"`
	}](context.Background(), argv.Program{Path: scribe.path}, "list")
	if err != nil || len(notes) != 9 {
		t.Errorf("the scribe holds %d notes of 9: %v", len(notes), err)
	}
}

// TestEachOther: each calls each other one, and the scribe, at its socket and as a child, and nothing is lost on the way.
func TestEachOther(t *testing.T) {
	t.Setenv("SCRIBE_BOOK", filepath.Join(t.TempDir(), "book.jsonl"))
	list, err := shape.Limits{}.Value([]byte(values))
	must(t, err)
	all := family(t)
	for _, to := range append(all[:len(all):len(all)], scribe) {
		at := serving(t, to)
		for _, from := range all {
			for _, target := range []string{"unix:" + at, "pipe:" + to.path, "argv:" + to.path} {
				rows, err := transport.Call[shape.Raw](context.Background(), argv.Program{Path: from.path}, "ask", target, "echo", list)
				if err != nil || len(rows) != 1 || string(rows[0].Append(nil, shape.JSON)) != string(list.Append(nil, shape.JSON)) {
					t.Errorf("%s asks %s: %v, %v", from.name, target, rows, err)
				}
			}
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
