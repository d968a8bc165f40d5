package transport

import (
	"context"

	"github.com/kith-wire/kith/internal/buffers"
	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport/internal/frame"
)

// Bounds of what is written and not yet taken by the kernel.
const (
	eventsOut   = 1024     // events; and one frame cap of them (LIMIT-5)
	repliesOut  = 1 << 20  // bytes; beyond it no further call is served
	outKeep     = 64 << 10 // how large a buffer is kept
	companySize = 64 << 10 // bytes of replies that may wait for company
)

// writeState is what waits to be written. Its field of the Peer is guarded by mu; whoever set busy writes, without mu.
type writeState struct {
	out      []byte // whole frames
	spare    []byte // an empty buffer for the next
	busy     bool   // somebody writes, or the pump does
	pumping  bool
	flying   int // bytes that whoever is busy has taken and not written
	moved    int // tick of the last byte that moved while pumping
	enc      shape.Encoding
	events   count // in out
	aloft    count // among flying
	held     []byte
	heldN    count // in held: emitted while a call is served, whose reply comes first
	flushers []chan struct{}
	err      error // a failed write, while what was sent back is still read
	closing  bool  // CloseWrite, once all is written
}

// count is so many events of so many bytes.
type count struct{ n, bytes int }

func (c *count) add(o count) { c.n, c.bytes = c.n+o.n, c.bytes+o.bytes }

func (w *writeState) append(b []byte) {
	if w.err == nil {
		w.out = append(buffers.Room(w.out, len(b)), b...)
	}
}

// take appends what is in b, or exchanges the buffers when that saves a copy; it returns a buffer to use again.
func (w *writeState) take(b []byte) []byte {
	if w.err != nil || len(w.out) > 0 || len(b) < 4<<10 {
		w.append(b)
		return b[:0]
	}
	w.out, b = b, w.out
	return b[:0]
}

// backlog is how many bytes wait.
func (w *writeState) backlog() int { return len(w.out) + w.flying }

// flush writes what waits, unless somebody does: one try here, the rest by the pump, so that nobody who calls, answers or emits
// waits in a write. mu is held, and not while the kernel works.
func (p *Peer) flush() {
	w := &p.write
	if w.busy || len(w.out) == 0 {
		return
	}
	for len(w.out) > 0 && w.err == nil && !p.ended {
		b := p.takeOut()
		p.mu.Unlock()
		n, err := p.str.TryWrite(b)
		p.mu.Lock()
		w.flying -= n
		if err != nil {
			p.writeFailed(err)
			break
		}
		if n < len(b) {
			w.pumping, w.moved = true, p.clock.now
			p.watchClock()
			go p.pump(b, n)
			return
		}
		w.keep(b)
	}
	p.written()
}

// takeOut takes what waits and marks the writer busy.
func (p *Peer) takeOut() []byte {
	w := &p.write
	b := w.out
	w.busy, w.flying = true, len(b)
	w.out, w.spare = w.spare[:0], nil
	w.aloft, w.events = w.events, count{}
	return b
}

// keep keeps a written buffer for the next.
func (w *writeState) keep(b []byte) {
	w.aloft = count{}
	if cap(b) <= outKeep {
		w.spare = b[:0]
	} else {
		buffers.Put(b)
	}
}

// written is called when nobody writes any more: it wakes who waited for that.
func (p *Peer) written() {
	w := &p.write
	w.busy, w.pumping = false, false
	w.flying, w.aloft = 0, count{}
	w.wakeFlushers()
	if w.closing && !p.ended {
		w.closing = false
		p.str.CloseWrite()
	}
	if p.inbox.len() > 0 || p.read.eof {
		p.wakeServe()
		if p.read.leading && p.read.byServe { // it reads, and now may serve
			p.str.Interrupt()
		}
	}
}

// pump writes the rest of b and what has come since.
func (p *Peer) pump(b []byte, done int) {
	for {
		n, err := p.str.WriteSome(b[done:])
		done += n
		p.mu.Lock()
		p.write.flying -= n
		p.write.moved = p.clock.now
		if err != nil {
			p.writeFailed(err)
		}
		if err != nil || p.ended {
			p.written()
			p.mu.Unlock()
			return
		}
		if done == len(b) {
			p.write.keep(b)
			if len(p.write.out) == 0 {
				p.written()
				p.mu.Unlock()
				return
			}
			b, done = p.takeOut(), 0
		}
		p.mu.Unlock()
	}
}

