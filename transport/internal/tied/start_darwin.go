package tied

import (
	"os"

	"golang.org/x/sys/unix"
)

// startedAfterUs reports whether a process is younger than this one.
func startedAfterUs(pid int) bool {
	theirs, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return false
	}
	ours, err := unix.SysctlKinfoProc("kern.proc.pid", os.Getpid())
	return err == nil && theirs.Proc.P_starttime.Nano() > ours.Proc.P_starttime.Nano()
}
