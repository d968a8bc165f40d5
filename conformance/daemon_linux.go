package conformance

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// serving is the process that made the socket at the other end, where it is our own user's; 0 where that is not known.
func serving(conn *net.UnixConn) (pid int) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0
	}
	raw.Control(func(fd uintptr) {
		cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err == nil && int(cred.Uid) == os.Geteuid() {
			pid = int(cred.Pid)
		}
	})
	return pid
}
