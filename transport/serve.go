package transport

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/kith-wire/kith/internal/buffers"
	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport/internal/frame"
)

// serveState is the serving side. Its field of the Peer is guarded by mu, but for reply, which is the serve loop's.
type serveState struct {
	wake   sync.Cond // with mu: look again
	call   bool      // a call is being served
	event  bool      // an event is
	within bool      // the call was made from inside a handler
	since  int       // tick it began
	reply  []byte
	defers bool // hurry runs: a reply waits for company
	rest   rest
	shuts  bool // the serve loop ended the connection, and is to shut it
}

// rest is how far an idle connection has come on its way to hold as little as it can.
type rest uint8

const (
	awake   rest = iota // it has served, or has just begun
	resting             // it is to rest: the serve loop is woken for that
	rested
)

// replyLeast is how many bytes a reply has room for to begin with.
const replyLeast = 64

// companyWait is how long a finished reply waits, at most, for those of calls that are already here.
const companyWait = 200 * time.Microsecond

// One message's way through a served connection:
//
//	serve ─ took ─ cut ─ itemOf                 bytes to messages, by whoever leads: the serve loop or lead
//	      │      └ handOut ─ dispatch           replies to callers, the rest to the inbox
//	      └ work ─ serveItem ─ answer ─ Handler without mu and without the lead: a handler may call back
//	             │           └ flush ─ pump     the reply, and what waits behind it
//	             └ finish                       end of input, everything answered and written
//
// serve is the loop of a connection with a handler, and begins with the lead. It waits for bytes with next to nothing on its
// stack, so that an idle connection needs no more than the least that a goroutine has.
func (p *Peer) serve() {
	next := over
	defer func() {
		if next == over {
			p.fail(errGoexit) // says nothing where the loop ended by itself
			p.leave()
		}
	}()
	for {
		n, err := p.str.ReadNext(&p.in)
		next = over // should a handler end the goroutine
		if next = p.work(n, err); next != reads {
			return
		}
	}
}

var errGoexit = &shape.Error{Fault: shape.Failed, Text: "a handler ended its goroutine"}

// next is what a serve loop does once there is no more work.
type next uint8

const (
	over  next = iota // the connection has ended
	reads             // it has the lead, and reads
	moves             // another goroutine goes on
)

// work does what there is to do after a read, until there is nothing but to read again.
func (p *Peer) work(n int, err error) next {
	p.took(n, err)
	for !p.ended {
		switch {
		case p.inbox.len() > 0 && p.write.backlog() <= repliesOut:
			p.serveItem(p.inbox.pop())
		case p.read.eof && p.inbox.len() == 0 && p.write.backlog() == 0:
			p.finish(p.read.endCause)
		case len(p.write.out) > 0 && !p.write.busy:
			p.flush()
		case p.canLead() && p.read.ending:
			p.lead()
		case p.canLead():
			p.read.leading, p.read.byServe = true, true
			next := p.rest()
			p.mu.Unlock()
			return next
		default:
			p.serving.wake.Wait()
		}
	}
	shuts := p.serving.shuts
	p.mu.Unlock()
	if shuts {
		p.shut()
	}
	return over
}

// finish ends the connection once everything has been written. mu is held.
func (p *Peer) finish(cause error) {
	p.read.eof = true
	p.flush()
	if p.write.busy && !p.ended {
		p.read.endCause = cause
		if p.cfg.Handler == nil {
			go p.finishLater(cause)
		}
		return
	}
	if p.cfg.Handler == nil {
		p.failLocked(cause)
	} else {
		p.serving.shuts = p.end(cause)
	}
}

// finishLater waits for the pump where no serve loop does.
func (p *Peer) finishLater(cause error) {
	p.Flush(context.Background())
	p.fail(cause)
}

func (p *Peer) wakeServe() {
	p.serving.wake.Signal()
}

// wakeNext tells whoever should read now to look: the oldest caller that waits, else the serve loop. mu is held.
func (p *Peer) wakeNext() {
	if p.inbox.len() > 0 {
		p.wakeServe()
	}
	for _, w := range p.calls.out {
		if !w.done {
			w.look()
			return
		}
	}
	p.wakeQueue()
	p.wakeServe()
}

// serveItem answers one message that was read. mu is held, and not while the handler works.
func (p *Peer) serveItem(it item) {
	p.serving.rest = awake
	switch {
	case it.bad != nil:
		p.write.append(p.appendReply(nil, it.msg.Encoding, shape.Rows{}, it.bad))
		it.from.Release()
		if it.last {
			p.inbox.clear()
			p.finish(it.bad)
		}
	case it.msg.IsEvent():
		p.serving.event, p.serving.since = true, p.clock.now
		p.watchClock()
		p.mu.Unlock()
		p.takeEvent(it.msg.Event)
		it.from.Release()
		p.mu.Lock()
		p.serving.event = false
	default:
		p.serveCall(it)
	}
	p.flushSoon()
}

