package pipe_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/internal/reexec"
	"github.com/kith-wire/kith/transport/pipe"
	"github.com/kith-wire/kith/transport/transporttest"
)

// command runs one of the test's programs as a child.
func command(program string, env ...string) pipe.Command {
	cmd := pipe.Command{Path: reexec.Self(), Env: reexec.Env(program, env...)}
	cmd.Name = program
	return cmd
}

func begin(t *testing.T, cmd pipe.Command) *pipe.Child {
	t.Helper()
	c, err := pipe.Start(context.Background(), cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func ask(c transport.Caller) error {
	_, err := c.Call(context.Background(), shape.Call{Verb: "x"})
	return err
}

// unavailable checks that an error is one this side inferred, with that text at its end.
func unavailable(t *testing.T, what string, err error, text string) {
	t.Helper()
	var e *shape.Error
	if !errors.As(err, &e) || e.Fault != shape.Unavailable || e.Said || !strings.HasSuffix(e.Text, text) {
		t.Errorf("%s: got %v, want %q", what, err, text)
	}
}

// TestSuite: everything any door must do, both ways.
func TestSuite(t *testing.T) {
	transporttest.Run(t, transport.Pipe, func(t *testing.T, cfg transport.Config) transport.Caller {
		transporttest.Leaks(t)
		cmd := command("serve")
		cfg.Name = "serve"
		cmd.Config = cfg
		return begin(t, cmd).Peer
	})
}

// TestChildDies: whoever waits is told at once, by which signal or with which status and with what last words; what the child
// answered before is still read (PIPE-4).
func TestChildDies(t *testing.T) {
	transporttest.Leaks(t)
	c := begin(t, command("dies"))
	errs := make(chan error)
	var asked sync.WaitGroup
	for range 3 {
		asked.Add(1)
		go func() { asked.Done(); errs <- ask(c) }()
	}
	asked.Wait()
	start, good := time.Now(), 0
	for range 3 {
		if err := <-errs; err == nil {
			good++
		} else {
			unavailable(t, "a call", err, "it ended with signal: killed: the reason")
		}
	}
	if took := time.Since(start); good != 1 || took > 10*time.Second {
		t.Errorf("%d calls were answered, in %v", good, took)
	}
	unavailable(t, "a later call", ask(c), "it ended with signal: killed: the reason")
	unavailable(t, "Close", c.Close(), "it ended with signal: killed: the reason")
	if c.Stderr() != "the reason\n" {
		t.Errorf("Stderr: %q", c.Stderr())
	}
	<-c.Done()

	c = begin(t, command("fails"))
	c.Call(context.Background(), shape.Call{Verb: "x"}) // answered, unless its end was seen first
	<-c.Done()
	unavailable(t, "Err", c.Err(), "it ended with exit status 3: not today")
	unavailable(t, "a call", ask(c), "it ended with exit status 3: not today")
}

// TestKilledInTheMiddle: kill -9 while a call waits.
func TestKilledInTheMiddle(t *testing.T) {
	transporttest.Leaks(t)
	dir := t.TempDir()
	c := begin(t, command("silent", "LEFT="+dir))
	left(t, dir, "silent")
	err := make(chan error)
	go func() { err <- ask(c) }()
	killed := make(chan time.Time, 1)
	time.AfterFunc(20*time.Millisecond, func() { // nothing shows that it waits
		killed <- time.Now()
		syscall.Kill(c.PID(), syscall.SIGKILL)
	})
	unavailable(t, "the call", <-err, "it ended with signal: killed")
	if took := time.Since(<-killed); took > 2*time.Second {
		t.Errorf("it was told after %v", took)
	}
}

// TestNoisyChild: stderr is read all the time, and its tail kept and no more (PIPE-4).
func TestNoisyChild(t *testing.T) {
	transporttest.Leaks(t)
	var all bytes.Buffer
	cmd := command("noisy")
	cmd.Stderr = &all
	c := begin(t, cmd)
	for range 2 {
		if err := ask(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if n := len(c.Stderr()); n != 16<<10 || !strings.HasSuffix(c.Stderr(), "noise\nnoise\n") {
		t.Errorf("%d bytes of its stderr are kept", n)
	}
	if all.Len() != 2*(1<<20/6)*len("noise\n") {
		t.Errorf("%d bytes of its stderr were passed on", all.Len())
	}
}

// closeAll closes a child from three places at once, each of which must be told how it ended.
func closeAll(t *testing.T, c *pipe.Child, ending string) *sync.WaitGroup {
	var closing sync.WaitGroup
	for range 3 {
		closing.Go(func() {
			switch err := c.Close(); {
			case ending != "":
				unavailable(t, "Close", err, ending)
			case err != nil:
				t.Errorf("Close: %v", err)
			}
		})
	}
	return &closing
}

// TestClose: stdin, grace, SIGTERM, grace, SIGKILL, to the whole group, in bounded time; nobody is left (PIPE-4, CLIENT-4).
func TestClose(t *testing.T) {
	const grace = 300 * time.Millisecond
	for _, c := range []struct {
		program string
		there   []string // before it is closed
		ending  string   // of the error
		limit   time.Duration
	}{
		{"silent", []string{"silent"}, "", 5 * time.Second},
		{"full", nil, "", 5 * time.Second},
		{"stubborn", []string{"stubborn"}, "it ended with signal: killed", 8 * time.Second},
		{"wrapper", []string{"wrapper", "stubborn"}, "it ended with signal: terminated", 8 * time.Second},
	} {
		t.Run(c.program, func(t *testing.T) {
			dir := t.TempDir()
			transporttest.Leaks(t)
			cmd := command(c.program, "LEFT="+dir)
			cmd.Grace = grace
			child := begin(t, cmd)
			pids := []int{child.PID()}
			for _, name := range c.there {
				pids = append(pids, left(t, dir, name))
			}
			waiting := make(chan error)
			go func() { waiting <- ask(child) }()
			start := time.Now()
			closing := closeAll(t, child, c.ending)
			if err := <-waiting; err == nil {
				t.Error("a call that nobody answered succeeded")
			}
			closing.Wait()
			if took := time.Since(start); took > c.limit {
				t.Errorf("it took %v", took)
			}
			for _, pid := range pids {
				for until := time.Now().Add(2 * time.Second); reexec.Running(pid) && time.Now().Before(until); {
					runtime.Gosched() // it has been killed, and takes a moment to die
				}
				if reexec.Running(pid) {
					t.Errorf("process %d is left", pid)
					syscall.Kill(pid, syscall.SIGKILL)
				}
			}
			if c.program == "full" {
				left(t, dir, "full") // it ended in order, for what it wrote was read on
			}
			if err := ask(child); !errors.Is(err, os.ErrClosed) {
				t.Errorf("a call after Close: %v", err)
			}
		})
	}
}

// TestShellWrapper: the program a shell has put into the background goes with the shell (PIPE-4).
func TestShellWrapper(t *testing.T) {
	dir := t.TempDir()
	transporttest.Leaks(t)
	for _, script := range []string{`"$0" & wait`, `"$0" | cat`, `"$0" & read line`} {
		cmd := command("stubborn", "LEFT="+dir)
		cmd.Path, cmd.Args, cmd.Grace = "/bin/sh", []string{"-c", script, reexec.Self()}, 100*time.Millisecond
		c := begin(t, cmd)
		pid := left(t, dir, "stubborn")
		c.Close()
		reexec.Eventually(t, script+": nobody is left", func() bool { return !reexec.Running(pid) })
		os.Remove(filepath.Join(dir, "stubborn"))
	}
}

// TestSomebodyElseHoldsItsStdout: a dead child is dead though its stdout does not end.
func TestSomebodyElseHoldsItsStdout(t *testing.T) {
	dir := t.TempDir()
	transporttest.Leaks(t)
	c := begin(t, command("left", "LEFT="+dir))
	pid := left(t, dir, "stubborn")
	defer syscall.Kill(pid, syscall.SIGKILL)
	start := time.Now()
	unavailable(t, "the call", ask(c), "it ended with exit status 4")
	unavailable(t, "Close", c.Close(), "it ended with exit status 4")
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	if !reexec.Running(pid) {
		t.Error("a process in a session of its own was ended")
	}
}

// TestItClosesItsStdout: a child that will never answer again is told apart from one that has ended, and ended.
func TestItClosesItsStdout(t *testing.T) {
	transporttest.Leaks(t)
	c := begin(t, command("deaf"))
	unavailable(t, "the call", ask(c), "it has closed its stdout and still runs")
	reexec.Eventually(t, "it has ended", func() bool { return !reexec.Running(c.PID()) })
}

// TestDeadlineEndsTheChild: a call that is given up closes the connection, and with it the child ends by itself; later calls say so
// (CLIENT-1).
func TestDeadlineEndsTheChild(t *testing.T) {
	transporttest.Leaks(t)
	dir := t.TempDir()
	c := begin(t, command("silent", "LEFT="+dir))
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.Call(ctx, shape.Call{Verb: "x"}); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, shape.Unavailable) {
		t.Errorf("the call: %v", err)
	}
	if err := ask(c); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a later call: %v", err)
	}
	reexec.Eventually(t, "it has ended", func() bool { return !reexec.Running(c.PID()) })
}

// TestCloseWrite: a child that is told that nothing more comes answers what it was asked, and its end is no fault (PIPE-3).
func TestCloseWrite(t *testing.T) {
	transporttest.Leaks(t)
	c := begin(t, command("serve"))
	answered := make(chan error)
	go func() {
		_, err := transport.Call[string](context.Background(), c, "big", 1<<20)
		answered <- err
	}()
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	c.CloseWrite()
	if err := ask(c); err == nil {
		t.Error("a call after CloseWrite succeeded")
	}
	reexec.Eventually(t, "it has ended", func() bool { return !reexec.Running(c.PID()) })
	<-c.Done()
	if err := c.Err(); err != nil {
		t.Errorf("Err: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// TestItSpeaksFirst: with a Handler what a child sends is taken before anybody has called it.
func TestItSpeaksFirst(t *testing.T) {
	dir := t.TempDir()
	transporttest.Leaks(t)
	heard := make(chan string, 1)
	cmd := command("stubborn", "LEFT="+dir)
	cmd.Handler, cmd.Grace = ears(heard), 10*time.Millisecond
	c := begin(t, cmd)
	if got := <-heard; got != "up" {
		t.Errorf("heard %q", got)
	}
	c.Close()
}

// ears hears the names of events.
type ears chan<- string

func (e ears) Event(_ context.Context, ev shape.Event) { e <- ev.Name }
func (e ears) Call(context.Context, shape.Call) (shape.Rows, error) {
	return shape.Rows{}, shape.Refused.Errorf("nothing is answered here")
}

// TestInheritance: a child has three descriptors, which block, and none of another child's (PIPE-4, ARGV-5).
func TestInheritance(t *testing.T) {
	transporttest.Leaks(t)
	others := []*pipe.Child{begin(t, command("serve")), begin(t, command("serve"))}
	plain := reexec.Run(t, "\n", "descriptors") // with what this test has itself inherited, and the runtime's own
	for range 2 {                               // the second beside one more
		c := begin(t, command("descriptors"))
		got, err := transport.Call[string](context.Background(), c, "x")
		if err != nil || !strings.HasPrefix(got[0], "0 false, 1 false, 2 false") || !strings.Contains(plain.Out, `["`+got[0]+`"]`) {
			t.Errorf("descriptors %q, %v; others have %q", got, err, plain.Out)
		}
	}
	for _, c := range others {
		if err := ask(c); !errors.Is(err, shape.Refused) {
			t.Errorf("another child: %v", err)
		}
	}
}

// TestManyChildren: 200 times started and closed; no zombie, no descriptor and no goroutine is left (PIPE-4).
func TestManyChildren(t *testing.T) {
	transporttest.Leaks(t)
	cycles := 200
	if testing.Short() || raceDetector {
		cycles = 40
	}
	var all sync.WaitGroup
	work := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for range work {
				c, err := pipe.Start(context.Background(), command("serve"))
				if err != nil {
					t.Error(err)
					continue
				}
				if got, err := transport.Call[string](context.Background(), c, "door"); err != nil || got[0] != "pipe" {
					t.Errorf("%q, %v", got, err)
				}
				if err := c.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			}
		})
	}
	for i := range cycles {
		work <- i
	}
	close(work)
	all.Wait()
}

// TestCannotStart: nothing is left of a child that could not be started (FAULT-4).
func TestCannotStart(t *testing.T) {
	transporttest.Leaks(t)
	for _, path := range []string{"/there/is/nothing", "no-such-program-in-path", os.TempDir()} {
		_, err := pipe.Start(context.Background(), pipe.Command{Path: path})
		var e *shape.Error
		if !errors.As(err, &e) || e.Fault != shape.Unavailable || e.Peer != path || !strings.HasPrefix(e.Text, "it cannot be started: ") {
			t.Errorf("%s: %v", path, err)
		}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(io.ErrNoProgress)
	if _, err := pipe.Start(ctx, command("serve")); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("with a context that has ended: %v", err)
	}
}
