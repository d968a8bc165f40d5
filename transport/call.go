package transport

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"

	"github.com/kith-wire/kith/internal/buffers"
	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport/internal/frame"
	"github.com/kith-wire/kith/transport/internal/stream"
)

// Calls of ours that may be outstanding on one connection; more callers wait.
const (
	callsOut     = 256
	callBytesOut = 1 << 20 // or one larger call
)

// callState is the calling side. Its field of the Peer is guarded by mu.
type callState struct {
	out    []*waiter // sent and not answered: replies pair with them by position (PIPE-1)
	bytes  int
	queue  []*waiter // wait for room among them
	free   []*waiter // for the next calls, until the connection rests
	closed bool      // CloseWrite

	// The leader's: what askAlone is to send, and the func that does, which is made once.
	alone      *waiter
	aloneBytes *[]byte
	sendAlone  func()
}

func (c *callState) waiting() bool { return len(c.out) > 0 }

// pending is waiting with the calls that wait for room.
func (c *callState) pending() bool { return c.waiting() || len(c.queue) > 0 }

var scratch = sync.Pool{New: func() any { return new([]byte) }}

// putScratch keeps a buffer for the next call or event.
func putScratch(buf *[]byte) {
	if cap(*buf) > outKeep {
		buffers.Put(*buf)
		*buf = nil
	}
	scratch.Put(buf)
}

// Call calls the peer and waits for its reply; the rows own their bytes. The error is a [*shape.Error]. Where ctx ends
// first the connection is closed (CLIENT-1). What is refused before a byte has left is Refused and not Said.
func (p *Peer) Call(ctx context.Context, call shape.Call) (shape.Rows, error) {
	rows, from, err := p.roundTrip(ctx, call)
	if err != nil {
		return shape.Rows{}, p.callError(call.Verb, err)
	}
	defer from.Release()
	return rows.Clone(), nil
}

// CallHeld implements [Holder].
func (p *Peer) CallHeld(ctx context.Context, c Caller, call shape.Call) (shape.Rows, Held, error) {
	if c != Caller(p) {
		return shape.Rows{}, nil, nil
	}
	rows, from, err := p.roundTrip(ctx, call)
	if err != nil {
		return shape.Rows{}, nil, p.callError(call.Verb, err)
	}
	return rows, from, nil
}

// callError says whose error it is.
func (p *Peer) callError(verb string, err error) error {
	e := *asError(err)
	if e.Verb == "" {
		e.Verb = verb
	}
	if e.Peer == "" {
		e.Peer = p.cfg.Name
	}
	return &e
}

// roundTrip returns the rows of the reply, which are good until the Chunk is released.
func (p *Peer) roundTrip(ctx context.Context, call shape.Call) (shape.Rows, *frame.Chunk, error) {
	if !p.WayBack() {
		return shape.Rows{}, nil, p.noWayBack()
	}
	if err := ctx.Err(); err != nil {
		return shape.Rows{}, nil, ended(ctx)
	}
	from := PeerFrom(ctx)
	if from != nil {
		call.More = call.More.With("within", yes())
	}
	buf := scratch.Get().(*[]byte)
	defer putScratch(buf)
	var err error
	if *buf, err = p.encodeCall((*buf)[:0], call); err != nil {
		return shape.Rows{}, nil, err
	}
	if ctx.Done() != nil && ctx != p.Context() {
		stop := context.AfterFunc(ctx, func() { p.fail(ended(ctx)) })
		defer stop()
	}
	_, has := ctx.Deadline()
	return p.wait(buf, !has, from == p)
}

// ended is the error of a call whose context ended first.
func ended(ctx context.Context) error {
	return shape.Unavailable.Errorf("no reply: %w", context.Cause(ctx))
}

func (p *Peer) encodeCall(b []byte, call shape.Call) ([]byte, error) {
	start := len(b)
	b, err := call.Append(frame.Start(b, p.kind()), p.cfg.Encoding, p.cfg.Limits)
	if err != nil {
		return b, err
	}
	size := len(b) - start
	if p.framing == Lengths {
		size -= frame.HeadLen
	}
	if size > p.cfg.Limits.Frame {
		return b, shape.Refused.Errorf("the call is %d bytes and the cap is %d", size, p.cfg.Limits.Frame)
	}
	return frame.End(b, start, p.kind()), nil
}

