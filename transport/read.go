package transport

import (
	"errors"
	"io"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport/internal/frame"
	"github.com/kith-wire/kith/transport/internal/stream"
)

// readState says who reads and what is left to read. At most one goroutine reads, the leader: a caller who waits for its reply,
// or the serve loop. Its field of the Peer is guarded by mu.
type readState struct {
	leading  bool
	byServe  bool // the leader is the serve loop
	started  bool // a frame has begun and not ended
	since    int  // tick of its first byte
	eof      bool // nothing more comes
	ending   bool // End: take what is there and no more
	endCause error
}

// item is one message that has been read and not been served.
type item struct {
	msg  shape.Message
	bad  *shape.Error // it could not be read: what it is answered
	last bool         // nothing behind it can be told apart: the connection ends with its answer
	cut  bool         // input ended inside it
	size int
	from *frame.Chunk // holds its bytes; to be released
}

// canLead reports whether somebody who has nothing else to do should read now: nobody does, there is something to read, and
// what has been read and not served is within bounds (LIMIT-5).
func (p *Peer) canLead() bool {
	return !p.read.leading && !p.read.eof && !p.ended && (p.read.ending || !p.inbox.full(p.cfg.Limits.Frame))
}

// lead reads once and hands out every whole frame of it. mu is held on entry and on return, and not in between.
func (p *Peer) lead() {
	p.read.leading = true
	ending := p.read.ending
	p.mu.Unlock()
	if ending {
		p.handOut(p.takeRest())
		return
	}
	p.took(p.str.ReadNext(&p.in))
}

// took cuts what a read of the leader brought, and hands it out. It takes mu.
func (p *Peer) took(n int, err error) {
	p.in.Took(n)
	p.cut()
	p.in.NoRead()
	p.handOut(err)
}

// tryOnce takes what one read finds now.
func (p *Peer) tryOnce() (int, error) {
	n, err := p.str.TryRead(p.in.Room())
	p.in.Took(n)
	p.cut()
	p.in.NoRead()
	return n, err
}

// takeRest reads all that has arrived, and then input has ended.
func (p *Peer) takeRest() error {
	for {
		if n, err := p.tryOnce(); err != nil {
			return err
		} else if n == 0 {
			return errEnding
		}
	}
}

// errEnding is the end of input that End makes.
var errEnding = errors.New("no more is taken")

// cut makes items of every whole frame there is.
func (p *Peer) cut() {
	for {
		f, ok := p.in.Next()
		if !ok {
			return
		}
		p.batch = append(p.batch, p.itemOf(f))
		if f.Last {
			return
		}
	}
}

func (p *Peer) itemOf(f frame.Frame) item {
	it := item{bad: f.Bad, last: f.Last, size: len(f.Body)}
	if f.Bad != nil {
		return it
	}
	var err error
	it.msg, err = p.cfg.Limits.Read(f.Body, p.cfg.Name)
	if err != nil {
		it.bad = asError(err)
		if it.msg.IsEvent() {
			p.log("dropped an event of %s: %s", p.cfg.Name, it.bad.Text)
		}
	}
	if p.framing == Lines && it.msg.Encoding == shape.CBOR && !it.msg.IsEvent() {
		it.msg = shape.Message{}
		it.bad = shape.Malformed.Errorf("a pipe carries JSON lines and this is CBOR, which a socket takes")
	}
	it.from = p.in.Hold()
	return it
}

// handOut gives what was read to whoever it is for, and the lead away. It takes mu.
func (p *Peer) handOut(err error) {
	var end *inputEnd
	if err != nil && !errors.Is(err, stream.ErrInterrupted) {
		end = p.endOf(err)
	}
	p.mu.Lock()
	p.read.leading, p.read.byServe = false, false
	cut := len(p.batch)
	for i := range p.batch {
		p.dispatch(&p.batch[i])
		p.batch[i] = item{}
	}
	p.batch = p.batch[:0]
	started := p.in.Started()
	if started && (cut > 0 || !p.read.started) {
		p.read.since = p.clock.now
	}
	if p.read.started = started; started {
		p.watchClock()
	}
	if end != nil {
		p.inputEnded(end)
	}
	p.flush()
	p.wakeNext()
	if p.read.ending && p.cfg.Handler == nil && p.canLead() { // End came during this read, and nobody else would look
		p.lead()
	}
}

