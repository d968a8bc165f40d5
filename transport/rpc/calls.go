package rpc

import (
	"errors"
	"runtime"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport/internal/frame"
)

// pending is one call.
type pending struct {
	id    uint64
	wake  chan struct{} // look again
	done  bool          // rows or err is there
	gone  bool          // its caller does not wait any more
	timed bool          // it has no deadline but the client's
	since int           // tick it began
	rows  shape.Rows
	from  *frame.Chunk // holds their bytes; to be released
	err   error
}

// pendingsKept is how many calls are kept for the next ones. They are the client's and in no pool of the program: a channel that was
// made in a bubble of testing/synctest must not leave it.
const pendingsKept = 64

// newCall returns one for the next caller. mu is not held.
func (c *Client) newCall() *pending {
	c.mu.Lock()
	defer c.mu.Unlock()
	last := len(c.free) - 1
	if last < 0 {
		return &pending{wake: make(chan struct{}, 1)}
	}
	p := c.free[last]
	c.free = c.free[:last]
	return p
}

// putBack keeps a call for the next caller. Nobody else knows it any more. mu is not held.
func (c *Client) putBack(p *pending) {
	select { // a wake that nobody waited for must not wake the next call
	case <-p.wake:
	default:
	}
	*p = pending{wake: p.wake}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.free) < pendingsKept {
		c.free = append(c.free, p)
	}
}

func (p *pending) look() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// lostMax is how many calls may be given up and not answered before the connection is.
const lostMax = 1024

var errTimeout = errors.New("the time for a call is over")

// refused tells why a call may not begin: bad, unless there is a reason that is the connection's. mu is held.
func (c *Client) refused(p *pending, upgrade bool, bad error) error {
	switch {
	case p.done: // it was given up meanwhile
		return p.err
	case c.ended:
		return c.closedError()
	case c.taken || c.upgrade.Load() != nil:
		return shape.Refused.Errorf("the connection is being handed over, and carries no more calls")
	case upgrade && len(c.calls) > c.lost:
		return shape.Refused.Errorf("the connection is to be handed over, and %d calls are outstanding on it", len(c.calls)-c.lost)
	}
	return bad
}

// send writes a request, and returns its buffer or another one to use again. mu is held.
func (c *Client) send(p *pending, b []byte, upgrade bool) []byte {
	c.calls[p.id] = p
	if upgrade {
		c.upgrade.Store(p)
	}
	p.since = c.clock.now
	c.watchClock()
	b = c.out.add(b)
	if len(c.calls)-c.lost > 1 { // others call as well: their bytes go in one write
		c.mu.Unlock()
		runtime.Gosched()
		c.mu.Lock()
	}
	c.out.flush()
	return b
}

// giveUp ends a call whose caller waits no longer.
func (c *Client) giveUp(p *pending, cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lose(p, cause)
}

// lose is giveUp with mu held.
func (c *Client) lose(p *pending, cause error) {
	if p.done {
		return
	}
	sent := c.calls[p.id] == p
	p.gone = sent
	c.settle(p, shape.Unavailable.Errorf("no response: %w", cause))
	if sent {
		c.lost++
	}
	switch {
	case c.upgrade.Load() == p: // nobody knows whose the bytes are that come now
		c.fail(p.err)
	case c.lost > lostMax:
		c.fail(shape.Unavailable.Errorf("%d calls were given up and are not answered", c.lost))
	case c.leading: // perhaps by this call
		c.str.Interrupt()
	}
}

// settle ends the wait of a call. mu is held.
func (c *Client) settle(p *pending, err error) {
	p.done, p.err = true, err
	p.look()
}

// forget frees the id of a call that is answered.
func (c *Client) forget(p *pending) {
	delete(c.calls, p.id)
	if p.gone {
		c.lost--
	}
}

// clock is the one of a connection, and ticks only while calls wait: none of them costs a timer, or a look at the time.
type clock struct {
	now     int // ticks so far
	running bool
	timer   *time.Timer // made once it is needed
}

// Bounds of a tick: limits are met to within one.
const (
	tickMin = 2 * time.Millisecond
	tickMax = 250 * time.Millisecond
)

func (k *clock) stop() {
	if k.timer != nil {
		k.timer.Stop()
	}
}

func (c *Client) tickLen() time.Duration { return min(max(c.cfg.Timeout/8, tickMin), tickMax) }

// watchClock starts the clock: a call waits. mu is held.
func (c *Client) watchClock() {
	k := &c.clock
	if k.running || c.ended || c.cfg.Timeout <= 0 {
		return
	}
	k.running = true
	if k.timer == nil {
		k.timer = time.AfterFunc(c.tickLen(), c.onTick)
	} else {
		k.timer.Reset(c.tickLen())
	}
}

// onTick gives up the calls that have waited too long.
func (c *Client) onTick() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock.now++
	c.clock.running = false
	for _, p := range c.calls {
		if waited := time.Duration(c.clock.now-p.since) * c.tickLen(); p.timed && waited > c.cfg.Timeout {
			c.lose(p, errTimeout)
		}
	}
	if len(c.calls) > c.lost {
		c.watchClock()
	}
}