// wait sends a call and returns its reply, or why there is none. What is in buf after that is of no use.
func (p *Peer) wait(buf *[]byte, timed, inside bool) (shape.Rows, *frame.Chunk, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.refused(inside); err != nil {
		return shape.Rows{}, nil, err
	}
	w := p.calls.waiter()
	w.size, w.timed, w.since = len(*buf), timed, p.clock.now
	if p.ask(w, buf, inside); w.err != nil { // its place in the queue may still have to be used up
		return shape.Rows{}, nil, w.err
	}
	rows, refusal, from := w.item.msg.Rows, w.item.msg.Refusal, w.item.from
	p.calls.putBack(w)
	if refusal != nil {
		from.Release()
		return shape.Rows{}, nil, refusal
	}
	return rows, from, nil
}

// ask sends a call and returns when it has its reply or has failed. mu is held, and not while it waits.
func (p *Peer) ask(w *waiter, buf *[]byte, inside bool) {
	p.watchClock()
	if !p.enqueue(w) {
		return
	}
	w.inner = inside && p.serving.call
	if !p.calls.waiting() && p.canLead() && !p.read.ending && !p.calls.closed {
		p.askAlone(w, buf)
	}
	switch {
	case w.sent:
	case p.ended || p.read.eof:
		w.err = p.lateError()
		return
	case p.calls.closed:
		w.err = errSaidAll
		return
	default:
		p.send(w, buf)
	}
	for !w.done {
		p.leadOrWait(w.wake)
	}
}

// askAlone sends the only call there is once what has come before has been read, so that it does not go out on a connection that has
// ended, and does not take for its reply what came before it (CLIENT-3); and reads on. Where something had come, the call is left
// to be sent. mu is held as for lead.
func (p *Peer) askAlone(w *waiter, buf *[]byte) {
	p.read.leading = true
	p.calls.alone, p.calls.aloneBytes = w, buf
	if p.calls.sendAlone == nil {
		p.calls.sendAlone = p.sendAlone
	}
	p.mu.Unlock()
	n, err := stream.ReadAfter(p.str, &p.in, p.calls.sendAlone)
	p.calls.alone, p.calls.aloneBytes = nil, nil // before the lead is given away, and with it what is the leader's
	p.took(n, err)
}

// sendAlone is called once nothing is there to be read.
func (p *Peer) sendAlone() {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.ended:
	case p.calls.closed:
		p.str.Interrupt() // the read that follows has nothing to wait for
	default:
		p.send(p.calls.alone, p.calls.aloneBytes)
	}
}

// send sends a call: its place among those that wait and its place in what is written are taken at once. mu is held.
func (p *Peer) send(w *waiter, buf *[]byte) {
	p.calls.out = append(p.calls.out, w)
	p.calls.bytes += w.size
	w.sent = true
	*buf = p.write.take(*buf)
	if len(p.calls.out) > 1 { // others call as well: their bytes go in one write
		p.mu.Unlock()
		runtime.Gosched()
		p.mu.Lock()
	}
	p.flush()
}

// lateError is what a call is told whose connection turns out to have ended. mu is held.
func (p *Peer) lateError() error {
	if p.read.endCause != nil {
		return p.read.endCause
	}
	return p.closedError()
}

// leadOrWait reads if nobody does, and else waits until there is reason to look again. mu is held, and not meanwhile.
func (p *Peer) leadOrWait(wake chan struct{}) {
	if p.canLead() {
		p.lead()
		return
	}
	p.mu.Unlock()
	<-wake
	p.mu.Lock()
}

// refused tells why a call may not even begin: nothing has left (CLIENT-6). mu is held.
func (p *Peer) refused(inside bool) error {
	switch {
	case p.ended || p.read.eof:
		return p.closedError()
	case p.calls.closed:
		return errSaidAll
	case inside && p.serving.call && p.serving.within && p.calls.waiting():
		return shape.Refused.Errorf("the call would wait for itself: its handler serves a call back, and replies come in order")
	case inside && p.serving.call && p.inbox.within():
		return errBothWait
	}
	return nil
}

