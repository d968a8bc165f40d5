package main

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// notice tells when a file may have changed: at once by inotify where that can be had, and in any case after an interval,
// for what inotify cannot tell: a file on another machine's disk, one behind a link, a directory made later.
type notice struct {
	events   *os.File // of the directory; nil where there are none
	interval time.Duration
	done     chan struct{}
	buf      [16 << 10]byte
}

const (
	withEvents    = time.Second
	withoutEvents = 200 * time.Millisecond
)

func newNotice(path string) *notice {
	n := &notice{interval: withoutEvents, done: make(chan struct{})}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return n
	}
	dir := filepath.Dir(path)
	os.MkdirAll(dir, 0o700) // else the first note of all would be noticed late
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_MODIFY|unix.IN_CREATE|unix.IN_MOVED_TO); err != nil {
		unix.Close(fd)
		return n
	}
	n.events, n.interval = os.NewFile(uintptr(fd), "inotify"), withEvents
	return n
}

// wait returns when the file may have changed; false once the notice is closed.
func (n *notice) wait() bool {
	if n.events != nil {
		n.events.SetReadDeadline(time.Now().Add(n.interval))
		_, err := n.events.Read(n.buf[:])
		if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			return true
		}
		if errors.Is(err, os.ErrClosed) {
			return false
		}
		n.interval = withoutEvents
	}
	select {
	case <-n.done:
		return false
	case <-time.After(n.interval):
		return true
	}
}

func (n *notice) close() {
	close(n.done)
	if n.events != nil {
		n.events.Close()
	}
}
