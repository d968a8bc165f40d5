package socket

import (
	"net"

	"github.com/kith-wire/kith/transport"
)

// credOf returns who is at the other end, as the kernel has it (SOCK-4).
func credOf(conn *net.UnixConn) (cred transport.Cred, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return cred, err
	}
	e := raw.Control(func(fd uintptr) { cred, err = peerCred(int(fd)) })
	if e != nil {
		return cred, e
	}
	return cred, err
}