// errSaidAll is what is refused after CloseWrite: nothing of it has left.
var errSaidAll = &shape.Error{Fault: shape.Refused, Text: "this end has said that nothing more comes"}

// errBothWait is what a handler is told that calls back a peer whose handler does the same (CLIENT-6).
var errBothWait = &shape.Error{
	Fault: shape.Refused, Text: "the call would wait for itself: both ends call back from inside a handler",
}

// closedError is what a call on an ended connection is told (CLIENT-1). mu is held.
func (p *Peer) closedError() error {
	cause := p.err
	if cause == nil {
		cause = p.read.endCause
	}
	var e *shape.Error
	switch {
	case cause == nil:
		return shape.Unavailable.Errorf("the connection has ended")
	case errors.As(cause, &e) && (e.Said || e == errClosed):
		return e
	}
	return shape.Unavailable.Errorf("the connection has ended: %w", cause)
}

// enqueue waits for room among the calls outstanding; false when the call failed meanwhile. mu is held.
func (p *Peer) enqueue(w *waiter) bool {
	if len(p.calls.queue) > 0 || !p.hasRoom(w) {
		p.calls.queue = append(p.calls.queue, w)
		for !w.done && (p.calls.queue[0] != w || !p.hasRoom(w)) {
			p.leadOrWait(w.wake)
		}
		if w.done {
			return false
		}
		p.calls.queue = slices.Delete(p.calls.queue, 0, 1)
		p.wakeQueue()
	}
	return true
}

func (p *Peer) hasRoom(w *waiter) bool {
	n := len(p.calls.out)
	return n == 0 || n < callsOut && p.calls.bytes+w.size <= callBytesOut
}

func (p *Peer) wakeQueue() {
	if len(p.calls.queue) > 0 {
		p.calls.queue[0].look()
	}
}

// reply gives a reply to the oldest call, or ends a connection that has none (CLIENT-3). mu is held.
func (p *Peer) reply(it *item) {
	if !p.calls.waiting() {
		why := it.msg.Refusal
		if why == nil || !why.Said {
			why = shape.Malformed.Errorf("a reply came that nobody waited for")
		}
		it.from.Release()
		p.failLocked(why)
		return
	}
	w := p.calls.out[0]
	p.calls.out = slices.Delete(p.calls.out, 0, 1) // at most callsOut, and the room is used again
	p.calls.bytes -= w.size
	if w.done { // its caller has gone; only its place was left
		it.from.Release()
	} else {
		w.item = *it
		p.settle(w)
	}
	p.wakeQueue()
}

// settle ends the wait of a call. mu is held.
func (p *Peer) settle(w *waiter) {
	w.done = true
	w.look()
}

// failCalls fails every call that waits. mu is held.
func (p *Peer) failCalls(cause error) {
	for _, list := range [][]*waiter{p.calls.out, p.calls.queue} {
		for _, w := range list {
			if !w.done {
				w.err = cause
				p.settle(w)
			}
		}
	}
	p.calls.out, p.calls.queue, p.calls.bytes = nil, nil, 0
}

// refuseInner fails the calls back of our handler: the peer's handler waits for us as well. Their places are kept. mu is held.
func (p *Peer) refuseInner() {
	for _, w := range p.calls.out {
		if w.inner && !w.done {
			w.err = errBothWait
			p.settle(w)
		}
	}
}

// yes is the value of within, made by the first call that has one: a program that is run for one call has none.
var yes = sync.OnceValue(func() shape.Raw {
	value, _ := shape.Limits{}.Value([]byte("true"), shape.JSON)
	return value
})

// isWithin reports whether a call says that it was made from inside a handler (CLIENT-6).
func isWithin(call shape.Call) bool {
	value := call.More.Get("within")
	if value.IsZero() {
		return false
	}
	var within bool
	return value.Decode(&within) == nil && within
}
