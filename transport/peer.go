package transport

import (
	"context"
	"io"
	"os"
	"sync"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport/internal/frame"
	"github.com/kith-wire/kith/transport/internal/stream"
)

// Peer is the program at the other end of a connection: what a dialer gets, and what a [Handler] finds in its context.
// It is safe for use from many goroutines.
type Peer struct {
	cfg     Config
	framing Framing
	str     stream.Stream  // nil at the cli: no way back
	ctx     handlerContext // what handlers are given
	cancel  context.CancelFunc
	done    chan struct{}
	in      frame.Input // the leader's
	batch   []item      // the leader's: what one read brought
	tick    *time.Timer // made once the first clock is needed
	hurry   *time.Timer // made once a reply has waited for company

	mu      sync.Mutex
	read    readState
	calls   callState
	inbox   inbox
	write   writeState
	serving serveState
	clock   clockState
	pidfd   *os.File // once somebody has asked
	parts   int      // the descriptor and the serve loop, as long as they are there
	ended   bool     // nothing moves any more
	err     error    // why: the first cause
}

// Connect makes a connection of a stream of bytes, which is its to close. A connection of package net is read and written best;
// a stream without read deadlines is copied through memory. Where cfg has a [Handler] it is served until input
// ends, the connection fails or ctx does; without one, what comes is read when somebody calls.
func Connect(ctx context.Context, rw io.ReadWriteCloser, f Framing, cfg Config) *Peer {
	if cfg.Limits.Frame <= 0 && f == Lengths {
		cfg.Limits.Frame = frameLengths
	}
	cfg.Limits = cfg.Limits.Defaults()
	if cfg.Stall == 0 {
		cfg.Stall = defaultStall
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = defaultCallTimeout
	}
	if f == Lines {
		cfg.Encoding = shape.JSON
	}
	p := &Peer{cfg: cfg, framing: f, str: stream.Of(rw), done: make(chan struct{}), parts: 1}
	p.serving.wake.L = &p.mu
	if cfg.Handler != nil {
		p.parts++
		p.read.leading, p.read.byServe = true, true
	}
	p.in = frame.NewInput(p.kind(), cfg.Limits.Frame)
	p.write.enc = cfg.Encoding
	p.start(ctx)
	if cfg.Handler != nil {
		go p.serve()
	}
	return p
}

func (p *Peer) kind() frame.Kind { return frame.Kind(p.framing) }

// Alone makes the peer of a program that only asks, and has no way back: its Call and Emit are refused. It ends with ctx and with
// Close. An adapter makes one of whoever it answers by a wire of its own.
func Alone(ctx context.Context, cfg Config) *Peer {
	p := &Peer{cfg: cfg, done: make(chan struct{}), parts: 1}
	p.start(ctx)
	return p
}

// start gives the peer the context its handlers see, and ends the connection when ctx does.
func (p *Peer) start(ctx context.Context) {
	inner, cancel := context.WithCancel(unended(ctx))
	p.ctx, p.cancel = handlerContext{inner, p}, cancel
	if ctx.Done() != nil {
		stop := context.AfterFunc(ctx, func() { p.fail(context.Cause(ctx)) })
		context.AfterFunc(inner, func() { stop() })
	}
}

// unended is ctx without its end.
func unended(ctx context.Context) context.Context {
	if ctx.Done() == nil {
		return ctx
	}
	return context.WithoutCancel(ctx)
}

// handlerContext carries the peer without a wrapper per call.
type handlerContext struct {
	context.Context
	peer *Peer
}

type peerKey struct{}

func (c *handlerContext) Value(key any) any {
	if key == (peerKey{}) {
		return c.peer
	}
	return c.Context.Value(key)
}

// PeerFrom returns the peer whose call or event a [Handler] is serving; never nil there. Outside a handler it is nil.
func PeerFrom(ctx context.Context) *Peer {
	p, _ := ctx.Value(peerKey{}).(*Peer)
	return p
}

// Context is what a [Handler] is given: it carries the peer, and ends when the connection does.
func (p *Peer) Context() context.Context { return &p.ctx }

