package stdio

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// replaced are the files that os.Stdout and os.Stderr were. They are kept, for what is not kept is closed.
var replaced [2]os.File

// Unkilled makes a failed write to os.Stdout and os.Stderr an error like that of any other file, where nobody reads standard error:
// Go ends a program that fails to write to a file of descriptor 1 or 2. The two become files of copies of standard error, which no
// child inherits, and their descriptors stay as they are. This is what a notification of SIGPIPE does too, but that costs two threads,
// which is a tenth of a program that is run for one call.
//
// It reports false and does nothing where that cannot be done unseen: another goroutine may be writing, the program has files of
// its own there, or there is no descriptor to spare.
func Unkilled() bool {
	if runtime.NumGoroutine() > 1 || os.Stdout.Fd() != 1 || os.Stderr.Fd() != uintptr(Stderr) {
		return false
	}
	files := [2]*os.File{os.Stdout, os.Stderr}
	var copies [2]int
	for i := range files {
		fd, err := unix.FcntlInt(uintptr(Stderr), unix.F_DUPFD_CLOEXEC, 3)
		if err != nil {
			for _, fd := range copies[:i] {
				unix.Close(fd)
			}
			return false
		}
		copies[i] = fd
	}
	for i, f := range files {
		replaced[i] = *f
		*f = *os.NewFile(uintptr(copies[i]), f.Name())
	}
	return true
}
