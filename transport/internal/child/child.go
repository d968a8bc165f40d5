// Package child runs a program in a process group of its own and sees to its end: whoever holds a child loses no word of its
// stderr's tail, keeps no zombie, and leaves nobody of its group behind (PIPE-4).
package child

import (
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Spec is what to run.
type Spec struct {
	Path   string    // as os/exec takes it: looked up in PATH unless it holds a slash
	Args   []string  // without the program's name
	Dir    string    // its working directory; empty: ours
	Env    []string  // nil: ours
	Stdin  bool      // it has one, and In is its other end; else it reads /dev/null
	Stderr io.Writer // also gets what it writes to stderr; nil: nobody does
}

// Process is a running child. In and Out are its holder's to close; the rest ends with [Process.Stop] or [Process.Kill], of
// which one must be called.
type Process struct {
	In  *os.File // its stdin
	Out *os.File // its stdout

	cmd    *exec.Cmd
	stderr *os.File
	tail   tail
	exited chan struct{}

	mu         sync.Mutex
	reaped     bool
	stragglers time.Time // until then the rest of the group may outlive its head
}

// Bounds of an end.
const (
	killTime = 2 * time.Second       // for the kernel to end what was killed
	tailTime = 50 * time.Millisecond // for stderr to close behind the last of its group
)

// Start starts a child. It inherits three descriptors and no more.
func Start(s Spec) (*Process, error) {
	p := &Process{cmd: exec.Command(s.Path, s.Args...), exited: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env = s.Dir, s.Env
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.tail = tail{ended: make(chan struct{}), also: s.Stderr}
	if err := p.start(s.Stdin); err != nil {
		return nil, err
	}
	go p.tail.drain(p.stderr)
	go p.watch()
	return p, nil
}

// start makes the pipes, and runs the child on its ends of them.
func (p *Process) start(stdin bool) (err error) {
	var ours, theirs []*os.File
	defer func() {
		closeAll(theirs)
		if err != nil {
			closeAll(ours)
		}
	}()
	for range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		ours, theirs = append(ours, r), append(theirs, w)
	}
	ours[0], theirs[0] = theirs[0], ours[0] // stdin runs the other way
	if stdin {
		p.cmd.Stdin = theirs[0]
	}
	p.cmd.Stdout, p.cmd.Stderr = theirs[1], theirs[2]
	if err := p.cmd.Start(); err != nil {
		return err
	}
	p.In, p.Out, p.stderr = ours[0], ours[1], ours[2]
	if !stdin {
		p.In.Close()
	}
	return nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// PID returns the process's number, which is that of its group.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Exited is closed once the child has ended, its group with it, and Ending can be asked.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// watch waits for the end of the child. What is left of its group by then has lost its head, and is killed: while the head is
// not reaped nobody else can have the group's number.
func (p *Process) watch() {
	held := awaitEnd(p.PID())
	if !held {
		p.cmd.Wait()
	}
	p.mu.Lock()
	patience := time.Until(p.stragglers)
	p.mu.Unlock()
	p.tail.wait(patience)
	p.mu.Lock()
	syscall.Kill(-p.PID(), syscall.SIGKILL)
	if held {
		p.cmd.Wait()
	}
	p.reaped = true
	p.mu.Unlock()
	p.tail.finish(p.stderr)
	close(p.exited)
}

// Stop ends a child: within grace by itself, for its holder has closed its stdin, within another grace by SIGTERM to its
// group, and then by SIGKILL. It returns at once where the child has ended, and always within 2 s after the last signal; false
// says that not even that helped.
func (p *Process) Stop(grace time.Duration) bool {
	if p.within(grace) {
		return true
	}
	p.signal(syscall.SIGTERM, grace)
	return p.within(grace) || p.Kill()
}

// Kill ends the whole group at once.
func (p *Process) Kill() bool {
	p.signal(syscall.SIGKILL, 0)
	return p.within(killTime)
}

// within reports whether the child ends within that time.
func (p *Process) within(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}

// signal signals the group, and gives those who outlive its head that time.
func (p *Process) signal(sig syscall.Signal, stragglers time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return
	}
	p.stragglers = time.Now().Add(stragglers)
	syscall.Kill(-p.PID(), sig)
	if sig == syscall.SIGKILL {
		p.cmd.Process.Kill() // it may have left its group
	}
}

// Success reports whether the child has ended with status 0. Only once Exited is closed.
func (p *Process) Success() bool {
	state := p.cmd.ProcessState
	return state != nil && state.Success()
}

// Ending says how the child ended, as the end of a sentence: its exit status or signal, and the end of what it wrote to stderr.
// Only once Exited is closed.
func (p *Process) Ending() string {
	how := p.cmd.ProcessState.String()
	if said := p.tail.quote(); said != "" {
		return how + ": " + said
	}
	return how
}

// Stderr returns the end of what the child has written to stderr so far, at most 16 KiB.
func (p *Process) Stderr() string { return p.tail.text() }