// WayBack reports whether the peer can be called and told of events. It cannot at the cli, nor on the daemon wire: there Call and
// Emit are refused.
func (p *Peer) WayBack() bool { return p.str != nil }

// noWayBack is what Call and Emit are refused with.
func (p *Peer) noWayBack() error {
	if p.cfg.Door == CLI {
		return shape.Refused.Errorf("a program that is run once per call has no way back to its caller")
	}
	return shape.Refused.Errorf("the wire of this connection has no way back to the caller")
}

// Door returns the door this connection is.
func (p *Peer) Door() Door { return p.cfg.Door }

// Cred returns who the kernel says the peer is; false where it does not say.
func (p *Peer) Cred() (Cred, bool) {
	if p.cfg.Cred == nil {
		return Cred{}, false
	}
	return *p.cfg.Cred, true
}

// PIDFD returns a descriptor of the peer's process, good as long as the connection is; false where there is none.
func (p *Peer) PIDFD() (int, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pidfd == nil && p.cfg.PIDFD != nil && p.parts > 0 {
		p.pidfd = p.cfg.PIDFD()
	}
	if p.pidfd == nil {
		return 0, false
	}
	return int(p.pidfd.Fd()), true
}

// Name returns the peer's name as errors give it.
func (p *Peer) Name() string { return p.cfg.Name }

// Done is closed when the connection has ended, its descriptor is closed and no handler of it runs any more.
func (p *Peer) Done() <-chan struct{} { return p.done }

// Err returns why the connection ended: nil before that, and after a clean end of input with every call answered.
func (p *Peer) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Close closes the connection and returns at once. Whatever waits fails.
func (p *Peer) Close() error {
	p.mu.Lock()
	ended := p.end(errClosed)
	p.mu.Unlock()
	if ended {
		p.shut()
	}
	return nil
}

// errClosed is the cause when this side closed.
var errClosed = &shape.Error{
	Fault: shape.Unavailable, Text: "the connection is closed: file already closed", Err: os.ErrClosed,
}

// End takes what has already arrived, the kernel's buffer included, and no more: a started frame is cut, calls that have
// wholly arrived are answered, calls of ours still waiting fail with cause, then the connection closes. It returns at once;
// Done tells when. A nil cause is end of input.
func (p *Peer) End(cause error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || p.str == nil {
		return
	}
	if !p.read.ending {
		p.read.ending, p.read.endCause = true, cause
	}
	p.str.Interrupt()
	if p.canLead() && p.cfg.Handler == nil { // nobody else would look
		p.lead()
	}
}

// fail ends the connection now. The first cause is the cause for everyone.
func (p *Peer) fail(cause error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failLocked(cause)
}

// failLocked ends the connection and closes the descriptor elsewhere, so that nothing is closed with mu held.
func (p *Peer) failLocked(cause error) {
	if p.end(cause) {
		go p.shut()
	}
}

// end wakes everyone; it reports whether the connection has just ended, and is to be shut without mu. mu is held.
func (p *Peer) end(cause error) bool {
	if p.ended {
		return false
	}
	p.ended, p.err = true, cause
	if p.tick != nil {
		p.tick.Stop()
	}
	p.failCalls(cause)
	p.inbox.clear()
	p.wakeServe()
	p.write.wakeFlushers()
	return true
}

// shut gives back what the connection holds. It is called without mu.
func (p *Peer) shut() {
	p.cancel()
	if p.str != nil {
		p.str.Close()
	}
	p.leave()
}

// leave is called once the descriptor is closed, and once the serve loop has ended; the last one ends the connection for good.
func (p *Peer) leave() {
	p.mu.Lock()
	p.parts--
	last := p.parts == 0
	if last && p.pidfd != nil {
		p.pidfd.Close()
		p.pidfd = nil
	}
	p.mu.Unlock()
	if !last {
		return
	}
	close(p.done)
	if p.cfg.Ended != nil {
		p.cfg.Ended()
	}
}

// log tells the log what nobody can be answered.
func (p *Peer) log(format string, a ...any) { logTo(p.cfg.Log, format, a...) }
