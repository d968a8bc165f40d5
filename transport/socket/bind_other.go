//go:build unix && !linux

package socket

import "net"

// bind keeps the file 0600 from its first instant, the umask untouched (SOCK-2).
func bind(path string) (*net.UnixListener, error) { return bindAside(path) }
