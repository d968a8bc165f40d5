package stream

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// polled is a stream on descriptors that the runtime polls: a socket, or a parent's two pipes to its child.
type polled struct {
	pollable
	r, w   syscall.RawConn
	socket bool // r and w are one descriptor

	// What the read and the write under way work on: kept here so that the closures of every call are made once.
	room         Room
	then         func() // of ReadAfter, until it has been called
	from         []byte
	readN        int
	readErr      error
	writtenN     int
	writeErr     error
	readOnce     func(uintptr) bool
	tryWriteOnce func(uintptr)

	grownIn, grownOut bool // a larger buffer has been asked for
}

// pollable is the whole of a polled stream: its reads end with its deadline.
type pollable interface {
	io.ReadWriteCloser
	SetReadDeadline(time.Time) error
	CloseWrite() error
}

// bufferSize is asked of the kernel, each way, once a socket carries more than fits: it gives what it allows and uses memory only for
// bytes that wait. A message of 1 MiB then takes a quarter less time.
const bufferSize = 1 << 20

// polledOf returns the stream of a connection of package net, or nil.
func polledOf(rw io.ReadWriteCloser) Stream {
	conn, ok := rw.(interface {
		syscall.Conn
		pollable
	})
	if !ok {
		return nil
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil
	}
	return newPolled(&polled{pollable: conn, r: raw, w: raw, socket: true})
}

// Files is the stream of a parent's ends of two pipes: r, what the child writes, and w, what it reads. Both must be polled by
// the runtime, as those of os.Pipe are. They are the stream's to close.
func Files(r, w *os.File) (Stream, error) {
	rawR, err := r.SyscallConn()
	if err != nil {
		return nil, err
	}
	rawW, err := w.SyscallConn()
	if err != nil {
		return nil, err
	}
	return newPolled(&polled{pollable: files{r, w}, r: rawR, w: rawW}), nil
}

// files are two pipes.
type files struct{ r, w *os.File }

func (f files) Read(p []byte) (int, error)        { return f.r.Read(p) }
func (f files) Write(p []byte) (int, error)       { return f.w.Write(p) }
func (f files) SetReadDeadline(t time.Time) error { return f.r.SetReadDeadline(t) }
func (f files) CloseWrite() error                 { return f.w.Close() }
func (f files) Close() error                      { return errors.Join(f.r.Close(), f.w.Close()) }

func newPolled(s *polled) *polled {
	s.readOnce = s.readReady
	s.tryWriteOnce = func(fd uintptr) { s.writeReady(fd) }
	return s
}

func (s *polled) readReady(fd uintptr) bool {
	room := s.room.Room()
	s.readN, s.readErr = read(int(fd), room)
	switch s.readN {
	case 0:
		s.room.NoRead()
	case len(room):
		s.grow(fd, &s.grownIn, unix.SO_RCVBUF)
	}
	if s.readN > 0 || s.readErr != nil {
		return true
	}
	if then := s.then; then != nil {
		s.then = nil
		then() // whatever comes from here on wakes the wait that follows: no second read has to find that nothing is there yet
	}
	return false
}

func (s *polled) writeReady(fd uintptr) bool {
	s.writtenN, s.writeErr = write(int(fd), s.from)
	if left := s.from[s.writtenN:]; len(left) > 0 && s.writeErr == nil && s.grow(fd, &s.grownOut, unix.SO_SNDBUF) {
		n, err := write(int(fd), left)
		s.writtenN, s.writeErr = s.writtenN+n, err
	}
	return s.writtenN > 0 || s.writeErr != nil
}

// grow asks once for a larger buffer; it reports whether there may be one.
func (s *polled) grow(fd uintptr, grown *bool, option int) bool {
	if *grown || !s.socket {
		return false
	}
	*grown = true
	return unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, option, bufferSize) == nil
}

// read reads once: 0 and no error when nothing is there.
func read(fd int, p []byte) (int, error) {
	for {
		switch n, err := unix.Read(fd, p); {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			return 0, nil
		case err != nil:
			return 0, os.NewSyscallError("read", err)
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// write writes once: 0 and no error when nothing fits.
func write(fd int, p []byte) (int, error) {
	for {
		switch n, err := unix.Write(fd, p); {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			return 0, nil
		case err != nil:
			return 0, os.NewSyscallError("write", err)
		default:
			return n, nil
		}
	}
}

func (s *polled) ReadNext(room Room) (int, error) {
	s.room = room
	err := s.r.Read(s.readOnce)
	s.room = nil
	if errors.Is(err, os.ErrDeadlineExceeded) {
		s.SetReadDeadline(time.Time{})
		return 0, ErrInterrupted
	}
	if err != nil {
		return 0, err
	}
	return s.readN, s.readErr
}

// ReadAfter is the package's ReadAfter with one read less.
func (s *polled) ReadAfter(room Room, then func()) (int, error) {
	s.then = then
	n, err := s.ReadNext(room)
	s.then = nil
	return n, err
}

// TryRead goes around the deadline that Interrupt sets.
func (s *polled) TryRead(p []byte) (int, error) {
	err := s.r.Control(func(fd uintptr) { s.readN, s.readErr = read(int(fd), p) })
	if err != nil {
		return 0, err
	}
	return s.readN, s.readErr
}

func (s *polled) TryWrite(p []byte) (int, error) {
	s.from = p
	err := s.w.Control(s.tryWriteOnce)
	s.from = nil
	if err != nil {
		return 0, err
	}
	return s.writtenN, s.writeErr
}

func (s *polled) WriteSome(p []byte) (int, error) {
	s.from = p
	err := s.w.Write(s.writeReady)
	s.from = nil
	if err != nil {
		return 0, err
	}
	return s.writtenN, s.writeErr
}

func (s *polled) Interrupt() { s.SetReadDeadline(time.Unix(1, 0)) }

func (s *polled) Gone() bool {
	gone := hungUp(s.r, s.socket)
	if !s.socket {
		gone = gone && hungUp(s.w, false)
	}
	return gone
}

// hungUp asks the kernel, without waiting, whether a descriptor's other end is gone: of a socket, both ways.
func hungUp(raw syscall.RawConn, socket bool) (gone bool) {
	err := raw.Control(func(fd uintptr) { gone = pollGone(int(fd), socket) })
	return gone || err != nil
}

func pollGone(fd int, socket bool) bool {
	fds := []unix.PollFd{{Fd: int32(fd)}}
	if n, err := unix.Poll(fds, 0); err != nil || n == 0 {
		return false
	}
	if fds[0].Revents&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) == 0 {
		return false
	}
	return !socket || cannotSend(fd)
}
