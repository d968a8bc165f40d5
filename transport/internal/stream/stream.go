// Package stream is what a connection needs of the bytes under it: reads that can be interrupted, writes that do not wait, and
// whether anybody is still there.
package stream

import (
	"errors"
	"io"
	"time"
)

// Stream is a two-way stream of bytes. One goroutine reads and one writes at a time; the rest may come from anywhere.
type Stream interface {
	io.ReadWriteCloser // whole reads and writes, for whoever wants those; Close wakes everything that waits
	// ReadNext waits for bytes and reads them into room. After Interrupt it returns ErrInterrupted, once.
	ReadNext(room Room) (int, error)
	// TryRead reads what is there now; 0 and no error when nothing is.
	TryRead(p []byte) (int, error)
	// TryWrite writes what fits now, perhaps nothing.
	TryWrite(p []byte) (int, error)
	// WriteSome waits until some of p has been written and says how much.
	WriteSome(p []byte) (int, error)
	// Interrupt wakes a ReadNext that waits, now or next.
	Interrupt()
	// CloseWrite tells the other end that nothing more comes.
	CloseWrite() error
	// Gone reports whether the other end is gone both ways: it will neither send nor read again.
	Gone() bool
}

// Room is where a read goes. It is asked for only when there may be something to read, so that an idle connection holds no
// buffer, and told when there was nothing.
type Room interface {
	Room() []byte
	NoRead()
}

// ErrInterrupted is what a ReadNext returns that Interrupt woke.
var ErrInterrupted = errors.New("interrupted")

// ReadAfter reads what is there now; where nothing is, it calls then, once, and waits as ReadNext does. What then does is
// done after all that had come before. It may end without having called then.
func ReadAfter(s Stream, room Room, then func()) (int, error) {
	if s, ok := s.(interface {
		ReadAfter(Room, func()) (int, error)
	}); ok {
		return s.ReadAfter(room, then)
	}
	if n, err := s.TryRead(room.Room()); n > 0 || err != nil {
		return n, err
	}
	room.NoRead()
	then()
	return s.ReadNext(room)
}

// Of returns the stream of any io.ReadWriteCloser. One that is no Stream is read and written as it can be: one with read
// deadlines never tries a write without waiting, and one without them is copied through memory.
func Of(rw io.ReadWriteCloser) Stream {
	if s, ok := rw.(Stream); ok {
		return s
	}
	if s := polledOf(rw); s != nil {
		return s
	}
	if d, ok := rw.(deadliner); ok {
		return plain{rw, d}
	}
	return newCopied(rw)
}

type deadliner interface{ SetReadDeadline(time.Time) error }

// plain is a stream of which nothing is known but that its reads can be interrupted.
type plain struct {
	io.ReadWriteCloser
	deadliner
}

func (s plain) ReadNext(room Room) (int, error) {
	n, err := s.Read(room.Room())
	if n > 0 {
		return n, nil
	}
	room.NoRead()
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		s.SetReadDeadline(time.Time{})
		return 0, ErrInterrupted
	}
	return 0, err
}

func (s plain) TryRead([]byte) (int, error)     { return 0, nil }
func (s plain) TryWrite([]byte) (int, error)    { return 0, nil }
func (s plain) WriteSome(p []byte) (int, error) { return s.Write(p) }
func (s plain) Gone() bool                      { return false }
func (s plain) Interrupt()                      { s.SetReadDeadline(time.Unix(1, 0)) }
func (s plain) CloseWrite() error               { return closeWrite(s.ReadWriteCloser) }

func closeWrite(rw io.ReadWriteCloser) error {
	if c, ok := rw.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return errors.ErrUnsupported
}

// copied is a stream that cannot be interrupted, and is copied to and from one in memory that can.
type copied struct {
	Stream
	rw  io.ReadWriteCloser
	out chan struct{} // closed once all that was written has been passed on
}

// copiedGrace is how long a closed stream may take to pass on what was written before.
const copiedGrace = 2 * time.Second

func newCopied(rw io.ReadWriteCloser) *copied {
	near, far := Memory()
	s := &copied{near, rw, make(chan struct{})}
	go func() {
		io.Copy(far, rw)
		far.CloseWrite()
	}()
	go func() {
		defer close(s.out)
		if _, err := io.Copy(rw, far); err != nil {
			far.Close() // nobody reads any more
			return
		}
		closeWrite(rw)
	}()
	return s
}

// Close passes on what was written, within a grace, and returns at once.
func (s *copied) Close() error {
	err := s.Stream.Close()
	go func() {
		select {
		case <-s.out:
		case <-time.After(copiedGrace):
		}
		s.rw.Close()
	}()
	return err
}