// writeFailed ends the connection, but lets callers who wait read first what the peer said before it closed (CLIENT-3). mu is
// held.
func (p *Peer) writeFailed(err error) {
	if p.ended {
		return
	}
	failed := shape.Unavailable.Errorf("the connection was closed by the other end: %w", err)
	if !p.calls.waiting() || p.read.eof {
		p.failLocked(failed)
		return
	}
	p.write.err = failed
	p.write.out, p.write.events = nil, count{}
}

func (w *writeState) wakeFlushers() {
	for _, c := range w.flushers {
		close(c)
	}
	w.flushers = nil
}

// Flush waits until everything written so far has been taken by the kernel.
func (p *Peer) Flush(ctx context.Context) error {
	p.mu.Lock()
	for p.str != nil && !p.ended && p.write.err == nil && (p.write.busy || p.write.backlog() > 0) {
		p.flush()
		if !p.write.busy {
			continue
		}
		c := make(chan struct{})
		p.write.flushers = append(p.write.flushers, c)
		p.mu.Unlock()
		select {
		case <-c:
		case <-ctx.Done():
			return ended(ctx)
		}
		p.mu.Lock()
	}
	defer p.mu.Unlock()
	if p.write.err != nil {
		return p.write.err
	}
	return p.err
}

// CloseWrite ends what we send once it has left (end of input for the peer); replies are still read. Further calls and
// events are refused.
func (p *Peer) CloseWrite() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || p.str == nil || p.calls.closed {
		return p.err
	}
	p.calls.closed, p.write.closing = true, true
	if !p.write.busy {
		if p.flush(); p.write.closing && !p.write.busy {
			p.written()
		}
	}
	return nil
}

// Emit sends an event and never waits. A peer that is 1,024 events or one frame cap behind is closed, and the error says so
// (LIMIT-5). An event emitted while a call of this peer is being served follows that call's reply (SOCK-5).
func (p *Peer) Emit(event shape.Event) error {
	if !p.WayBack() {
		return p.noWayBack()
	}
	buf := scratch.Get().(*[]byte)
	defer putScratch(buf)
	p.mu.Lock()
	enc := p.write.enc
	p.mu.Unlock()
	b, err := event.Append(frame.Start((*buf)[:0], p.kind()), enc, p.cfg.Limits)
	if err != nil {
		return p.callError("", err)
	}
	b = frame.End(b, 0, p.kind())
	*buf = b
	if size := len(b); size > p.cfg.Limits.Frame {
		return p.callError("", shape.Refused.Errorf("the event is %d bytes and the cap is %d", size, p.cfg.Limits.Frame))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.emit(b)
}

func (p *Peer) emit(b []byte) error {
	w := &p.write
	if p.ended || w.err != nil {
		return p.callError("", p.closedError())
	}
	if p.calls.closed {
		return p.callError("", errSaidAll)
	}
	one := count{1, len(b)}
	all := one
	for _, c := range []count{w.events, w.aloft, w.heldN} {
		all.add(c)
	}
	if all.n > eventsOut || all.bytes > max(p.cfg.Limits.Frame, len(b)) {
		why := shape.Unavailable.Errorf("the peer is %d events of %d bytes behind, and the limits are %d and %d",
			all.n-1, all.bytes-len(b), eventsOut, p.cfg.Limits.Frame)
		p.failLocked(why)
		return p.callError("", why)
	}
	if p.serving.call {
		w.held = append(w.held, b...)
		w.heldN.add(one)
		return nil
	}
	w.append(b)
	w.events.add(one)
	p.flush()
	return nil
}

// releaseHeld lets the events go that a call's reply had to go before. mu is held.
func (w *writeState) releaseHeld() {
	if w.heldN.n == 0 {
		return
	}
	w.append(w.held)
	w.events.add(w.heldN)
	w.held, w.heldN = w.held[:0], count{}
	if cap(w.held) > outKeep {
		w.held = nil
	}
}
