package conformance

import "golang.org/x/sys/unix"

// untaken is how many bytes the program has not read yet: of a pipe what is in it, of a socket what was sent.
func (s *stream) untaken() (n int) {
	request := uint(unix.TIOCINQ)
	if s.conn != nil {
		request = unix.TIOCOUTQ
	}
	if raw, err := s.in.SyscallConn(); err == nil {
		raw.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), request) })
	}
	return n
}
