package socket

import (
	"context"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
)

// refusalTime bounds the write of a refusal to a caller that is not served. Its buffer is empty, so it takes none.
const refusalTime = time.Second

// Serve serves callers until ctx ends, each connection at the same time as the others, and returns nil after a stop in order
// (SOCK-6): nobody is accepted any more, the file is removed, every frame that has wholly arrived is answered and a started one
// cut, and what has not ended by then is closed, all within [Options].Grace. A handler that goes on even though its context has
// ended is left behind. An error says that the listener broke, net.ErrClosed that it was closed; its connections were ended in
// the same way. Serve closes l, and is called once.
func (l *Listener) Serve(ctx context.Context) error {
	s := &server{
		opts:  l.opts,
		own:   os.Geteuid(),
		ctx:   context.WithoutCancel(ctx),
		peers: map[Session]struct{}{},
		idle:  make(chan struct{}),
	}
	stop, cancel := context.WithCancel(ctx)
	defer cancel()
	err := l.accept(stop, s.take)
	end := time.Now().Add(l.opts.Grace)
	if l.made != nil { // a listener that was handed to us goes on, and so does its queue
		l.removeFile()
		l.acceptQueue(s.take)
	}
	l.Close()
	s.end(end)
	return err
}

// server is the connections of one Serve.
type server struct {
	opts Options
	own  int             // our user
	ctx  context.Context // of the connections: they end by end

	mu     sync.Mutex
	open   int // accepted and not ended
	served int // of these, who counts against Max
	peers  map[Session]struct{}
	ending bool
	idle   chan struct{} // closed when ending and none is open
}

// take serves a caller. Nobody who connects waits for another (SOCK-5), so that a policy, which may take its time, is asked elsewhere.
func (s *server) take(conn *net.UnixConn) {
	s.mu.Lock()
	s.open++
	s.mu.Unlock()
	if s.opts.Allow == nil {
		s.admitOrClose(conn)
	} else {
		go s.admitOrClose(conn)
	}
}

func (s *server) admitOrClose(conn *net.UnixConn) {
	if !s.admit(conn) {
		conn.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.left()
	}
}

// admit connects a caller who may be served. Who it is comes first: a stranger is told nothing at all (SOCK-4).
func (s *server) admit(conn *net.UnixConn) bool {
	cred, err := credOf(conn)
	if err != nil || !s.allows(cred) {
		return false
	}
	s.mu.Lock()
	if s.served >= s.opts.Max {
		s.mu.Unlock()
		s.refuse(conn)
		return false
	}
	defer s.mu.Unlock()
	s.served++
	cfg := s.opts.Config
	c := &caller{conn: conn, server: s, cred: cred}
	cfg.Door, cfg.Name, cfg.Cred = transport.Socket, "pid "+strconv.Itoa(cred.PID), &c.cred
	cfg.PIDFD, cfg.Ended = c.pidfd, c.ended
	c.peer = s.opts.Wire.Serve(s.ctx, conn, cfg)
	s.peers[c.peer] = struct{}{}
	if s.ending {
		c.peer.End(nil)
	}
	return true
}

func (s *server) allows(cred transport.Cred) bool {
	if s.opts.Allow == nil {
		return cred.UID == s.own
	}
	return s.opts.Allow(cred)
}

// caller is a connection that is served.
type caller struct {
	conn   *net.UnixConn
	server *server
	cred   transport.Cred
	peer   Session // guarded by the server's mu
}

func (c *caller) pidfd() *os.File { return pidfdOf(c.conn) }

// ended gives the caller's place back. Should it end before admit has stored it, mu is what it waits for.
func (c *caller) ended() {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.peers, c.peer)
	s.served--
	s.left()
}

// refuse tells a caller that there are too many, without waiting for its call (SOCK-5).
func (s *server) refuse(conn *net.UnixConn) {
	limit := s.opts.Max
	why := shape.Refused.Errorf("%d connections are open and the limit is %d: try again later", limit, limit)
	conn.SetDeadline(time.Now().Add(refusalTime))
	conn.Write(s.opts.Wire.Refuse(why))
}

// left counts a connection out. mu is held.
func (s *server) left() {
	s.open--
	s.checkIdle()
}

// checkIdle tells end when there is nobody left. mu is held.
func (s *server) checkIdle() {
	if s.ending && s.open == 0 {
		close(s.idle)
	}
}

// end lets the connections answer what has arrived, and closes those that take longer. It returns at deadline at the latest.
func (s *server) end(deadline time.Time) {
	s.mu.Lock()
	s.ending = true
	s.checkIdle()
	for peer := range s.peers {
		peer.End(nil)
	}
	s.mu.Unlock()
	last := s.opts.Grace / 10 // for handlers to see that their context has ended
	if s.wait(time.Until(deadline) - last) {
		return
	}
	s.mu.Lock()
	late := slices.Collect(maps.Keys(s.peers))
	s.mu.Unlock()
	for _, peer := range late { // without mu, which the end of one takes
		peer.Close()
	}
	s.wait(time.Until(deadline))
}

// wait waits for the last connection to end, but not longer than that.
func (s *server) wait(atMost time.Duration) bool {
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	select {
	case <-s.idle:
		return true
	case <-timer.C:
		return false
	}
}
