package socket

import (
	"context"
	"fmt"
	"net"
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
	ctx  context.Context // of the connections: they end by end

	mu     sync.Mutex
	open   int // accepted and not ended
	served int // of these, who counts against Max
	peers  map[Session]struct{}
	ending bool
	idle   chan struct{} // closed when ending and none is open
}

// take serves a caller, elsewhere: nobody who connects waits for another (SOCK-5).
func (s *server) take(conn *net.UnixConn) {
	s.mu.Lock()
	s.open++
	s.mu.Unlock()
	go func() {
		if !s.admit(conn) {
			conn.Close()
			s.mu.Lock()
			defer s.mu.Unlock()
			s.left()
		}
	}()
}

// admit connects a caller who may be served. Who it is comes first: a stranger is told nothing at all (SOCK-4).
func (s *server) admit(conn *net.UnixConn) bool {
	cred, err := prepare(conn)
	if err != nil || !s.opts.Allow(cred) {
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
	cfg.Door, cfg.Name = transport.Socket, fmt.Sprintf("pid %d", cred.PID)
	cfg.Cred, cfg.PIDFD = &cred, pidfdOf(conn)
	c := &caller{UnixConn: conn, server: s}
	c.peer = s.opts.Wire.Serve(s.ctx, c, cfg)
	s.peers[c.peer] = struct{}{}
	if s.ending {
		c.peer.End(nil)
	}
	return true
}

// caller is a connection that says when it is closed, so that an idle one costs no goroutine which waits for that.
type caller struct {
	*net.UnixConn
	server *server
	peer   Session // guarded by the server's mu
	once   sync.Once
}

// Close is called by the peer.
func (c *caller) Close() error {
	defer c.once.Do(func() { go c.forget() })
	return c.UnixConn.Close()
}

// forget gives the caller's place back once its handler has ended, too.
func (c *caller) forget() {
	s := c.server
	s.mu.Lock()
	peer := c.peer // admit holds mu until it is set
	s.mu.Unlock()
	<-peer.Done()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.peers, peer)
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
	for peer := range s.peers {
		peer.Close()
	}
	s.mu.Unlock()
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
