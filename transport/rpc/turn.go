package rpc

import "time"

// turn is which request the leader answers. Its clock runs only while there are requests, and looks once in a while, so that a
// request costs no timer.
type turn struct {
	n       uint64 // counts requests
	working bool   // the leader is in a handler
	method  string // of the request in work
	near    bool   // it is watched closely
	armed   bool
	seen    uint64        // the request in work when the clock last looked
	span    time.Duration // until it looks
	quiet   time.Duration // span of a request that is not watched closely
	clock   *time.Timer
	slow    map[string]struct{} // methods that have lost the lead
}

// A handler keeps the lead for two spans at most. A timer that is about to fire keeps a program from sleeping well: one of 200 µs
// makes each call of a lone caller half as long again. So the clock looks seldom where requests have been answered at once for some
// time, but often where a request or a response is known to wait behind the handler, or its method has been slow before.
const (
	handover = 200 * time.Microsecond
	seldom   = 5 * time.Millisecond
	slowMax  = 64 // methods that are remembered
)

// startTurn begins the leader's work on a request, and returns its number. mu is held.
func (s *session) startTurn(method string, yields bool) uint64 {
	t := &s.turn
	t.n++
	if t.working = yields; !yields {
		return t.n
	}
	t.method = method
	_, slow := t.slow[method]
	t.near = slow || s.in.Started() || len(s.out.out) > 0
	if !t.armed || t.near && t.span > handover {
		s.watchTurn()
	}
	return t.n
}

// watchTurn has the clock look at the request that is in work now. mu is held.
func (s *session) watchTurn() {
	t := &s.turn
	t.quiet = max(t.quiet, handover)
	if t.span = t.quiet; t.near {
		t.span = handover
	}
	t.armed, t.seen = true, t.n
	s.wind(t.span)
}

func (s *session) wind(d time.Duration) {
	if t := &s.turn; t.clock == nil {
		t.clock = time.AfterFunc(d, s.look)
	} else {
		t.clock.Reset(d)
	}
}

func (t *turn) stop() {
	if t.clock != nil {
		t.clock.Stop()
	}
}

// look gives the lead away if the leader is still in the handler that it was in when this last looked.
func (s *session) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &s.turn
	switch {
	case s.ended:
		return
	case !t.armed:
		s.mayRest()
		return
	case t.working && t.seen == t.n:
		s.handOver()
	case t.working:
		t.quiet = min(2*t.quiet, seldom)
		s.watchTurn()
	default:
		t.quiet = min(2*t.quiet, seldom)
		t.armed = false
		s.wind(restAfter)
	}
	s.out.flush()
}

// handOver has somebody else lead. mu is held.
func (s *session) handOver() {
	t := &s.turn
	if t.slow == nil {
		t.slow = map[string]struct{}{}
	}
	if len(t.slow) < slowMax {
		t.slow[t.method] = struct{}{}
	}
	t.armed, t.working, t.quiet = false, false, handover
	t.n++
	s.workers++
	s.wind(restAfter)
	go s.follow()
}

// rest is how far an idle connection has come on its way to hold as little as it can.
type rest uint8

const (
	awake   rest = iota // it has answered, or has just begun
	resting             // it is to rest: the leader is woken for that
	rested
)

// restAfter is how long a connection has nothing to do before it rests.
const restAfter = 250 * time.Millisecond

// idles reports whether nothing is being answered, written, handed over or ended. mu is held.
func (s *session) idles() bool {
	free := !s.ending && !s.closing && !s.taken
	return free && len(s.flying) == 0 && !s.out.busy && s.out.backlog() == 0 && !s.framed
}

// mayRest wakes the leader of an idle connection, so that it rests. mu is held.
func (s *session) mayRest() {
	switch {
	case s.rest != awake || s.ending || s.closing || s.taken:
	case s.idles():
		s.rest = resting
		s.str.Interrupt()
	default:
		s.wind(restAfter)
	}
}

// goToRest gives back what an idle connection does without: buffers, timers, and the stack that its handlers have needed, by going on
// in a new goroutine, which begins with a small one. mu is held, and this goroutine leads.
func (s *session) goToRest() next {
	if !s.idles() {
		s.rest = awake
		return reads
	}
	s.rest = rested
	s.turn.stop()
	s.turn.clock, s.flying, s.out.out, s.out.spare = nil, nil, nil, nil
	s.idle.timer, s.stall.timer, s.gone.timer = nil, nil, nil
	go s.lead()
	return moves
}
