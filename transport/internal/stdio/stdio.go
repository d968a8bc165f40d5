// Package stdio keeps a program's standard output for the wire, and reads and writes inherited descriptors as they are: whether
// they block is a matter of whoever shares them, and never changed here (ARGV-5).
package stdio

import (
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// FD is a descriptor that is written to and read from until all is done, O_NONBLOCK or not. It is not closed by anybody.
type FD int

// What the program inherited: its standard input, and its standard error, where people read.
const (
	Stdin  FD = 0
	Stderr FD = 2
)

// Breaks reports whether a write to the descriptor can fail because nobody reads any more: of what a program inherits that is a pipe
// or a socket. What cannot be looked at may.
func Breaks(fd FD) bool {
	var info unix.Stat_t
	if err := unix.Fstat(int(fd), &info); err != nil {
		return true
	}
	kind := info.Mode & unix.S_IFMT
	return kind == unix.S_IFIFO || kind == unix.S_IFSOCK
}

// Guard takes standard output for the wire: from now on descriptor 1 is standard error, so that a stray print, a child's too,
// cannot get into a message, and what Guard returns is where messages go (ARGV-5). That is a descriptor of its own, which no
// child inherits and whose broken pipe is an error and not a signal. There is one for the life of the process: Guard returns
// the same one again, and nothing undoes it, or a goroutine that is still printing at the end would spoil the last message.
func Guard() (FD, error) { return guard() }

var guard = sync.OnceValues(func() (FD, error) {
	fd, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return -1, os.NewSyscallError("dup", err)
	}
	for {
		switch err := dup2(2, 1); err {
		case nil:
			return FD(fd), nil
		case unix.EINTR, unix.EBUSY: // another thread is about to get a descriptor of this number
		default:
			unix.Close(fd)
			return -1, os.NewSyscallError("dup2", err)
		}
	}
})

// Read reads once. It waits for input where the descriptor does not.
func (fd FD) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(int(fd), p)
		switch {
		case err == nil && n == 0 && len(p) > 0:
			return 0, io.EOF
		case err == nil:
			return n, nil
		}
		if err := fd.again("read", err, unix.POLLIN); err != nil {
			return 0, err
		}
	}
}

// Write writes all of p, whatever it takes.
func (fd FD) Write(p []byte) (done int, err error) {
	for done < len(p) {
		n, err := unix.Write(int(fd), p[done:])
		if n > 0 {
			done += n
		}
		if err == nil {
			continue
		}
		if err := fd.again("write", err, unix.POLLOUT); err != nil {
			return done, err
		}
	}
	return done, nil
}

// again returns nil once what failed may be tried again: somebody has set O_NONBLOCK, or a signal came.
func (fd FD) again(what string, err error, events int16) error {
	switch err {
	case unix.EINTR:
		return nil
	case unix.EAGAIN:
		fds := []unix.PollFd{{Fd: int32(fd), Events: events}}
		if _, err := unix.Poll(fds, -1); err != nil && err != unix.EINTR {
			return os.NewSyscallError("poll", err)
		}
		return nil
	}
	return os.NewSyscallError(what, err)
}
