// Package built runs the commands of this module in tests as what they are: programs, each a process of its own.
package built

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kith-wire/kith/transport/transporttest"
)

// dir is where Main put the programs.
var dir string

// Main builds the commands, runs the tests and removes what it built. Under the race detector the programs are built with it
// too, so that a race in one of them ends it with a status no test takes.
func Main(m *testing.M, commands ...string) int {
	var err error
	if dir, err = os.MkdirTemp("", "kith-built-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	for _, name := range commands {
		args := []string{"build", "-o", filepath.Join(dir, name)}
		if Race {
			args = append(args, "-race")
		}
		build := exec.Command("go", append(args, "github.com/kith-wire/kith/cmd/"+name)...)
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "building %s: %v\n%s", name, err, out)
			return 1
		}
	}
	return transporttest.Main(m)
}

// Path is where a command is.
func Path(name string) string { return filepath.Join(dir, name) }

// Need skips the test where a tool is missing, and fails it where KITH_REQUIRE says that none may be.
func Need(t testing.TB, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err == nil {
			continue
		}
		if os.Getenv("KITH_REQUIRE") == "1" {
			t.Fatalf("%s is missing and KITH_REQUIRE is 1", tool)
		}
		t.Skipf("%s is missing", tool)
	}
}

// Env is the environment of a program in a test: nothing of the developer's but the path, with what it could write to in a
// directory of the test.
type Env struct {
	Dir  string   // $HOME, and parent of the rest
	More []string // NAME=value
}

// NewEnv makes the environment, and fails the test if it leaves anything behind. The directory is short enough for a socket's
// path.
func NewEnv(t testing.TB) *Env {
	t.Helper()
	at, err := os.MkdirTemp("", "k")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(at) })
	e := &Env{Dir: at}
	for _, sub := range []string{"run", "run/scribe", "state", "tmp"} {
		if err := os.Mkdir(filepath.Join(at, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	transporttest.Leaks(t, filepath.Join(at, "run"), filepath.Join(at, "tmp"))
	e.More = []string{
		"PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + at, "TMPDIR=" + filepath.Join(at, "tmp"),
		"XDG_RUNTIME_DIR=" + filepath.Join(at, "run"), "XDG_STATE_HOME=" + filepath.Join(at, "state"), "GORACE=halt_on_error=1 atexit_sleep_ms=0",
	}
	return e
}

// Set adds a variable.
func (e *Env) Set(name, value string) { e.More = append(e.More, name+"="+value) }

// deadline is long enough for any one run, and ends a test that hangs with a word of where.
const deadline = 60 * time.Second

// Command makes a command that is killed at the deadline.
func (e *Env) Command(t testing.TB, name string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(context.Background(), deadline, errors.New("it ran too long"))
	t.Cleanup(cancel)
	if _, err := os.Stat(Path(name)); err == nil {
		name = Path(name)
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.Dir = e.More, e.Dir
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// Result is how a run ended.
type Result struct {
	Out, Err string
	Status   int // -1: a signal
}

// Run runs a program to its end.
func (e *Env) Run(t testing.TB, stdin, name string, args ...string) Result {
	t.Helper()
	cmd := e.Command(t, name, args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s %q: %v", name, args, err)
	}
	return Result{Out: out.String(), Err: errs.String(), Status: cmd.ProcessState.ExitCode()}
}

// OK runs a program that must exit 0 and keep stderr empty, and returns its output.
func (e *Env) OK(t testing.TB, stdin, name string, args ...string) string {
	t.Helper()
	r := e.Run(t, stdin, name, args...)
	if r.Status != 0 || r.Err != "" {
		t.Fatalf("%s %q: exit %d, stderr %q, stdout %q", name, args, r.Status, r.Err, r.Out)
	}
	return r.Out
}

// Sh runs a line of shell that must exit 0, and returns its output.
func (e *Env) Sh(t testing.TB, script string) string {
	t.Helper()
	return e.OK(t, "", "sh", "-c", script)
}
