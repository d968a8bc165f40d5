// Package reexec lets a test binary be the programs of its own tests, so that these run real processes and nothing has to be built.
package reexec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kith-wire/kith/transport/internal/leaks"
)

// variable names the program that a test binary is to be.
const variable = "KITH_REEXEC"

// Main is what a TestMain does: it runs one of the programs where the binary was started by [Command], and the tests where not. A
// program returns its exit status.
func Main(m *testing.M, programs map[string]func() int) {
	name := os.Getenv(variable)
	if name == "" {
		os.Exit(leaks.Main(m))
	}
	program := programs[name]
	if program == nil {
		fmt.Fprintf(os.Stderr, "there is no program %q\n", name)
		os.Exit(99)
	}
	os.Exit(program())
}

// Env is the environment in which the test binary is that program: the test's own and more.
func Env(program string, more ...string) []string {
	return append(append(os.Environ(), variable+"="+program, "GORACE=atexit_sleep_ms=0"), more...)
}

// Self is the path of the test binary.
func Self() string {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return self
}

// limit ends a process that hangs.
const limit = time.Minute

// Command makes a command that runs a program of the test's, and is killed after a minute.
func Command(t testing.TB, program string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, Self(), args...)
	cmd.Env = Env(program)
	return cmd
}

// Result is how a run ended.
type Result struct {
	Out, Err string
	Status   int // -1: a signal
}

// Run runs a program of the test's to its end.
func Run(t testing.TB, stdin, program string, args ...string) Result {
	t.Helper()
	cmd := Command(t, program, args...)
	cmd.Stdin = strings.NewReader(stdin)
	return Wait(t, cmd)
}

// Wait runs a command to its end. Its stdout and stderr are kept where they lead nowhere else.
func Wait(t testing.TB, cmd *exec.Cmd) Result {
	t.Helper()
	var out, errs bytes.Buffer
	if cmd.Stdout == nil {
		cmd.Stdout = &out
	}
	if cmd.Stderr == nil {
		cmd.Stderr = &errs
	}
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%q: %v", cmd.Args, err)
	}
	return Result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// Eventually waits for what only looking can tell.
func Eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(limit / 2); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", limit/2, what)
		}
	}
}

// Running reports whether a process runs; one that has ended and is nobody's to reap but init's does not.
func Running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}