func (p *Peer) serveCall(it item) {
	s := &p.serving
	s.call, s.within, s.since = true, isWithin(it.msg.Call), p.clock.now
	p.write.enc = it.msg.Encoding
	p.watchClock()
	p.mu.Unlock()
	s.reply = p.answer(slices.Grow(s.reply[:0], replyLeast), &it.msg)
	it.from.Release()
	p.mu.Lock()
	s.call = false
	if s.reply = p.write.take(s.reply); cap(s.reply) > outKeep {
		buffers.Put(s.reply)
		s.reply = nil
	}
	p.write.releaseHeld()
}

// flushSoon writes the replies, but lets them wait for those of calls that are already here: for little, and not while the
// next handler takes its time.
func (p *Peer) flushSoon() {
	if p.inbox.len() == 0 || len(p.write.out) >= companySize {
		p.flush()
		return
	}
	if p.serving.defers {
		return
	}
	p.serving.defers = true
	if p.hurry == nil {
		p.hurry = time.AfterFunc(companyWait, p.hurryUp)
	} else {
		p.hurry.Reset(companyWait)
	}
}

func (p *Peer) hurryUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.serving.defers = false
	p.flush()
}

// answer makes the framed reply of one call.
func (p *Peer) answer(dst []byte, msg *shape.Message) (out []byte) {
	defer func() {
		if r := recover(); r != nil { // a row that panics while it is written
			out = p.appendReply(dst, msg.Encoding, shape.Rows{}, panicked(p.cfg.Log, msg.Call.Verb, r))
		}
	}()
	rows, err := run(p.Context(), p.cfg.Handler, msg.Call, p.cfg.Log)
	return p.appendReply(dst, msg.Encoding, rows, err)
}

func (p *Peer) appendReply(dst []byte, enc shape.Encoding, rows shape.Rows, err error) []byte {
	if p.framing == Lines {
		enc = shape.JSON
	}
	start := len(dst)
	dst = rows.AppendReply(frame.Start(dst, p.kind()), enc, p.cfg.Limits, err)
	return frame.End(dst, start, p.kind())
}

// run calls a handler. Its error has a fault that may be written: malformed is said to bytes that cannot be read, and never of
// a call that could (FAULT-1, FAULT-3).
func run(ctx context.Context, h Handler, call shape.Call, log func(string)) (rows shape.Rows, err error) {
	defer func() {
		if r := recover(); r != nil {
			rows, err = shape.Rows{}, panicked(log, call.Verb, r)
		}
	}()
	rows, err = h.Call(ctx, call)
	if err == nil {
		return rows, nil
	}
	var e *shape.Error
	if errors.As(err, &e) && e.Fault == shape.Malformed || e == nil && errors.Is(err, shape.Malformed) {
		err = shape.Failed.Errorf("%w", err)
	}
	return shape.Rows{}, err
}

// panicked tells the caller that a handler panicked, and the log where.
func panicked(log func(string), verb string, value any) error {
	err := shape.Failed.Errorf("%s panicked: %s", shape.Quote(verb), shape.Quote(panicText(value)))
	logTo(log, "%s\n%s", err.Text, debug.Stack())
	return err
}

func (p *Peer) takeEvent(event shape.Event) {
	defer func() {
		if r := recover(); r != nil {
			p.log("event %s panicked: %s\n%s", shape.Quote(event.Name), panicText(r), debug.Stack())
		}
	}()
	p.cfg.Handler.Event(p.Context(), event)
}

// Answer runs one call through a handler as the cli door does: the context carries a [Peer] without a way back, a panic is a
// failed error, and an error has a fault that may be written (FAULT-1).
func Answer(ctx context.Context, h Handler, call shape.Call, cfg Config) (rows shape.Rows, err error) {
	cfg.Door, cfg.Handler = CLI, h
	p := Alone(ctx, cfg)
	defer p.Close()
	return run(p.Context(), h, call, cfg.Log)
}

// Answer runs one call of this peer through its handler and has its reply written, for a wire that is not [Connect]'s: a panic, also
// one in write, is a failed error, and an error has a fault that may be written (FAULT-1). write may be called a second time.
// ctx is that of [Peer.Context], or one made of it.
func (p *Peer) Answer(ctx context.Context, call shape.Call, write func(shape.Rows, error)) {
	defer func() {
		if r := recover(); r != nil { // a row that panics while it is written
			write(shape.Rows{}, panicked(p.cfg.Log, call.Verb, r))
		}
	}()
	write(run(ctx, p.cfg.Handler, call, p.cfg.Log))
}
