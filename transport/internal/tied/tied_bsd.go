//go:build darwin || freebsd

package tied

import (
	"os"

	"golang.org/x/sys/unix"
)

// open returns a descriptor that can be read once the process has ended: a kqueue with that one event.
func open(pid int) (int, error) {
	kq, err := unix.Kqueue()
	if err != nil {
		return -1, os.NewSyscallError("kqueue", err)
	}
	unix.CloseOnExec(kq)
	var end unix.Kevent_t
	unix.SetKevent(&end, pid, unix.EVFILT_PROC, unix.EV_ADD)
	end.Fflags = unix.NOTE_EXIT
	_, err = unix.Kevent(kq, []unix.Kevent_t{end}, nil, nil)
	if err == nil && !startedAfterUs(pid) {
		return kq, nil
	}
	unix.Close(kq)
	if err == nil || err == unix.ESRCH {
		return -1, ErrNobody
	}
	return -1, os.NewSyscallError("kevent", err)
}
