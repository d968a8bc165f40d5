package socket

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
)

// Bounds of a dial.
const (
	dialTime = 2 * time.Second       // without a deadline of ctx (CLIENT-4)
	dialWait = 20 * time.Millisecond // between tries while the server's queue is full
)

// Dial connects to the program that listens at path. It gives up when ctx ends, or after 2 s where ctx has no deadline; once
// there, the connection does not end with ctx. The error is an Unavailable [*shape.Error] that names path and wraps the
// system's error. The peer's Name is path unless cfg has one, its Cred that of the process which listens. A connection says
// that somebody listens, not that anybody answers: ask verbs for that (CLIENT-5).
func Dial(ctx context.Context, path string, cfg transport.Config) (*transport.Peer, error) {
	conn, cfg, err := DialConn(ctx, path, cfg)
	if err != nil {
		return nil, err
	}
	return transport.Connect(context.WithoutCancel(ctx), conn, transport.Lengths, cfg), nil
}

// DialConn does what [Dial] does, for another [Wire]: the connection is the caller's to close, and the config says who listens.
func DialConn(ctx context.Context, path string, cfg transport.Config) (*net.UnixConn, transport.Config, error) {
	if cfg.Name == "" {
		cfg.Name = path
	}
	if err := checkPath(path); err != nil {
		return nil, cfg, dialError(cfg.Name, path, shape.Unavailable.Errorf("%w", err))
	}
	start := time.Now()
	conn, err := connectInTurn(ctx, path)
	if err != nil {
		return nil, cfg, dialError(cfg.Name, path, whyNot(ctx, err, time.Since(start)))
	}
	cred, err := credOf(conn)
	if err == nil && cfg.Cred == nil {
		cfg.Cred = &cred
	}
	cfg.Door = transport.Socket
	return conn, cfg, nil
}

// connectInTurn waits while the server has more callers than its queue holds: no byte has left, so it may try again.
func connectInTurn(ctx context.Context, path string) (*net.UnixConn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	conn, err := connect(path)
	if !errors.Is(err, unix.EAGAIN) {
		return conn, err
	}
	if _, has := ctx.Deadline(); !has {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, dialTime)
		defer cancel()
	}
	for errors.Is(err, unix.EAGAIN) {
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(dialWait):
		}
		conn, err = connect(path)
	}
	return conn, err
}

// connect tries once. That waits for nobody: the kernel connects at once, or says why it does not.
func connect(path string) (*net.UnixConn, error) {
	return net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
}

// whyNot words why nobody was reached.
func whyNot(ctx context.Context, err error, waited time.Duration) *shape.Error {
	waited = waited.Round(time.Millisecond)
	cause := err
	var op *net.OpError
	if errors.As(err, &op) {
		cause = op.Err // the rest of its text is the path again
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return shape.Unavailable.Errorf("no connection: %w", context.Cause(ctx))
	case errors.Is(err, fs.ErrNotExist):
		return shape.Unavailable.Errorf("nothing is listening, there is no such file: %w", cause)
	case errors.Is(err, unix.ECONNREFUSED):
		return shape.Unavailable.Errorf("nothing is listening: %w", cause)
	case errors.Is(err, unix.EAGAIN):
		return shape.Unavailable.Errorf("its server accepted nobody within %v and its queue is full: %w", waited, cause)
	}
	return shape.Unavailable.Errorf("no connection after %v: %w", waited, cause)
}

// dialError says whom, and where unless that is its name.
func dialError(name, path string, why *shape.Error) error {
	why.Peer = name
	if name != path {
		why.Text = path + ": " + why.Text
	}
	return why
}
