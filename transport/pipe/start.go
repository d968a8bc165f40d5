package pipe

import (
	"context"
	"io"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/internal/child"
	"github.com/kith-wire/kith/transport/internal/stream"
)

// Command is a program to hold as a child, and how to talk to it.
type Command struct {
	// Config is that of the connection. Door is set; Name defaults to Path. Explain is not called: how the child ended is said
	// instead.
	transport.Config
	Path   string        // looked up in PATH unless it holds a slash
	Args   []string      // without the program's name; nil: the one word pipe
	Dir    string        // its working directory; empty: ours
	Env    []string      // nil: ours
	Stderr io.Writer     // also gets what the child writes to stderr, and must not block; nil: only its tail is kept
	Grace  time.Duration // each step of Close waits so long; default 2 s (CLIENT-4)
}

const defaultGrace = 2 * time.Second

// Child is a program that runs at the other end of two pipes, in a process group of its own. It is the [transport.Peer] of that
// connection, and its holder's to Close.
type Child struct {
	*transport.Peer
	proc  *child.Process
	conn  *conn
	grace time.Duration
	gone  chan struct{} // the process has ended, or nothing ends it
	left  bool          // nothing does
}

// Start runs a program and connects to it. ctx is for the start alone; once it runs the child does not end with ctx. The error is an
// Unavailable [*shape.Error]: the program cannot be started. One that starts and is no program of this wire is found out by the first
// call, which its deadline bounds (CLIENT-4).
func Start(ctx context.Context, cmd Command) (*Child, error) {
	cfg := cmd.Config
	if cfg.Name == "" {
		cfg.Name = cmd.Path
	}
	if cmd.Args == nil {
		cmd.Args = []string{"pipe"}
	}
	if cmd.Grace <= 0 {
		cmd.Grace = defaultGrace
	}
	c, err := start(ctx, cmd)
	if err != nil {
		why := shape.Unavailable.Errorf("it cannot be started: %w", err)
		why.Peer = cfg.Name
		return nil, why
	}
	cfg.Door, cfg.Explain = transport.Pipe, c.explain
	c.Peer = transport.Connect(context.WithoutCancel(ctx), c.conn, transport.Lines, cfg)
	go c.watch()
	return c, nil
}

func start(ctx context.Context, cmd Command) (*Child, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	proc, err := child.Start(child.Spec{
		Path: cmd.Path, Args: cmd.Args, Dir: cmd.Dir, Env: cmd.Env, Stdin: true, Stderr: cmd.Stderr,
	})
	if err != nil {
		return nil, err
	}
	s, err := stream.Files(proc.Out, proc.In)
	if err != nil {
		proc.Kill()
		return nil, err
	}
	return &Child{
		proc: proc, grace: cmd.Grace, gone: make(chan struct{}),
		conn: &conn{Stream: s, proc: proc, closed: make(chan struct{})},
	}, nil
}

// PID returns the child's process number, which is that of its group.
func (c *Child) PID() int { return c.proc.PID() }

// Stderr returns the end of what the child has written to stderr so far, at most 16 KiB. It is read all the time, so that the child
// never waits for that.
func (c *Child) Stderr() string { return c.proc.Stderr() }

// Close ends the child: its stdin ends, after a grace its process group is sent SIGTERM, and after another SIGKILL (PIPE-4). What
// waits fails at once; what the child still writes is read and dropped, so that it can end in order. Close returns once the child is
// gone, the rest of its group with it, and always: within two times [Command].Grace and 2 s. The error says how the child ended
// where that was not with status 0, or that it did not. Close may be called again, and from anywhere.
func (c *Child) Close() error {
	c.Peer.Close()
	<-c.gone
	switch {
	case c.left:
		return shape.Unavailable.Errorf("process %d was killed and has not ended", c.PID())
	case !c.proc.Success():
		return shape.Unavailable.Errorf("it ended with %s", c.proc.Ending())
	}
	return nil
}

// CallHeld implements [transport.Holder].
func (c *Child) CallHeld(ctx context.Context, caller transport.Caller, call shape.Call) (shape.Rows, transport.Held, error) {
	if caller != transport.Caller(c) {
		return shape.Rows{}, nil, nil
	}
	return c.Peer.CallHeld(ctx, c.Peer, call)
}

// watch sees to the end of the child, however that begins.
func (c *Child) watch() {
	defer close(c.gone)
	select {
	case <-c.proc.Exited(): // somebody else may hold its stdout: what it has written is read, and no more waited for
		c.Peer.End(c.ending())
	case <-c.conn.closed:
	}
	c.left = !c.proc.Stop(c.grace)
}

// explain says why the child's stdout ended: nearly always because the child does.
func (c *Child) explain(error) error {
	if !c.conn.exits() {
		return shape.Unavailable.Errorf("it has closed its stdout and still runs")
	}
	return c.ending()
}

// ending is why there are no more replies once the child has ended; nil where it was told that nothing more comes, and ended in order.
func (c *Child) ending() error {
	if c.proc.Success() && c.conn.finished.Load() {
		return nil
	}
	return shape.Unavailable.Errorf("it ended with %s", c.proc.Ending())
}
