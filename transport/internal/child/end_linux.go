package child

import "golang.org/x/sys/unix"

// awaitEnd waits until a child has ended, and leaves it to be reaped. False says that this cannot be done here.
func awaitEnd(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err == nil
		}
	}
}
