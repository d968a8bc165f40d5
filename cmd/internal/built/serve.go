package built

import (
	"bufio"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Process is a program that runs while the test does.
type Process struct {
	Cmd *exec.Cmd
	In  io.WriteCloser
	Out *bufio.Reader

	waited chan struct{}
	errs   *strings.Builder
}

// Start starts a program and holds its stdin and stdout.
func (e *Env) Start(t testing.TB, name string, args ...string) *Process {
	t.Helper()
	cmd := e.Command(t, name, args...)
	p := &Process{Cmd: cmd, waited: make(chan struct{}), errs: &strings.Builder{}}
	cmd.Stderr = p.errs
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.In, p.Out = in, bufio.NewReader(out)
	t.Cleanup(func() {
		select {
		case <-p.waited:
		default:
			p.In.Close()
			p.Stop(t, syscall.SIGTERM)
		}
	})
	return p
}

// Line reads a line of its output, without the end.
func (p *Process) Line(t testing.TB) string {
	t.Helper()
	line, err := p.Out.ReadString('\n')
	if err != nil {
		t.Fatalf("its output ended: %v after %q", err, line)
	}
	return strings.TrimSuffix(line, "\n")
}

// Say writes a line to its input.
func (p *Process) Say(t testing.TB, line string) {
	t.Helper()
	if _, err := io.WriteString(p.In, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

// Wait waits for its end and returns its exit status and what it wrote to stderr.
func (p *Process) Wait(t testing.TB) Result {
	t.Helper()
	rest, _ := io.ReadAll(p.Out)
	p.Cmd.Wait()
	select {
	case <-p.waited:
	default:
		close(p.waited)
	}
	return Result{Out: string(rest), Err: p.errs.String(), Status: p.Cmd.ProcessState.ExitCode()}
}

// Stop sends a signal and waits for the end.
func (p *Process) Stop(t testing.TB, sig syscall.Signal) Result {
	t.Helper()
	if err := p.Cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	return p.Wait(t)
}

// Serve starts `scribe serve` with the flags, waits until it says that it listens, and returns its socket.
func (e *Env) Serve(t testing.TB, flags ...string) (*Process, string) {
	t.Helper()
	p := e.Start(t, "scribe", append([]string{"serve"}, flags...)...)
	line := p.Line(t)
	at, found := strings.CutPrefix(line, `{"event":"listening","at":"`)
	if !found {
		t.Fatalf("it announced %q", line)
	}
	return p, strings.TrimSuffix(at, `"}`)
}

// Eventually waits for something that other processes bring about, and that nothing but looking can tell.
func Eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(deadline / 2); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", deadline/2, what)
		}
	}
}
