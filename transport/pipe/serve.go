package pipe

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/internal/stdio"
	"github.com/kith-wire/kith/transport/internal/stream"
)

// Bounds of a stop (PIPE-3).
const (
	stopTime  = 5 * time.Second
	lastWords = stopTime / 10 // of it, for handlers to see that their context has ended
)

// Serve answers on stdin and stdout with cfg's Handler until input ends, and returns nil once every call that was read, a last line
// without its end too, has been answered and written (PIPE-3). The end of ctx is an end of input: what has arrived is answered,
// within 5 s, and what has not been by then is dropped, with an error. Any other error says why the connection failed: the parent
// reads no more, or it sent a reply that nobody waited for (CLIENT-3). A program prints it on stderr and exits 1. A handler that
// goes on 5 s after its connection has gone is left behind.
//
// Door is set; Name is the parent unless cfg has one; a parent may stop reading for as long as it likes unless Stall says otherwise
// (LIMIT-5). The descriptors stay as they are, whether they block or not. Descriptor 1 is stderr from now on, for the rest of the
// process's life (ARGV-5), so Serve is called once.
func Serve(ctx context.Context, cfg transport.Config) error {
	if cfg.Handler == nil {
		return errors.New("pipe: nothing to serve: the Config has no Handler")
	}
	out, err := stdio.Guard()
	if err != nil {
		return err
	}
	std, err := stream.NewStdio(int(stdio.Stdin), int(out))
	if err != nil {
		return err
	}
	s := &served{Stdio: std, closed: make(chan struct{})}
	cfg.Door = transport.Pipe
	if cfg.Name == "" {
		cfg.Name = "the parent"
	}
	if cfg.Stall == 0 {
		cfg.Stall = -1
	}
	peer := transport.Connect(context.WithoutCancel(ctx), s, transport.Lines, cfg)
	select {
	case <-peer.Done():
		return peer.Err()
	case <-s.closed: // it has ended, but for a handler that may not have noticed
		if ended(peer, stopTime) {
			return peer.Err()
		}
		return shape.Failed.Errorf("a handler goes on %v after the connection has ended: %w", stopTime, peer.Err())
	case <-ctx.Done():
		return stop(peer)
	}
}

// served is stdin and stdout, which say when their connection has ended.
type served struct {
	*stream.Stdio
	once   sync.Once
	closed chan struct{}
}

func (s *served) Close() error {
	defer s.once.Do(func() { close(s.closed) })
	return s.Stdio.Close()
}

// stop ends a served connection in order, but in bounded time.
func stop(peer *transport.Peer) error {
	peer.End(nil)
	if ended(peer, stopTime-lastWords) {
		return peer.Err()
	}
	peer.Close()
	ended(peer, lastWords)
	return shape.Failed.Errorf("stopped with calls unanswered or unwritten after %v", stopTime)
}

// ended reports whether the connection ends within that time.
func ended(peer *transport.Peer, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-peer.Done():
		return true
	case <-timer.C:
		return false
	}
}
