package rpc

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/internal/frame"
	"github.com/kith-wire/kith/transport/internal/stream"
	"github.com/kith-wire/kith/transport/socket"
)

// Client is a connection to a daemon. It is safe for use from many goroutines, whose calls are outstanding at the same time. One of
// the callers that wait reads for all.
type Client struct {
	cfg     transport.Config
	conn    net.Conn
	str     stream.Stream
	in      frame.Input // the leader's
	batch   []answer    // the leader's: what one read brought
	done    chan struct{}
	last    atomic.Uint64           // the id that was used last
	upgrade atomic.Pointer[pending] // nothing behind its response is ours; it changes with mu held

	mu      sync.Mutex
	out     outbox
	calls   map[uint64]*pending
	free    []*pending // for the next calls
	lost    int        // of calls: whose caller has gone
	heir    *pending   // was woken to lead
	clock   clock
	leading bool
	taken   bool
	ended   bool
	err     error
}

const defaultTimeout = 30 * time.Second

// Dial connects to the daemon that listens at path, as [socket.Dial] does.
func Dial(ctx context.Context, path string, cfg transport.Config) (*Client, error) {
	conn, cfg, err := socket.DialConn(ctx, path, cfg)
	if err != nil {
		return nil, err
	}
	return Connect(conn, cfg), nil
}

// Connect makes a client of a connection, which is its to close. Of cfg it uses Name, Limits (Frame defaults to 16 MiB, Depth to
// 128), Stall and Timeout.
func Connect(conn net.Conn, cfg transport.Config) *Client {
	cfg.Limits = limits(cfg.Limits)
	if cfg.Stall == 0 {
		cfg.Stall = defaultStall
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = defaultTimeout
	}
	c := &Client{cfg: cfg, conn: conn, str: stream.Of(conn), done: make(chan struct{}), calls: map[uint64]*pending{}}
	c.in = frame.NewInput(frame.LittleEndian, cfg.Limits.Frame)
	c.out = outbox{mu: &c.mu, str: c.str, stall: cfg.Stall, failed: c.writeFailed, moved: func() {}}
	return c
}

// Name returns the daemon's name as errors give it.
func (c *Client) Name() string { return c.cfg.Name }

// Done is closed once the connection has ended.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err returns why the connection ended, and nil before that.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close closes the connection and returns at once; calls that wait fail.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fail(shape.Unavailable.Errorf("the connection is closed: %w", os.ErrClosed))
	return nil
}

// Call sends a request whose method is the verb of call, and waits for its response. Its one argument, or those by name, are the
// params; none are {}. Of the result null is no rows, the elements of a list are rows, and anything else is one (RPC-6). The rows own
// their bytes.
//
// The error is a [*shape.Error]: said by the daemon with its Code, and the fault that [Code.Fault] has for it; else inferred, and its
// cause one of [*TooLarge], [*MalformedJSON], [*EndOfStream] and [*IOError] where a frame was to blame. Where ctx ends first, or the
// call has waited 30 s without a deadline, only this call ends: its id stays reserved until its late response, which is dropped. What
// is refused before a byte has left is Refused and not Said.
func (c *Client) Call(ctx context.Context, call shape.Call) (shape.Rows, error) {
	rows, from, _, err := c.roundTrip(ctx, call, false)
	if err != nil {
		return shape.Rows{}, err
	}
	defer from.Release()
	return rows.Clone(), nil
}

// CallHeld implements [transport.Holder].
func (c *Client) CallHeld(ctx context.Context, caller transport.Caller, call shape.Call) (shape.Rows, transport.Held, error) {
	if caller != transport.Caller(c) {
		return shape.Rows{}, nil, nil
	}
	rows, from, _, err := c.roundTrip(ctx, call, false)
	if err != nil {
		return shape.Rows{}, nil, err
	}
	return rows, from, nil
}

// Upgrade makes a call whose response hands the connection over (RPC-7): it returns the rows of the acknowledgement and the connection
// from the byte behind it on, which is the caller's to close. No other call may be outstanding, and none can be made from then on. Where
// the error is one that the daemon said the client goes on as before.
func (c *Client) Upgrade(ctx context.Context, call shape.Call) (shape.Rows, net.Conn, error) {
	rows, from, conn, err := c.roundTrip(ctx, call, true)
	if err != nil {
		return shape.Rows{}, nil, err
	}
	defer from.Release()
	return rows.Clone(), conn, nil
}

