package stream

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Stdio is the stream of two inherited descriptors. Their file descriptions may be shared with other processes, so O_NONBLOCK
// is never set on them, and works where somebody else has: the kernel is asked before each read and write whether it would wait.
// The descriptors stay the caller's; Close only wakes what waits.
type Stdio struct {
	in, out   int
	outSocket bool

	readSet, writeSet [2]unix.PollFd
	trySet            [1]unix.PollFd

	mu      sync.Mutex
	wakeR   *os.File // one byte in it interrupts a read
	wakeW   *os.File
	woken   bool
	gate    *os.File // its other end, closed, ends a write that waits
	gateW   *os.File
	wakeFd  int // of wakeR and of gate: Fd is not free
	gateFd  int
	closed  bool
	waiting int // goroutines in poll
}

// pipeRoom is what a pipe that polls writable takes without waiting (PIPE_BUF).
const pipeRoom = 4096

// NewStdio returns the stream of descriptors in and out.
func NewStdio(in, out int) (*Stdio, error) {
	s := &Stdio{in: in, out: out}
	var st unix.Stat_t
	if err := unix.Fstat(out, &st); err == nil {
		s.outSocket = st.Mode&unix.S_IFMT == unix.S_IFSOCK
	}
	var err error
	if s.wakeR, s.wakeW, err = os.Pipe(); err != nil {
		return nil, err
	}
	if s.gate, s.gateW, err = os.Pipe(); err != nil {
		s.wakeR.Close()
		s.wakeW.Close()
		return nil, err
	}
	s.wakeFd, s.gateFd = int(s.wakeR.Fd()), int(s.gate.Fd())
	return s, nil
}

// enter keeps the descriptors of the wake-ups open until leave.
func (s *Stdio) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return os.ErrClosed
	}
	s.waiting++
	return nil
}

func (s *Stdio) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting--
	s.release()
}

// release closes the wake-ups once nobody polls them.
func (s *Stdio) release() {
	if s.closed && s.waiting == 0 {
		s.wakeR.Close()
		s.gate.Close()
	}
}

// wait polls fd and a wake-up; woken says that the wake-up came.
func wait(set *[2]unix.PollFd, fd int, events int16, wake int) (woken bool, err error) {
	for {
		set[0] = unix.PollFd{Fd: int32(fd), Events: events}
		set[1] = unix.PollFd{Fd: int32(wake), Events: unix.POLLIN}
		_, err := unix.Poll(set[:], -1)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return false, os.NewSyscallError("poll", err)
		}
		return set[1].Revents != 0, nil
	}
}

func (s *Stdio) ReadNext(room Room) (int, error) {
	if err := s.enter(); err != nil {
		return 0, err
	}
	defer s.leave()
	for {
		woken, err := wait(&s.readSet, s.in, unix.POLLIN, s.wakeFd)
		if err != nil {
			return 0, err
		}
		if woken {
			return 0, s.interrupted()
		}
		n, err := read(s.in, room.Room())
		if n > 0 || err != nil {
			return n, err
		}
		room.NoRead()
	}
}

func (s *Stdio) interrupted() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return os.ErrClosed
	}
	var b [1]byte
	s.wakeR.Read(b[:])
	s.woken = false
	return ErrInterrupted
}

// ready asks whether fd can be read or written without waiting.
func (s *Stdio) ready(set []unix.PollFd, fd int, events int16) bool {
	set[0] = unix.PollFd{Fd: int32(fd), Events: events}
	n, err := unix.Poll(set, 0)
	return err == nil && n > 0
}

func (s *Stdio) TryRead(p []byte) (int, error) {
	if !s.ready(s.readSet[:1], s.in, unix.POLLIN) {
		return 0, nil
	}
	return read(s.in, p)
}

func (s *Stdio) TryWrite(p []byte) (done int, err error) {
	for done < len(p) && s.ready(s.trySet[:], s.out, unix.POLLOUT) {
		n, err := s.writeReady(p[done:])
		done += n
		if n == 0 || err != nil {
			return done, err
		}
	}
	return done, nil
}

// writeReady writes to an out that has polled writable.
func (s *Stdio) writeReady(p []byte) (int, error) {
	if s.outSocket {
		n, err := unix.SendmsgN(s.out, p, nil, nil, unix.MSG_DONTWAIT)
		if err == unix.EAGAIN {
			return 0, nil
		}
		return max(n, 0), os.NewSyscallError("send", err)
	}
	return write(s.out, p[:min(len(p), pipeRoom)])
}

func (s *Stdio) WriteSome(p []byte) (int, error) {
	if err := s.enter(); err != nil {
		return 0, err
	}
	defer s.leave()
	for {
		closed, err := wait(&s.writeSet, s.out, unix.POLLOUT, s.gateFd)
		if err != nil {
			return 0, err
		}
		if closed {
			return 0, os.ErrClosed
		}
		n, err := s.writeReady(p)
		if n > 0 || err != nil {
			return n, err
		}
	}
}

func (s *Stdio) Interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed && !s.woken {
		s.woken = true
		s.wakeW.Write([]byte{0})
	}
}

// CloseWrite says that nothing more comes; on descriptors that are not its own it can only stop writing.
func (s *Stdio) CloseWrite() error { return nil }

// Gone reports that nothing will come in and nobody reads what goes out.
func (s *Stdio) Gone() bool { return pollGone(s.in, false) && pollGone(s.out, false) }

// Close wakes what waits and leaves the descriptors open.
func (s *Stdio) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.wakeW.Close()
	s.gateW.Close()
	s.release()
	return nil
}

// Read and Write make it an io.ReadWriteCloser.
func (s *Stdio) Read(p []byte) (int, error) { return s.ReadNext(fixed(p)) }

func (s *Stdio) Write(p []byte) (int, error) { return writeAll(s, p) }

// fixed is room that is always there.
type fixed []byte

func (f fixed) Room() []byte { return f }
func (f fixed) NoRead()      {}
