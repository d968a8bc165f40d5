package socket

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Waits after an accept that failed: short enough that a descriptor given back is used soon, long enough to cost nothing.
const (
	acceptWaitMin = 5 * time.Millisecond
	acceptWaitMax = 100 * time.Millisecond
)

// accept hands over callers until ctx ends, which is no error. A process without a descriptor or memory to spare goes on
// accepting when there is one again, and does not spin meanwhile: callers wait in the kernel's queue (SOCK-5).
func (l *Listener) accept(ctx context.Context, take func(*net.UnixConn)) error {
	woken := make(chan struct{})
	context.AfterFunc(ctx, func() {
		l.ln.SetDeadline(time.Unix(1, 0))
		close(woken)
	})
	for wait := time.Duration(0); ; {
		conn, err := l.ln.AcceptUnix()
		switch {
		case err == nil:
			wait = 0
			take(conn)
			continue
		case ctx.Err() != nil:
			<-woken
			return nil
		case isBroken(err):
			return err
		case wait == 0:
			l.log("accept failed and is tried again: " + err.Error())
		}
		wait = min(max(2*wait, acceptWaitMin), acceptWaitMax)
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// isBroken reports whether a failed accept will fail for ever.
func isBroken(err error) bool {
	for _, broken := range []error{net.ErrClosed, unix.EBADF, unix.EINVAL, unix.ENOTSOCK, unix.EOPNOTSUPP} {
		if errors.Is(err, broken) {
			return true
		}
	}
	return false
}

// acceptQueue hands over who connected before the end and has not been accepted. Once the file is gone nobody joins them.
func (l *Listener) acceptQueue(take func(*net.UnixConn)) {
	raw, err := l.ln.SyscallConn()
	if err != nil {
		return
	}
	l.ln.SetDeadline(time.Time{})
	for {
		waiting := false
		raw.Control(func(fd uintptr) {
			fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
			n, _ := unix.Poll(fds, 0)
			waiting = n > 0
		})
		if !waiting {
			return
		}
		conn, err := l.ln.AcceptUnix()
		if err != nil {
			return
		}
		take(conn)
	}
}

// log tells what no caller can be told.
func (l *Listener) log(text string) {
	text = fmt.Sprintf("%s: %s", l.path, text)
	if l.opts.Log == nil {
		fmt.Fprintln(os.Stderr, text)
		return
	}
	l.opts.Log(text)
}
