package rpc

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/internal/frame"
	"github.com/kith-wire/kith/transport/internal/stream"
)

// session is one connection that is served. One goroutine leads: it reads, and answers each request itself. A handler that takes
// its time loses the lead to a new goroutine, so that requests which are answered at once cost no switch, and none waits for long
// behind another:
//
//	lead ─ work ─ pause                         bytes to frames, until there is nothing but to read again
//	            └ take ─ answer ─ Handler       a request, by the leader
//	clock ─ look ─ go follow                    its handler still runs: somebody else leads
type session struct {
	opts   Options
	cfg    transport.Config
	conn   net.Conn
	str    stream.Stream
	peer   *transport.Peer // whom handlers find in their context
	in     frame.Input     // the leader's
	method string          // the leader's: that of the last request

	idle, stall, gone timeout

	mu       sync.Mutex
	changed  sync.Cond // less is in flight or waits to be written, or the session ended
	out      outbox
	flying   map[uint64]struct{} // ids of the requests that are being answered
	turn     turn
	workers  int  // goroutines that lead or answer
	rest     rest // how far it has come on its way to hold as little as it can
	framed   bool // stall runs: a frame has begun and not ended
	taken    bool // the connection is a handler's (RPC-7)
	ending   bool // End: what has arrived is answered, and no more
	closing  bool // nothing more is answered but what is in flight
	ended    bool
	released bool
}

// goneTick is how often a session that reads nothing looks whether its peer is gone (CLIENT-7).
const goneTick = 250 * time.Millisecond

func serve(ctx context.Context, conn net.Conn, o Options, cfg transport.Config) *session {
	s := &session{opts: o, cfg: cfg, conn: conn, str: stream.Of(conn), workers: 1}
	s.in = frame.NewInput(frame.LittleEndian, cfg.Limits.Frame)
	s.changed.L = &s.mu
	s.out = outbox{mu: &s.mu, str: s.str, stall: cfg.Stall, failed: func(error) { s.fail() }, moved: s.settled}
	s.idle = timeout{after: o.Idle, do: s.drop}
	s.stall = timeout{after: cfg.Stall, do: s.stalled}
	s.gone = timeout{after: goneTick, do: s.lookGone}
	cfg.Ended = s.contextEnded // the session ends after its peer
	s.peer = transport.Alone(ctx, cfg)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle.start()
	go s.lead()
	return s
}

// Close implements [socket.Session]: it ends the session now.
func (s *session) Close() error {
	s.drop()
	return nil
}

func (s *session) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail()
}

// stalled tells a peer that did not finish a frame, if it can be told without waiting, and ends the session (SOCK-5).
func (s *session) stalled() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.framed && !s.ended {
		s.sayMalformed(shape.Malformed.Errorf("a frame was started and not finished within %v", s.cfg.Stall))
		s.out.flush()
		s.fail()
	}
}

// contextEnded ends the session with its context. Whoever has taken the connection and is told to stop ends it by itself.
func (s *session) contextEnded() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.taken || !s.ending {
		s.fail()
	}
}

// End answers what has arrived and what is in flight, and then closes; requests that come meanwhile are told [ShuttingDown]. A
// handler that has taken the connection is told by the end of its context.
func (s *session) End(error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || s.ending {
		return
	}
	s.ending = true
	if s.taken {
		go s.peer.Close()
		return
	}
	s.str.Interrupt()
}

// fail ends the session now. mu is held.
func (s *session) fail() {
	if s.ended {
		return
	}
	s.ended = true
	s.changed.Broadcast()
	s.idle.stop()
	s.stall.stop()
	s.gone.stop()
	s.turn.stop()
	go func() {
		s.peer.Close()
		s.str.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.released = true
		s.endIfLast()
	}()
}

