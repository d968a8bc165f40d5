package rpc

import (
	"errors"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport/internal/frame"
	"github.com/kith-wire/kith/transport/internal/stream"
)

// answer is one frame that came.
type answer struct {
	res  response
	err  error        // it is no response, and more may be told of res all the same
	bad  *frame.Frame // it is no frame
	from *frame.Chunk // holds its bytes; to be released
}

// lead reads once and hands out what came. mu is held on entry and on return, and not while it reads.
func (c *Client) lead() {
	c.leading, c.heir = true, nil
	c.mu.Unlock()
	n, err := c.str.ReadNext(&c.in)
	c.in.Took(n)
	more := err == nil && c.cut()
	c.mu.Lock()
	c.leading = false
	for c.handOut(); more && !c.taken && !c.ended; c.handOut() {
		more = c.cut()
	}
	if err != nil && !errors.Is(err, stream.ErrInterrupted) {
		c.inputEnded(err)
	}
}

// passLead has another caller lead, should p have been the one who did or was to. mu is held.
func (c *Client) passLead(p *pending) {
	if c.leading || c.heir != nil && c.heir != p {
		return
	}
	c.heir = nil
	if len(c.calls) == c.lost {
		return
	}
	for _, next := range c.calls {
		if !next.done {
			c.heir = next
			next.look()
			return
		}
	}
}

// cut reads every whole frame there is, but one alone where another protocol's bytes may stand behind it; it then reports that there
// may be more. It is the leader's, and needs no mu: what comes behind a request to upgrade comes after c.upgrade was set.
func (c *Client) cut() (more bool) {
	for {
		f, is := c.in.Next()
		switch {
		case !is:
			c.in.NoRead()
			return false
		case f.Bad != nil:
			bad := f
			c.batch = append(c.batch, answer{bad: &bad})
			return false
		}
		a := answer{from: c.in.Hold()}
		a.res, a.err = parseResponse(f.Body, c.cfg.Limits)
		c.batch = append(c.batch, a)
		if c.upgrade.Load() != nil {
			return true
		}
	}
}

// handOut gives what was read to whoever it is for. mu is held.
func (c *Client) handOut() {
	for i := range c.batch {
		a := &c.batch[i]
		if c.ended || !c.accept(a) {
			a.from.Release()
		}
		*a = answer{}
	}
	c.batch = c.batch[:0]
}

// accept gives a response to its call; it reports whether that call holds the bytes from here on. mu is held.
func (c *Client) accept(a *answer) bool {
	if a.bad != nil {
		c.fail(badFrame(*a.bad, c.cfg.Limits.Frame))
		return false
	}
	res := &a.res
	p := c.calls[res.id]
	switch {
	case a.err != nil && p != nil && !res.whole.IsZero(): // whose it is can be told
		c.forget(p)
		c.settle(p, shape.Malformed.Errorf("%w", &MalformedJSON{a.err}))
	case a.err != nil:
		c.fail(shape.Malformed.Errorf("%w", &MalformedJSON{a.err}))
	case p == nil && res.failed != nil && res.id == 0:
		c.fail(c.said(res)) // of no request of ours: it is about the connection
	case p == nil:
		c.fail(shape.Malformed.Errorf("a response came with id %d, and no request of it is outstanding", res.id))
	case res.failed != nil:
		c.forget(p)
		c.settle(p, c.said(res))
	default:
		c.forget(p)
		if p.gone {
			return false
		}
		p.rows, p.from = res.result.Rows(), a.from
		if c.cfg.Limits.KeepReplies {
			p.rows = p.rows.WithReply(res.whole.Clone())
		}
		c.taken = c.taken || c.upgrade.Load() == p
		c.settle(p, nil)
		return true
	}
	return false
}

// said is the error that a response holds.
func (c *Client) said(res *response) *shape.Error {
	f := res.failed
	e := &shape.Error{Fault: f.code.Fault(), Code: string(f.code), Text: f.message, Said: true}
	if e.Text == "" {
		e.Text = "no reason given"
	}
	if c.cfg.Limits.KeepReplies {
		e.Reply = res.whole.Clone()
	}
	return e
}
