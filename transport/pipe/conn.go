package pipe

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kith-wire/kith/transport/internal/child"
	"github.com/kith-wire/kith/transport/internal/stream"
)

// explainTime is how long a child whose end of a pipe is closed has to end, so that it can be said how it did.
const explainTime = 500 * time.Millisecond

// conn is the stream to a child. It says when it is closed, and what a failed write means.
type conn struct {
	stream.Stream
	proc     *child.Process
	finished atomic.Bool // CloseWrite: the child knows that nothing more comes
	once     sync.Once
	closed   chan struct{}
}

func (c *conn) CloseWrite() error {
	c.finished.Store(true)
	return c.Stream.CloseWrite()
}

func (c *conn) TryWrite(p []byte) (int, error) {
	n, err := c.Stream.TryWrite(p)
	return n, c.unread(err)
}

func (c *conn) WriteSome(p []byte) (int, error) {
	n, err := c.Stream.WriteSome(p)
	return n, c.unread(err)
}

// unread says why nobody reads what we write: nearly always because the child has ended.
func (c *conn) unread(err error) error {
	if !errors.Is(err, unix.EPIPE) {
		return err
	}
	if !c.exits() {
		return fmt.Errorf("it has closed its stdin and still runs: %w", err)
	}
	return fmt.Errorf("it ended with %s", c.proc.Ending())
}

// exits reports whether the child has ended, or is about to.
func (c *conn) exits() bool {
	timer := time.NewTimer(explainTime)
	defer timer.Stop()
	select {
	case <-c.proc.Exited():
		return true
	case <-timer.C:
		return false
	}
}

// Close ends the child's stdin. Its stdout is read on, elsewhere, so that a child which is still writing can finish.
func (c *conn) Close() (err error) {
	c.once.Do(func() {
		rest := again(c.proc.Out)
		err = c.Stream.Close()
		if rest != nil {
			go c.drain(rest)
		}
		close(c.closed)
	})
	return err
}

// again returns another descriptor of a pipe, or nil where there is none to be had.
func again(f *os.File) (dup *os.File) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil
	}
	raw.Control(func(fd uintptr) {
		if n, err := unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0); err == nil {
			dup = os.NewFile(uintptr(n), f.Name())
		}
	})
	return dup
}

// drain reads and drops what comes until nothing can come any more.
func (c *conn) drain(rest *os.File) {
	ended := make(chan struct{})
	go func() {
		io.Copy(io.Discard, rest)
		close(ended)
	}()
	select {
	case <-ended:
	case <-c.proc.Exited():
	}
	rest.Close()
	<-ended
}