// inputEnd is how input ended.
type inputEnd struct {
	clean bool  // nothing more comes, and nothing failed
	cause error // what waiting calls are told; nil where nobody knows more than that
}

// endOf makes an item of what the end of input leaves unfinished, and words why it ended.
func (p *Peer) endOf(err error) *inputEnd {
	if err == io.EOF {
		if f, ok := p.in.Rest(); ok {
			it := p.itemOf(f)
			it.cut = true
			p.batch = append(p.batch, it)
		}
	}
	p.in.Forget()
	end := &inputEnd{clean: err == io.EOF || err == errEnding}
	switch {
	case err == errEnding:
		p.mu.Lock()
		end.cause = p.read.endCause
		p.mu.Unlock()
	case p.cfg.Explain != nil:
		end.cause = p.cfg.Explain(err)
	}
	if end.cause == nil && !end.clean {
		end.cause = err
	}
	return end
}

// dispatch hands out one message (SHAPE-6, CLIENT-3). mu is held.
func (p *Peer) dispatch(it *item) {
	if it.last {
		p.read.eof = true
	}
	switch {
	case p.ended:
		it.from.Release()
	case it.bad != nil && it.msg.IsEvent(): // whatever is wrong with it
		it.from.Release()
	case it.bad != nil && it.cut && p.calls.waiting(): // the end of input says it better
		it.from.Release()
	case it.bad != nil && p.calls.waiting():
		it.from.Release()
		p.failLocked(shape.Malformed.Errorf("%s cannot be read and may be a reply: %w", p.named(), it.bad))
	case it.bad == nil && it.msg.IsReply():
		p.reply(it)
	case it.bad == nil && it.msg.IsEvent() && (p.cfg.Handler == nil || it.msg.Event.Name == ""):
		it.from.Release()
	case p.cfg.Handler == nil:
		p.refuse(it)
	default:
		if p.calls.waiting() && it.msg.IsCall() && isWithin(it.msg.Call) {
			p.refuseInner()
		}
		p.inbox.push(*it)
	}
}

// named is the peer's name as the start of a sentence.
func (p *Peer) named() string {
	if p.cfg.Name == "" {
		return "what the peer sent"
	}
	return "what " + p.cfg.Name + " sent"
}

// refuse answers for a connection without a handler.
func (p *Peer) refuse(it *item) {
	err := it.bad
	if err == nil {
		err = noSuchCall(it.msg.Call.Verb)
	}
	p.write.append(p.appendReply(nil, it.msg.Encoding, shape.Rows{}, err))
	it.from.Release()
	if it.last {
		p.finish(err)
	}
}

func noSuchCall(verb string) *shape.Error {
	return shape.Refused.Errorf("no such call: %s", shape.Quote(verb))
}

// inputEnded makes the end of input known: calls of ours fail at once, what was read is still served (PIPE-3). mu is held.
func (p *Peer) inputEnded(end *inputEnd) {
	p.read.eof, p.read.started = true, false
	if p.write.err != nil {
		end.cause = p.write.err
	}
	why := end.cause
	if why == nil && p.calls.pending() { // only then is it given to anybody
		why = shape.Unavailable.Errorf("the connection ended before the reply: %w", io.EOF)
	}
	p.failCalls(why)
	p.read.endCause = end.cause
	switch {
	case !end.clean:
		p.failLocked(end.cause)
	case p.cfg.Handler != nil:
		p.wakeServe()
	default:
		p.finish(end.cause)
	}
}

// asError returns err as the error type of package shape: Unavailable where it is none.
func asError(err error) *shape.Error {
	var e *shape.Error
	if errors.As(err, &e) {
		return e
	}
	return shape.Unavailable.Errorf("%w", err)
}
