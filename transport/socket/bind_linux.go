package socket

import (
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// bind gives the socket its mode before it has a name: the file is 0600 from its first instant, whatever the umask is, and the
// umask, which belongs to the whole process, is not touched (SOCK-2).
func bind(path string) (*net.UnixListener, error) {
	ln, err := listenAt(path, net.ListenConfig{Control: func(_, _ string, conn syscall.RawConn) error {
		var err error
		if e := conn.Control(func(fd uintptr) { err = unix.Fchmod(int(fd), 0o600) }); e != nil {
			return e
		}
		return os.NewSyscallError("fchmod", err)
	}})
	return ln, err
}
