package rpc

import (
	"context"
	"net"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport/internal/frame"
)

// upgradeKey is what the context of a method that may upgrade carries an *upgrader under.
type upgradeKey struct{}

type upgrader struct {
	s  *session
	id uint64
}

// Upgrade makes the connection the handler's own (RPC-7): it waits until every other request on it is answered, writes rows as the
// response to the request that is being served, which is the acknowledgement, and returns the connection from the byte behind that
// request on. The caller must close it; what its handler returns is dropped. ctx is the handler's: it also ends when the program
// must stop, and the connection is then closed after a grace. The error is Refused where the method is not one of
// [Options].Upgrades or came by another wire, and that of ctx where the connection ended; nothing was written then.
func Upgrade(ctx context.Context, rows shape.Rows) (net.Conn, error) {
	u, _ := ctx.Value(upgradeKey{}).(*upgrader)
	if u == nil {
		return nil, shape.Refused.Errorf("only a method of the daemon wire that is declared to upgrade takes its connection")
	}
	return u.take(rows)
}

func (u *upgrader) take(rows shape.Rows) (net.Conn, error) {
	s := u.s
	ack, err := appendResult(nil, u.id, rows, s.cfg.Limits)
	if size := len(ack) - frame.HeadLen; err == nil && size > s.cfg.Limits.Frame {
		err = shape.Failed.Errorf("the acknowledgement: %w", &TooLarge{size, s.cfg.Limits.Frame})
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out.flush()
	for !s.ended && len(s.flying) > 1 {
		s.changed.Wait()
	}
	switch {
	case s.taken:
		return nil, shape.Refused.Errorf("the connection has been taken already")
	case s.ending && !s.ended:
		return nil, ShuttingDown.Errorf("the daemon stops, and gives no connection away")
	}
	s.out.out = append(s.out.out, ack...)
	for s.out.flush(); !s.ended && s.out.backlog() > 0; {
		s.changed.Wait()
	}
	if s.ended {
		return nil, shape.Unavailable.Errorf("the connection has ended: %w", context.Cause(s.peer.Context()))
	}
	s.taken = true
	s.conn.SetReadDeadline(time.Time{}) // what was to wake the leader may have come too late for it
	if s.ending {                       // it came while the acknowledgement was on its way
		go s.peer.Close()
	}
	rest := s.in.Unread()
	s.in.Forget()
	return &upgraded{Conn: s.conn, rest: rest, closed: s.drop}, nil
}

// upgraded is a connection that has carried requests: what was read behind the last of them is read first.
type upgraded struct {
	net.Conn
	rest   []byte // the reader's
	closed func()
}

func (c *upgraded) Read(p []byte) (int, error) {
	if len(c.rest) > 0 {
		n := copy(p, c.rest)
		c.rest = c.rest[n:]
		return n, nil
	}
	c.rest = nil
	return c.Conn.Read(p)
}

// CloseWrite tells the other end that nothing more comes.
func (c *upgraded) CloseWrite() error { return c.Conn.(interface{ CloseWrite() error }).CloseWrite() }

// Close closes the connection; it may be called again. It is closed when this returns, and before the handler's context ends: whoever
// wakes with that can write nothing any more.
func (c *upgraded) Close() error {
	c.Conn.Close()
	c.closed()
	return nil
}
