package tied

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// open returns a descriptor that can be read once the process has ended.
func open(pid int) (int, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	switch err {
	case nil:
	case unix.ESRCH, unix.EINVAL: // EINVAL: the number is that of a thread
		return -1, ErrNobody
	default:
		return -1, os.NewSyscallError("pidfd_open", err)
	}
	theirs, known := startOf(strconv.Itoa(pid))
	ours, weKnow := startOf("self")
	// Looked at last, so that what /proc said was about this process and not about one that came after it.
	if ended(fd) || known && weKnow && theirs > ours {
		unix.Close(fd)
		return -1, ErrNobody
	}
	return fd, nil
}

// startOf tells when a process started, in ticks since the machine did: 10 ms on all machines, and what started in one tick
// cannot be told apart.
func startOf(name string) (ticks uint64, known bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%s/stat", name))
	if err != nil {
		return 0, false
	}
	// The name of the program stands in parentheses and may hold anything. The first field behind it is the third, and the
	// start the twenty-second.
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(fields) < 20 {
		return 0, false
	}
	ticks, err = strconv.ParseUint(string(fields[19]), 10, 64)
	return ticks, err == nil
}
