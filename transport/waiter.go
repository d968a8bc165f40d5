package transport

// waiter is one call of ours.
type waiter struct {
	wake  chan struct{} // look again
	item  item          // its reply
	err   error
	done  bool // item or err is there
	sent  bool
	inner bool // made from inside a handler of this connection
	timed bool // it has no deadline but the connection's
	since int  // tick it began
	size  int
}

// waitersKept is how many waiters are kept for the next calls. They are the connection's and in no pool of the program: a channel that
// was made in a bubble of testing/synctest must not leave it.
const waitersKept = 64

// waiter returns one that is as new.
func (c *callState) waiter() *waiter {
	last := len(c.free) - 1
	if last < 0 {
		return &waiter{wake: make(chan struct{}, 1)}
	}
	w := c.free[last]
	c.free = c.free[:last]
	return w
}

// putBack takes back one that nobody else knows any more.
func (c *callState) putBack(w *waiter) {
	select { // a wake that nobody waited for must not wake the next call
	case <-w.wake:
	default:
	}
	*w = waiter{wake: w.wake}
	if len(c.free) < waitersKept {
		c.free = append(c.free, w)
	}
}

func (w *waiter) look() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}
