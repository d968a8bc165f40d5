//go:build unix && !linux

package stream

import "golang.org/x/sys/unix"

// cannotSend tells a peer that is gone from one that has merely finished sending: elsewhere than on Linux a half-close hangs
// up too, but only a socket whose other end is gone refuses a send.
func cannotSend(fd int) bool { return unix.Send(fd, nil, unix.MSG_DONTWAIT) == unix.EPIPE }
