//go:build !linux

package main

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// ours reports whether the kernel says that the caller is the user we are.
func ours(conn *net.UnixConn) bool {
	mine := false
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	raw.Control(func(fd uintptr) {
		cred, err := unix.GetsockoptXucred(int(fd), 0, unix.LOCAL_PEERCRED)
		mine = err == nil && int(cred.Uid) == os.Geteuid()
	})
	return mine
}