// leave is the end of a goroutine that led or answered.
func (s *session) leave(how next) {
	if how == moves {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.workers--
	s.endIfLast()
}

// endIfLast tells that the session has ended once nobody works for it any more. mu is held.
func (s *session) endIfLast() {
	if s.workers == 0 && s.released {
		s.released = false
		if s.cfg.Ended != nil {
			go s.cfg.Ended() // mu is held
		}
	}
}

// settled is called when less is in flight, or less waits to be written: it wakes who waits for that, and closes where that was all
// there was to do. mu is held.
func (s *session) settled() {
	s.changed.Broadcast()
	if s.closing && len(s.flying) == 0 && s.out.backlog() == 0 {
		s.fail()
	}
}

// stop ends reading: what is in flight is still answered. mu is held.
func (s *session) stop() {
	s.closing = true
	s.timeFrame(false)
	s.out.flush()
	if s.settled(); !s.ended {
		s.gone.start()
	}
}

// lookGone ends a session that nobody will read any more.
func (s *session) lookGone() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	if s.str.Gone() {
		s.fail()
		return
	}
	s.gone.timer.Reset(goneTick)
}

// lead reads and answers until input ends or somebody else does it. It waits for bytes with next to nothing on its stack.
func (s *session) lead() {
	for {
		n, err := s.str.ReadNext(&s.in)
		if next := s.work(n, err); next != reads {
			s.leave(next)
			return
		}
	}
}

// follow is lead behind a leader whose handler takes its time: there may be frames that it left.
func (s *session) follow() {
	if next := s.work(0, nil); next != reads {
		s.leave(next)
		return
	}
	s.lead()
}

// next is what a goroutine that leads does once there is no more work.
type next uint8

const (
	over  next = iota // it has nothing more to do
	reads             // it reads
	moves             // another goroutine goes on
)

// work answers what a read has brought, and what is there to be read without waiting where that is all that is still taken.
func (s *session) work(n int, err error) next {
	for {
		s.in.Took(n)
		if err != nil && !errors.Is(err, stream.ErrInterrupted) {
			s.inputEnded(err)
			return over
		}
		for f, is := s.in.Next(); is; f, is = s.in.Next() {
			if !s.serveFrame(f) {
				return over
			}
		}
		next, takes := s.pause()
		if !takes {
			return next
		}
		if n, err = s.str.TryRead(s.in.Room()); n == 0 {
			s.in.NoRead()
			if err == nil && !s.refuseRest() {
				return over
			}
		}
	}
}

// serveFrame reports whether this goroutine still leads.
func (s *session) serveFrame(f frame.Frame) bool {
	if f.Bad != nil {
		return s.malformed(f.Bad)
	}
	req, err := parseRequest(f.Body, s.cfg.Limits, s.method)
	if err != nil {
		return s.malformed(err)
	}
	s.method = req.method
	return s.take(req)
}

// pause is where no whole frame is left. Responses that waited for company go. It takes where only what has arrived is still read.
func (s *session) pause() (to next, takes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out.flush()
	s.timeFrame(s.in.Started())
	switch {
	case s.ended:
		return over, false
	case s.ending && !s.closing:
		return reads, true
	case s.rest == resting:
		return s.goToRest(), false
	}
	return reads, false
}

// inputEnded answers what is in flight, where the peer may still read.
func (s *session) inputEnded(err error) {
	s.in.Forget()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == io.EOF {
		s.stop()
	} else {
		s.fail()
	}
}

// malformed tells a peer whose requests cannot be told apart any more, and ends the session (RPC-4).
func (s *session) malformed(why error) bool {
	s.in.Forget()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sayMalformed(why)
	s.stop()
	return false
}

func (s *session) sayMalformed(why error) {
	s.out.out = appendFailure(s.out.out, 0, MalformedFrame, textOf(why))
}

// refuseRest is reached when all that had arrived has been taken: what comes from now on is told that we shut down.
func (s *session) refuseRest() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing = true
	s.settled()
	return !s.ended
}

// timeFrame runs one clock for the header and the body of a frame (SOCK-5). mu is held.
func (s *session) timeFrame(started bool) {
	switch {
	case started && !s.framed && !s.ended:
		s.stall.start()
	case !started && s.framed:
		s.stall.stop()
	}
	s.framed = started
}
