package socket

import (
	"errors"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/kith-wire/kith/transport"
)

func peerCred(fd int) (transport.Cred, error) {
	c, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return transport.Cred{}, os.NewSyscallError("getsockopt SO_PEERCRED", err)
	}
	if c.Uid == ^uint32(0) {
		return transport.Cred{}, errors.New("the kernel does not say who the peer is")
	}
	return transport.Cred{UID: int(c.Uid), GID: int(c.Gid), PID: int(c.Pid)}, nil
}

// pidfdOf returns a descriptor of the peer's process, nil where there is none: the kernel is older than 6.5, the process has
// been waited for, or no descriptor is free. The socket itself holds on to the process that connected, so that it is never another
// one, whenever it is asked.
func pidfdOf(conn *net.UnixConn) *os.File {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil
	}
	pidfd := -1
	raw.Control(func(fd uintptr) {
		if n, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PEERPIDFD); err == nil {
			pidfd = n // close-on-exec by the kernel
		}
	})
	if pidfd < 0 {
		return nil
	}
	return os.NewFile(uintptr(pidfd), "pidfd")
}