// roundTrip returns the rows of the response, which are good until the Chunk is released.
func (c *Client) roundTrip(ctx context.Context, call shape.Call, upgrade bool) (shape.Rows, *frame.Chunk, net.Conn, error) {
	p := c.newCall()
	_, has := ctx.Deadline()
	p.timed = !has
	stop := func() bool { return true }
	if ctx.Done() != nil {
		stop = context.AfterFunc(ctx, func() { c.giveUp(p, context.Cause(ctx)) })
	}
	conn, err := c.wait(ctx, p, call, upgrade)
	rows, from := p.rows, p.from
	if stop() && !p.gone {
		c.putBack(p)
	}
	if err != nil {
		return shape.Rows{}, nil, nil, c.callError(call.Verb, err)
	}
	return rows, from, conn, nil
}

// wait sends a call and returns once it has its response or has failed.
func (c *Client) wait(ctx context.Context, p *pending, call shape.Call, upgrade bool) (net.Conn, error) {
	if ctx.Err() != nil {
		return nil, shape.Unavailable.Errorf("no response: %w", context.Cause(ctx))
	}
	buf := scratch.Get().(*[]byte)
	defer scratch.Put(buf)
	id := c.last.Add(1)
	b, err := appendRequest((*buf)[:0], id, call, c.cfg.Limits)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err = c.refused(p, upgrade, err); err != nil {
		c.last.CompareAndSwap(id, id-1)
		return nil, err
	}
	p.id = id
	*buf = c.send(p, b, upgrade)
	for !p.done {
		if c.leading {
			c.mu.Unlock()
			<-p.wake
			c.mu.Lock()
		} else {
			c.lead()
		}
	}
	c.passLead(p)
	if upgrade {
		c.upgrade.Store(nil)
	}
	if p.err != nil || !upgrade {
		return nil, p.err
	}
	rest := c.in.Unread()
	c.in.Forget()
	c.conn.SetReadDeadline(time.Time{}) // a call that was given up may have set one
	return &upgraded{Conn: c.conn, rest: rest, closed: func() { c.Close() }}, nil
}

// closedError is what a call on an ended connection is told (CLIENT-1).
func (c *Client) closedError() error {
	var e *shape.Error
	if errors.As(c.err, &e) && (e.Said || errors.Is(e, os.ErrClosed)) {
		return e
	}
	return shape.Unavailable.Errorf("the connection has ended: %w", c.err)
}

// callError says whose error it is.
func (c *Client) callError(verb string, err error) error {
	var e *shape.Error
	if !errors.As(err, &e) {
		e = shape.Unavailable.Errorf("%w", err)
	}
	one := *e
	if one.Verb == "" {
		one.Verb = verb
	}
	if one.Peer == "" {
		one.Peer = c.cfg.Name
	}
	return &one
}

// inputEnded fails every call with how input ended. mu is held.
func (c *Client) inputEnded(err error) {
	if err != io.EOF {
		c.fail(shape.Unavailable.Errorf("%w", &IOError{err}))
		return
	}
	end := &EndOfStream{}
	if f, cut := c.in.Rest(); cut {
		end.Got, end.Size = f.Got, f.Size
	}
	c.fail(shape.Unavailable.Errorf("%w before the response", end))
}

// writeFailed lets callers who wait read first what the daemon said before it closed (CLIENT-3). mu is held.
func (c *Client) writeFailed(err error) {
	var stalled *stalledError
	if len(c.calls) == c.lost || errors.As(err, &stalled) {
		c.fail(shape.Unavailable.Errorf("%w", &IOError{err}))
	}
}

// fail ends the connection now. The first cause is the cause for everyone. mu is held.
func (c *Client) fail(cause error) {
	if c.ended {
		return
	}
	c.ended, c.err = true, cause
	c.clock.stop()
	for id, p := range c.calls {
		delete(c.calls, id)
		if !p.done {
			c.settle(p, cause)
		}
	}
	go func() {
		c.str.Close()
		close(c.done)
	}()
}
