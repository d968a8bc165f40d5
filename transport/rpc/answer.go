package rpc

import (
	"context"
	"slices"
	"sync"

	"github.com/kith-wire/kith/shape"
)

// take answers one request, or says why not. It reports whether this goroutine still leads.
func (s *session) take(req request) bool {
	s.mu.Lock()
	s.idle.stop()
	s.idle.timer = nil
	s.timeFrame(false)
	s.waitForRoom()
	why := ""
	code := Busy
	switch _, twice := s.flying[req.id]; {
	case s.ended:
		s.mu.Unlock()
		return false
	case twice:
		why = "a request with this id is still being answered"
	case s.closing:
		code, why = ShuttingDown, "the daemon stops, and takes no more requests"
	}
	if why != "" {
		s.out.out = appendFailure(s.out.out, req.id, code, why)
		s.mu.Unlock()
		return true
	}
	if s.flying == nil {
		s.flying = map[uint64]struct{}{}
	}
	s.flying[req.id] = struct{}{}
	s.rest = awake
	upgrade := slices.Contains(s.opts.Upgrades, req.method)
	mine := s.startTurn(req.method, !upgrade)
	from := s.in.Hold()
	s.mu.Unlock()

	ctx := s.peer.Context()
	if upgrade {
		ctx = context.WithValue(ctx, upgradeKey{}, &upgrader{s: s, id: req.id})
	}
	buf := scratch.Get().(*[]byte)
	s.peer.Answer(ctx, shape.Call{Verb: req.method, Args: shape.NamedArgs(req.params)}, func(rows shape.Rows, err error) {
		*buf = appendResponse((*buf)[:0], req.id, rows, err, s.cfg.Limits)
	})
	from.Release()
	return s.answered(req.id, buf, mine)
}

// answered sends a response. It reports whether this goroutine still leads.
func (s *session) answered(id uint64, buf *[]byte, mine uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.flying, id)
	if s.ended || s.taken { // by this handler: there was no other
		return false
	}
	*buf = s.out.add(*buf)
	scratch.Put(buf)
	leads := s.turn.n == mine
	s.turn.working = s.turn.working && !leads
	if !leads || len(s.out.out) > outKeep {
		s.out.flush()
	}
	s.settled()
	return leads
}

var scratch = sync.Pool{New: func() any { return new([]byte) }}

// waitForRoom waits until one more request may be answered. mu is held.
func (s *session) waitForRoom() {
	full := func() bool { return len(s.flying) >= s.opts.InFlight || s.out.backlog() > backlogMax }
	if !full() {
		return
	}
	s.out.flush()
	s.gone.start() // nobody reads who could see it go
	for !s.ended && full() {
		s.changed.Wait()
	}
	s.gone.stop()
}
