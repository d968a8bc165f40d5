package vectors_test

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// canChange tells whether this process may be another user.
func canChange() bool { return os.Geteuid() == 0 }

// asUID does something on a thread of another user, and ends that thread.
func asUID(uid int, do func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), uintptr(uid), ^uintptr(0)); errno != 0 {
			done <- errno
			return
		}
		done <- do()
	}()
	return <-done
}
