package socket

import (
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/kith-wire/kith/transport"
)

func peerCred(fd int) (transport.Cred, error) {
	c, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return transport.Cred{}, os.NewSyscallError("getsockopt LOCAL_PEERCRED", err)
	}
	pid, err := unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEEREPID)
	if err != nil {
		return transport.Cred{}, os.NewSyscallError("getsockopt LOCAL_PEEREPID", err)
	}
	return transport.Cred{UID: int(c.Uid), GID: int(c.Groups[0]), PID: pid}, nil
}

func pidfdOf(*net.UnixConn) *os.File { return nil }
