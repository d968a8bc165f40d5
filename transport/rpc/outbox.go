package rpc

import (
	"sync"
	"time"

	"github.com/kith-wire/kith/internal/buffers"
	"github.com/kith-wire/kith/transport/internal/stream"
)

// outbox is what waits to be written to one connection. Nobody who answers or calls waits in a write: there is one try, and the rest
// is a goroutine's. Its fields are guarded by mu, which is its owner's.
type outbox struct {
	mu     *sync.Mutex
	str    stream.Stream
	stall  time.Duration // how long a write may move nothing; not above 0: for ever
	failed func(error)   // a write failed; mu is held
	moved  func()        // bytes were taken; mu is held

	out, spare []byte
	busy       bool // somebody writes
	flying     int  // bytes that whoever is busy has taken and not written
}

// Bounds of what waits.
const (
	backlogMax = 1 << 20  // bytes; beyond it no further request is taken
	outKeep    = 64 << 10 // how large a buffer is kept
)

func (o *outbox) backlog() int { return len(o.out) + o.flying }

// add appends what is in b, or exchanges the buffers where that saves the copy of a large one; it returns a buffer to use again, which is
// no large one. mu is held.
func (o *outbox) add(b []byte) []byte {
	if len(o.out) > 0 || cap(b) <= outKeep {
		o.out = append(o.out, b...)
	} else {
		o.out, b = b, o.out
	}
	if cap(b) > outKeep {
		buffers.Put(b)
		return nil
	}
	return b[:0]
}

// flush writes what waits, unless somebody does. mu is held, and not while the kernel works.
func (o *outbox) flush() {
	if o.busy {
		return
	}
	for len(o.out) > 0 {
		b := o.take()
		o.mu.Unlock()
		n, err := o.str.TryWrite(b)
		o.mu.Lock()
		o.flying -= n
		switch {
		case err != nil:
			o.end(err)
			return
		case n < len(b):
			go o.pump(b, n)
			return
		}
		o.keep(b)
	}
	o.moved()
}

func (o *outbox) take() []byte {
	b := o.out
	o.busy, o.flying = true, len(b)
	o.out, o.spare = o.spare[:0], nil
	return b
}

func (o *outbox) keep(b []byte) {
	o.busy, o.flying = false, 0
	if cap(b) <= outKeep {
		o.spare = b[:0]
	} else {
		buffers.Put(b)
	}
}

func (o *outbox) end(err error) {
	o.busy, o.flying, o.out = false, 0, nil
	o.failed(err)
}

// pump writes the rest of b and what has come since.
func (o *outbox) pump(b []byte, done int) {
	stalled := &timeout{after: o.stall, do: o.stalled}
	defer stalled.stop()
	for {
		stalled.start()
		n, err := o.str.WriteSome(b[done:])
		stalled.stop()
		done += n
		o.mu.Lock()
		o.flying -= n
		switch {
		case err != nil:
			o.end(err)
			o.mu.Unlock()
			return
		case done == len(b):
			o.keep(b)
			if len(o.out) == 0 {
				o.moved()
				o.mu.Unlock()
				return
			}
			b, done = o.take(), 0
		}
		o.moved()
		o.mu.Unlock()
	}
}

func (o *outbox) stalled() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failed(&stalledError{o.stall})
}

type stalledError struct{ after time.Duration }

func (e *stalledError) Error() string { return "the other end took no byte within " + e.after.String() }

// timeout is a timer that is made once it is needed. It is used by one goroutine at a time.
type timeout struct {
	after time.Duration // not above 0: never
	do    func()
	timer *time.Timer
}

func (t *timeout) start() {
	switch {
	case t.after <= 0:
	case t.timer == nil:
		t.timer = time.AfterFunc(t.after, t.do)
	default:
		t.timer.Reset(t.after)
	}
}

func (t *timeout) stop() {
	if t.timer != nil {
		t.timer.Stop()
	}
}
