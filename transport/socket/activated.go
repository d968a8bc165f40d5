package socket

import (
	"fmt"
	"net"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// firstPassed is the first descriptor that a service manager passes on.
const firstPassed = 3

// Activated returns the listener that a service manager passed to this process (LISTEN_PID and LISTEN_FDS), and false where none
// did. It must be one Unix stream socket with a path that listens, else the error says what it is. The variables are removed, so
// that no child takes them for its own. There is no lock, and the file is not ours to remove (SOCK-6).
func Activated(opts Options) (*Listener, bool, error) {
	pid, fds := os.Getenv("LISTEN_PID"), os.Getenv("LISTEN_FDS")
	if pid != strconv.Itoa(os.Getpid()) || fds == "" || fds == "0" {
		return nil, false, nil
	}
	for _, name := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
		os.Unsetenv(name)
	}
	opts, err := opts.complete()
	if err != nil {
		return nil, false, err
	}
	n, err := strconv.ParseUint(fds, 10, 16)
	if err != nil {
		return nil, false, fmt.Errorf("LISTEN_FDS is %q and must be a number: %w", fds, err)
	}
	for i := range int(n) {
		unix.CloseOnExec(firstPassed + i)
	}
	if n != 1 {
		return nil, false, fmt.Errorf("%d sockets were passed (LISTEN_FDS), and 1 is taken", n)
	}
	path, err := checkPassed(firstPassed)
	if err != nil {
		return nil, false, fmt.Errorf("descriptor %d was passed to be served (LISTEN_FDS): %w", firstPassed, err)
	}
	f := os.NewFile(firstPassed, path)
	defer f.Close() // the listener has its own copy
	ln, err := net.FileListener(f)
	if err != nil {
		return nil, false, err
	}
	unixLn := ln.(*net.UnixListener)
	unixLn.SetUnlinkOnClose(false)
	return &Listener{path: path, opts: opts, ln: unixLn}, true, nil
}

// checkPassed returns the path of a Unix stream socket that listens, and what else it is in an error.
func checkPassed(fd int) (path string, err error) {
	kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil {
		return "", fmt.Errorf("it is not a socket: %w", err)
	}
	addr, err := unix.Getsockname(fd)
	if err != nil {
		return "", os.NewSyscallError("getsockname", err)
	}
	at, ok := addr.(*unix.SockaddrUnix)
	if !ok {
		return "", fmt.Errorf("it is not a Unix socket")
	}
	if kind != unix.SOCK_STREAM {
		return "", fmt.Errorf("it is a Unix socket and not a stream")
	}
	if listens, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ACCEPTCONN); err != nil || listens == 0 {
		return "", fmt.Errorf("it is a Unix socket and does not listen")
	}
	return at.Name, checkPath(at.Name)
}
