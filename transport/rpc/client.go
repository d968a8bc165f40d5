package rpc

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
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
	cfg  transport.Config
	conn net.Conn
	str  stream.Stream
	in   frame.Input // the leader's
	done chan struct{}

	mu      sync.Mutex
	out     outbox
	calls   map[uint64]*pending
	last    uint64 // the id that was used last
	lost    int    // of calls: whose caller has gone
	leading bool
	upgrade *pending // nothing behind its response is ours
	taken   bool
	ended   bool
	err     error
}

// pending is one call.
type pending struct {
	id   uint64
	wake chan struct{} // look again
	done bool          // rows or err is there
	gone bool          // its caller does not wait any more
	rows shape.Rows
	err  error
}

// lostMax is how many calls may be given up and not answered before the connection is.
const lostMax = 1024

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
	rows, _, err := c.roundTrip(ctx, call, false)
	return rows, err
}

// Upgrade makes a call whose response hands the connection over (RPC-7): it returns the rows of the acknowledgement and the connection
// from the byte behind it on, which is the caller's to close. No other call may be outstanding, and none can be made from then on. Where
// the error is one that the daemon said the client goes on as before.
func (c *Client) Upgrade(ctx context.Context, call shape.Call) (shape.Rows, net.Conn, error) {
	return c.roundTrip(ctx, call, true)
}

func (c *Client) roundTrip(ctx context.Context, call shape.Call, upgrade bool) (shape.Rows, net.Conn, error) {
	if c.cfg.Timeout > 0 {
		if _, has := ctx.Deadline(); !has {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeoutCause(ctx, c.cfg.Timeout, errTimeout)
			defer cancel()
		}
	}
	p := &pending{wake: make(chan struct{}, 1)}
	if ctx.Done() != nil {
		stop := context.AfterFunc(ctx, func() { c.giveUp(p, ctx) })
		defer stop()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.send(ctx, p, call, upgrade); err != nil {
		return shape.Rows{}, nil, c.callError(call.Verb, err)
	}
	for !p.done {
		if c.leading {
			c.mu.Unlock()
			<-p.wake
			c.mu.Lock()
		} else {
			c.lead()
		}
	}
	if upgrade {
		c.upgrade = nil
	}
	switch {
	case p.err != nil:
		return shape.Rows{}, nil, c.callError(call.Verb, p.err)
	case !upgrade:
		return p.rows, nil, nil
	}
	rest := c.in.Unread()
	c.in.Forget()
	c.conn.SetReadDeadline(time.Time{}) // a call that was given up may have set one
	return p.rows, &upgraded{Conn: c.conn, rest: rest, closed: func() { c.Close() }}, nil
}

var errTimeout = errors.New("the time for a call is over")

// send takes the next id and writes the request. mu is held.
func (c *Client) send(ctx context.Context, p *pending, call shape.Call, upgrade bool) error {
	switch {
	case ctx.Err() != nil:
		return shape.Unavailable.Errorf("no response: %w", context.Cause(ctx))
	case c.ended:
		return c.closedError()
	case c.taken || c.upgrade != nil:
		return shape.Refused.Errorf("the connection is being handed over, and carries no more calls")
	case upgrade && len(c.calls) > c.lost:
		return shape.Refused.Errorf("the connection is to be handed over, and %d calls are outstanding on it", len(c.calls)-c.lost)
	}
	out, err := appendRequest(c.out.out, c.last+1, call, c.cfg.Limits)
	if err != nil {
		return err
	}
	c.last++
	p.id = c.last
	c.calls[p.id] = p
	if upgrade {
		c.upgrade = p
	}
	c.out.out = out
	c.out.flush()
	return nil
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

// giveUp ends a call whose caller waits no longer.
func (c *Client) giveUp(p *pending, ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.done {
		return
	}
	p.gone = true
	c.settle(p, shape.Rows{}, shape.Unavailable.Errorf("no response: %w", context.Cause(ctx)))
	if c.calls[p.id] == p {
		c.lost++
	}
	switch {
	case c.upgrade == p: // nobody knows whose the bytes are that come now
		c.fail(p.err)
	case c.lost > lostMax:
		c.fail(shape.Unavailable.Errorf("%d calls were given up and are not answered", c.lost))
	case c.leading: // perhaps by this call
		c.str.Interrupt()
	}
}

// settle ends the wait of a call. mu is held.
func (c *Client) settle(p *pending, rows shape.Rows, err error) {
	p.done, p.rows, p.err = true, rows, err
	p.look()
}

func (p *pending) look() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// lead reads once, hands out what came, and gives the lead away. mu is held, and not while it reads.
func (c *Client) lead() {
	c.leading = true
	c.mu.Unlock()
	n, err := c.str.ReadNext(&c.in)
	c.in.Took(n)
	c.mu.Lock()
	c.leading = false
	for err == nil && !c.taken && !c.ended {
		f, is := c.in.Next()
		if !is {
			break
		}
		c.handOut(f)
	}
	if err != nil && !errors.Is(err, stream.ErrInterrupted) {
		c.inputEnded(err)
	}
	for _, p := range c.calls {
		if !p.done {
			p.look()
			break
		}
	}
}

// handOut gives a response to its call. mu is held.
func (c *Client) handOut(f frame.Frame) {
	if f.Bad != nil {
		c.fail(badFrame(f, c.cfg.Limits.Frame))
		return
	}
	res, err := parseResponse(f.Body, c.cfg.Limits)
	p := c.calls[res.id]
	switch fault, failed := res.payload.(failure); {
	case err != nil && p != nil && res.payload == nil && !res.whole.IsZero(): // both or neither: whose it is can be told
		c.forget(p)
		c.settle(p, shape.Rows{}, shape.Malformed.Errorf("%w", &MalformedJSON{err}))
	case err != nil:
		c.fail(shape.Malformed.Errorf("%w", &MalformedJSON{err}))
	case p == nil && failed && res.id == 0:
		c.fail(c.said(fault, res.whole)) // of no request of ours: it is about the connection
	case p == nil:
		c.fail(shape.Malformed.Errorf("a response came with id %d, and no request of it is outstanding", res.id))
	case failed:
		c.forget(p)
		c.settle(p, shape.Rows{}, c.said(fault, res.whole))
	default:
		c.forget(p)
		rows := res.payload.(result).Rows().Clone()
		if c.cfg.Limits.KeepReplies {
			rows = rows.WithReply(res.whole.Clone())
		}
		c.taken = c.taken || c.upgrade == p
		c.settle(p, rows, nil)
	}
}

// forget frees the id of a call that is answered.
func (c *Client) forget(p *pending) {
	delete(c.calls, p.id)
	if p.gone {
		c.lost--
	}
}

// said is the error that a response holds.
func (c *Client) said(f failure, whole shape.Raw) *shape.Error {
	e := &shape.Error{Fault: f.code.Fault(), Code: string(f.code), Text: f.message, Said: true}
	if e.Text == "" {
		e.Text = "no reason given"
	}
	if c.cfg.Limits.KeepReplies {
		e.Reply = whole.Clone()
	}
	return e
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
	for id, p := range c.calls {
		delete(c.calls, id)
		if !p.done {
			c.settle(p, shape.Rows{}, cause)
		}
	}
	go func() {
		c.str.Close()
		close(c.done)
	}()
}
