package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// launch is how one process is started.
type launch struct {
	args   []string
	stdin  *os.File // nil: a pipe of which the process holds the other end
	stdout *os.File // the same
}

// process is a run of the program, in a group of its own.
type process struct {
	cmd  *exec.Cmd
	in   *os.File // what it reads, where the launch gave nothing
	out  *os.File // what it writes, the same
	errs tail
	done chan struct{} // closed when it has ended
}

// start runs the program. Whoever calls it ends it with kill.
func (c *checker) start(l launch) (*process, error) {
	p := &process{cmd: exec.Command(c.target.at, l.args...), done: make(chan struct{})}
	p.cmd.Env = c.env
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.Stderr = &p.errs
	p.cmd.WaitDelay = c.wait
	var theirs []*os.File
	if p.cmd.Stdin = l.stdin; l.stdin == nil {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		p.cmd.Stdin, p.in, theirs = r, w, append(theirs, r)
	}
	if p.cmd.Stdout = l.stdout; l.stdout == nil {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, errors.Join(err, p.close(theirs))
		}
		p.cmd.Stdout, p.out, theirs = w, r, append(theirs, w)
	}
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(err, p.close(theirs))
	}
	for _, f := range theirs {
		f.Close()
	}
	stop := context.AfterFunc(c.ctx, p.signalGroup)
	go func() {
		p.cmd.Wait()
		stop()
		close(p.done)
	}()
	return p, nil
}

// close closes what a process that did not start was to have.
func (p *process) close(theirs []*os.File) error {
	for _, f := range append(theirs, p.in, p.out) {
		if f != nil {
			f.Close()
		}
	}
	return nil
}

// kill ends the process and its group, and waits for it. One that has ended already is left as it is.
func (p *process) kill() {
	select {
	case <-p.done:
	default:
		p.signalGroup()
	}
	p.close(nil)
	<-p.done
}

func (p *process) signalGroup() { syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }

// wait waits for the end.
func (p *process) wait(limit time.Duration) ending {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		return ending{hung: limit, stderr: p.errs.String()}
	}
	e := ending{status: p.cmd.ProcessState.ExitCode(), stderr: p.errs.String()}
	if ws, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		e.signal = ws.Signal()
	}
	return e
}

// ending is how a process ended.
type ending struct {
	hung   time.Duration // above 0: it did not, in that time
	status int
	signal syscall.Signal
	stderr string
}

func (e ending) exited(status int) bool { return e.hung == 0 && e.signal == 0 && e.status == status }

func (e ending) String() string {
	s := "exit " + strconv.Itoa(e.status)
	switch {
	case e.hung > 0:
		s = fmt.Sprintf("no end within %v", e.hung)
	case e.signal != 0:
		s = "death by signal " + e.signal.String()
	}
	if e.stderr != "" {
		s += ", stderr: " + show([]byte(strings.TrimSpace(e.stderr)))
	}
	return s
}

// tail keeps the last of what is written to it.
type tail struct {
	mu sync.Mutex
	b  []byte
}

const tailLen = 4096

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, b...)
	if over := len(t.b) - tailLen; over > 0 {
		t.b = append(t.b[:0], t.b[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}

// outcome is one run from start to end, as the cli is used.
type outcome struct {
	ending
	prog   string
	args   []string
	stdin  recipe // nil: nothing, at once
	stdout []byte
	err    error // it could not be run at all
}

func (o outcome) sent() string {
	s := "the command line" + words(append([]string{o.prog}, o.args...)...)
	if o.stdin != nil {
		s += " with stdin " + o.stdin.String()
	}
	return s
}

func (o outcome) shell() string {
	line := strings.TrimSpace(words(append([]string{o.prog}, o.args...)...)) + `; echo "exit $?"`
	if o.stdin != nil {
		return o.stdin.shell() + " | { " + line + "; }"
	}
	return line
}

func (o outcome) String() string {
	if o.err != nil {
		return "it could not be run: " + o.err.Error()
	}
	return fmt.Sprintf("stdout %s, %v", show(o.stdout), o.ending)
}

// most is the most that is read of any one output.
const most = 64 << 20

// run runs the program to its end with an empty stdin.
func (c *checker) run(args ...string) outcome { return c.runWith(nil, args...) }

// runWith runs the program to its end with that on stdin.
func (c *checker) runWith(stdin recipe, args ...string) outcome {
	o := outcome{prog: c.target.at, args: args, stdin: stdin}
	l := launch{args: args}
	if stdin == nil {
		null, err := os.Open(os.DevNull)
		if err != nil {
			o.err = err
			return o
		}
		defer null.Close()
		l.stdin = null
	}
	p, err := c.start(l)
	if err != nil {
		o.err = err
		return o
	}
	defer p.kill()
	if p.in != nil {
		p.in.SetWriteDeadline(time.Now().Add(c.wait))
		go func() {
			defer p.in.Close()
			for part := range stdin.parts(oneWrite) {
				if _, err := io.WriteString(p.in, part); err != nil {
					return
				}
			}
		}()
	}
	p.out.SetReadDeadline(time.Now().Add(c.wait))
	o.stdout, _ = io.ReadAll(io.LimitReader(p.out, most))
	o.ending = p.wait(c.wait)
	return o
}
