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
	r, w       syscall.RawConn
	socket     bool // r and w are one descriptor
	deadline   func(time.Time) error
	closeRead  func() error
	closeWrite func() error
	raw        io.ReadWriter

	// What the read and the write under way work on: kept here so that a closure is made once, not per call.
	room        Room
	into, from  []byte
	readN       int
	readErr     error
	triedN      int
	triedErr    error
	writtenN    int
	writeErr    error
	readOnce    func(uintptr) bool
	tryReadOnce func(uintptr)
	tryOnce     func(uintptr)
	writeOnce   func(uintptr) bool
}

// polledOf returns the stream of a connection of package net, or nil.
func polledOf(rw io.ReadWriteCloser) Stream {
	conn, ok := rw.(interface {
		syscall.Conn
		io.ReadWriteCloser
		SetReadDeadline(time.Time) error
		CloseWrite() error
	})
	if !ok {
		return nil
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil
	}
	return newPolled(&polled{
		r: raw, w: raw, socket: true, raw: conn,
		deadline: conn.SetReadDeadline, closeRead: conn.Close, closeWrite: conn.CloseWrite,
	})
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
	return newPolled(&polled{
		r: rawR, w: rawW, raw: files{r, w},
		deadline: r.SetReadDeadline, closeRead: r.Close, closeWrite: w.Close,
	}), nil
}

type files struct {
	io.Reader
	io.Writer
}

func newPolled(s *polled) *polled {
	s.readOnce = s.readReady
	s.tryReadOnce = func(fd uintptr) { s.readN, s.readErr = read(int(fd), s.into) }
	s.tryOnce = func(fd uintptr) { s.triedN, s.triedErr = write(int(fd), s.from) }
	s.writeOnce = func(fd uintptr) bool {
		s.writtenN, s.writeErr = write(int(fd), s.from)
		return s.writtenN > 0 || s.writeErr != nil
	}
	return s
}

func (s *polled) readReady(fd uintptr) bool {
	s.readN, s.readErr = read(int(fd), s.room.Room())
	if s.readN == 0 {
		s.room.NoRead()
	}
	return s.readN > 0 || s.readErr != nil
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
		s.deadline(time.Time{})
		return 0, ErrInterrupted
	}
	if err != nil {
		return 0, err
	}
	return s.readN, s.readErr
}

// TryRead goes around the deadline that Interrupt sets.
func (s *polled) TryRead(p []byte) (int, error) {
	s.into = p
	err := s.r.Control(s.tryReadOnce)
	s.into = nil
	if err != nil {
		return 0, err
	}
	return s.readN, s.readErr
}

func (s *polled) TryWrite(p []byte) (int, error) {
	s.from = p
	err := s.w.Control(s.tryOnce)
	s.from = nil
	if err != nil {
		return 0, err
	}
	return s.triedN, s.triedErr
}

func (s *polled) WriteSome(p []byte) (int, error) {
	s.from = p
	err := s.w.Write(s.writeOnce)
	s.from = nil
	if err != nil {
		return 0, err
	}
	return s.writtenN, s.writeErr
}

func (s *polled) Interrupt() { s.deadline(time.Unix(1, 0)) }

func (s *polled) CloseWrite() error { return s.closeWrite() }

func (s *polled) Gone() bool {
	gone := hungUp(s.r, s.socket)
	if !s.socket {
		gone = gone && hungUp(s.w, false)
	}
	return gone
}

func (s *polled) Close() error {
	err := s.closeRead()
	if !s.socket {
		err = errors.Join(err, s.closeWrite())
	}
	return err
}

// Read and Write make it an io.ReadWriteCloser.
func (s *polled) Read(p []byte) (int, error)  { return s.raw.Read(p) }
func (s *polled) Write(p []byte) (int, error) { return s.raw.Write(p) }

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
