package transport

import (
	"fmt"
	"time"

	"github.com/kith-wire/kith/shape"
)

// clockState is the one clock of a connection: it ticks only while something has a limit, and nothing reads the time per call.
// Its field of the Peer is guarded by mu.
type clockState struct {
	now     int // ticks so far
	running bool
}

// Bounds of a tick: limits are met to within one.
const (
	tickMin = 2 * time.Millisecond
	tickMax = 250 * time.Millisecond

	restAfter = 250 * time.Millisecond // a connection that serves nothing gives back what it does not need
)

// tickLen is an eighth of the shortest limit.
func (p *Peer) tickLen() time.Duration {
	tick := tickMax
	for _, limit := range []time.Duration{p.cfg.Stall, p.cfg.Timeout} {
		if limit > 0 {
			tick = min(tick, limit/8)
		}
	}
	return max(tick, tickMin)
}

// watchClock starts the clock: something with a limit has begun. mu is held.
func (p *Peer) watchClock() {
	if p.clock.running || p.ended {
		return
	}
	p.clock.running = true
	if p.tick == nil {
		p.tick = time.AfterFunc(p.tickLen(), p.onTick)
	} else {
		p.tick.Reset(p.tickLen())
	}
}

func (p *Peer) onTick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clock.now++
	p.clock.running = false
	if p.ended {
		return
	}
	if p.sweep() || p.mayRest() {
		p.watchClock()
	}
}

// mayRest wakes the serve loop of a connection that has served nothing for restAfter, so that it rests; it reports whether that time
// is still to come. mu is held.
func (p *Peer) mayRest() bool {
	switch {
	case p.cfg.Handler == nil || p.serving.rest != awake || p.read.started || !p.read.byServe:
		return false
	case time.Duration(p.clock.now-p.serving.since-1)*p.tickLen() < restAfter:
		return true
	}
	p.serving.rest = resting
	p.str.Interrupt()
	return false
}

// rest gives back what an idle connection does without: buffers, timers, and the stack that its handlers have needed, by going on
// in a new goroutine, which begins with a small one. mu is held, and the serve loop has the lead.
func (p *Peer) rest() next {
	if p.serving.rest != resting {
		return reads
	}
	w := &p.write
	if p.clock.running || p.serving.defers || w.busy || w.backlog() > 0 || p.calls.waiting() || p.inbox.len() > 0 { // not idle after all
		p.serving.rest = awake
		return reads
	}
	p.serving.rest = rested
	p.tick, p.hurry, p.batch, p.inbox, p.calls.out, p.calls.free = nil, nil, nil, inbox{}, nil, nil
	w.out, w.spare, w.held, p.serving.reply = nil, nil, nil, nil
	go p.serve()
	return moves
}

// over reports whether a limit has passed since a tick.
func (p *Peer) over(since int, limit time.Duration) bool {
	return limit > 0 && time.Duration(p.clock.now-since)*p.tickLen() > limit
}

// sweep looks at everything that has a limit; it reports whether anything still has. mu is held.
func (p *Peer) sweep() bool {
	working := p.serving.call || p.serving.event
	switch {
	case p.overdue(p.calls.out) || p.overdue(p.calls.queue):
		p.failLocked(shape.Unavailable.Errorf("no reply within %v", p.cfg.Timeout))
	case p.write.pumping && p.over(p.write.moved, p.cfg.Stall):
		p.failLocked(shape.Unavailable.Errorf("the peer took no byte within %v", p.cfg.Stall))
	case p.read.started && p.framing == Lengths && p.read.leading && p.over(p.read.since, p.cfg.Stall):
		p.stalledFrame()
	case working && p.clock.now > p.serving.since+1 && p.str.Gone():
		p.failLocked(shape.Unavailable.Errorf("the peer is gone"))
	}
	return working || p.calls.pending() || p.write.pumping || p.read.started && p.framing == Lengths
}

// overdue reports whether a call without a deadline of its own has waited too long.
func (p *Peer) overdue(list []*waiter) bool {
	for _, w := range list {
		if w.timed && !w.done && p.over(w.since, p.cfg.Timeout) {
			return true
		}
	}
	return false
}

// stalledFrame tells a peer that did not finish a frame, if it can be told without waiting, and ends the connection.
func (p *Peer) stalledFrame() {
	why := shape.Malformed.Errorf("a frame was started and not finished within %v", p.cfg.Stall)
	if !p.calls.waiting() {
		p.write.append(p.appendReply(nil, shape.JSON, shape.Rows{}, why))
		p.flush()
	}
	p.failLocked(why)
}

func panicText(value any) string { return fmt.Sprint(value) }
