package rpc

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
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
//	lead ─ next ─ read                       bytes to frames
//	     └ take ─ answer ─ Handler ─ settle  a request, by the leader
//	clock ─ go lead                          its handler still runs: somebody else leads
type session struct {
	opts Options
	cfg  transport.Config
	conn net.Conn
	str  stream.Stream
	peer *transport.Peer // whom handlers find in their context
	in   frame.Input     // the leader's

	idle, stall, gone timeout

	mu       sync.Mutex
	changed  sync.Cond // less is in flight or waits to be written, or the session ended
	out      outbox
	flying   map[uint64]struct{} // ids of the requests that are being answered
	turn     turn
	workers  int  // goroutines that lead or answer
	framed   bool // stall runs: a frame has begun and not ended
	taken    bool // the connection is a handler's (RPC-7)
	ending   bool // End: what has arrived is answered, and no more
	closing  bool // nothing more is answered but what is in flight
	ended    bool
	released bool
}

// turn is which request the leader answers. Its clock runs only while there are requests, and looks once in a while, so that a
// request costs no timer.
type turn struct {
	n       uint64 // counts requests
	working bool   // the leader is in a handler
	armed   bool
	seen    uint64 // the request in work when the clock last looked
	clock   *time.Timer
}

// handover is how long, at most twice, a handler keeps the lead.
const handover = 200 * time.Microsecond

// goneTick is how often a session that reads nothing looks whether its peer is gone (CLIENT-7).
const goneTick = 250 * time.Millisecond

func serve(ctx context.Context, conn net.Conn, o Options, cfg transport.Config) *session {
	o.check()
	s := &session{opts: o, cfg: cfg, conn: conn, str: stream.Of(conn), flying: map[uint64]struct{}{}, workers: 1}
	s.in = frame.NewInput(frame.LittleEndian, cfg.Limits.Frame)
	s.changed.L = &s.mu
	s.out = outbox{mu: &s.mu, str: s.str, stall: cfg.Stall, failed: func(error) { s.fail() }, moved: s.settled}
	s.idle = timeout{after: o.Idle, do: s.drop}
	s.stall = timeout{after: cfg.Stall, do: s.stalled}
	s.gone = timeout{after: goneTick, do: s.lookGone}
	cfg.Ended = nil // the session ends after its peer
	s.peer = transport.Alone(ctx, cfg)
	context.AfterFunc(s.peer.Context(), s.contextEnded)
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
	for _, t := range []*timeout{&s.idle, &s.stall, &s.gone} {
		t.stop()
	}
	go func() {
		s.peer.Close()
		s.str.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.released = true
		s.leave(0)
	}()
}

// leave counts out goroutines that led or answered. mu is held.
func (s *session) leave(n int) {
	if s.workers -= n; s.workers == 0 && s.released {
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

// lead reads and answers until input ends or somebody else does it.
func (s *session) lead() {
	for s.next() {
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave(1)
}

// next takes one frame, or reads where there is none; false where this goroutine has nothing more to do.
func (s *session) next() bool {
	f, is := s.in.Next()
	if !is {
		return s.read()
	}
	if f.Bad != nil {
		return s.malformed(f.Bad)
	}
	req, err := parseRequest(f.Body, s.cfg.Limits)
	if err != nil {
		return s.malformed(err)
	}
	return s.take(req)
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

// read waits for bytes. Replies that waited for company go first.
func (s *session) read() bool {
	s.mu.Lock()
	s.out.flush()
	s.timeFrame(s.in.Started())
	ended, ending := s.ended, s.ending && !s.closing
	s.mu.Unlock()
	if ended {
		return false
	}
	var n int
	var err error
	if ending {
		if n, err = s.str.TryRead(s.in.Room()); n == 0 && err == nil {
			s.in.NoRead()
			return s.refuseRest()
		}
	} else {
		n, err = s.str.ReadNext(&s.in)
	}
	s.in.Took(n)
	if err == nil || errors.Is(err, stream.ErrInterrupted) {
		return true
	}
	s.in.Forget()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == io.EOF { // the peer may still read: what is in flight is answered
		s.stop()
	} else {
		s.fail()
	}
	return false
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

// take answers one request, or says why not. It reports whether this goroutine still leads.
func (s *session) take(req request) bool {
	s.mu.Lock()
	s.idle.stop()
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
	s.flying[req.id] = struct{}{}
	upgrade := slices.Contains(s.opts.Upgrades, req.method)
	mine := s.startTurn(!upgrade)
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

	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.flying, req.id)
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

// startTurn begins the leader's work on a request, and returns its number. mu is held.
func (s *session) startTurn(yields bool) uint64 {
	t := &s.turn
	t.n++
	if t.working = yields; !yields || t.armed {
		return t.n
	}
	t.armed, t.seen = true, t.n
	if t.clock == nil {
		t.clock = time.AfterFunc(handover, s.look)
	} else {
		t.clock.Reset(handover)
	}
	return t.n
}

// look gives the lead away if the leader is still in the handler that it was in when this last looked.
func (s *session) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &s.turn
	switch {
	case s.ended || !t.working:
		t.armed = false
	case t.seen != t.n:
		t.seen = t.n
		t.clock.Reset(handover)
	default:
		t.armed, t.working = false, false
		t.n++
		s.workers++
		go s.lead()
	}
	s.out.flush()
}
