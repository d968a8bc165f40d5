// Package tied ends a program with the process it was started for (PIPE-5).
package tied

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// ErrNobody says that there is no such process, or only one that started after us: the one that was meant has ended, and its
// number was used again.
var ErrNobody = errors.New("it has ended")

// To returns a context that ends when process pid does, and says so in its cause. What watches ends with ctx. The error wraps
// [ErrNobody] where that process is not there any more. On Linux the kernel must have pidfds (5.3); on FreeBSD a number that
// was used again is not noticed.
func To(ctx context.Context, pid int) (context.Context, error) {
	if pid <= 0 {
		return nil, fmt.Errorf("%d is no process", pid)
	}
	fd, err := open(pid)
	if err != nil {
		return nil, fmt.Errorf("process %d: %w", pid, err)
	}
	stop, stopW, err := os.Pipe()
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	ctx, end := context.WithCancelCause(ctx)
	context.AfterFunc(ctx, func() { stopW.Close() })
	go func() {
		wait(fd, int(stop.Fd()))
		unix.Close(fd)
		stop.Close()
		end(fmt.Errorf("process %d: %w", pid, ErrNobody))
	}()
	return ctx, nil
}

// wait waits until one of the two can be read.
func wait(fds ...int) {
	var set []unix.PollFd
	for _, fd := range fds {
		set = append(set, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	for {
		if _, err := unix.Poll(set, -1); err != unix.EINTR {
			return
		}
	}
}

// ended reports whether the process that fd stands for has ended.
func ended(fd int) bool {
	set := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, _ := unix.Poll(set, 0)
	return n > 0
}
