package socket

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// takeName makes the name of a socket ours: it returns the lock, which is ours as long as it is open, once nothing stands in the
// way of a bind. Another server there is [unix.EADDRINUSE] (SOCK-3).
func takeName(path string) (*os.File, error) {
	lock, err := takeLock(path)
	if err != nil {
		return nil, err
	}
	if err := clearStale(path); err != nil {
		lock.Close()
		return nil, err
	}
	return lock, nil
}

// takeLock locks the file beside the socket. That file is never unlinked: two starters would hold locks on two files of one
// name. No child inherits it, or the name would outlive its server.
func takeLock(path string) (*os.File, error) {
	name := path + ".lock"
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600) // O_CLOEXEC is Go's own
	if errors.Is(err, unix.ELOOP) {
		return nil, fmt.Errorf("lock %s is a link and must be a file: %w", name, err)
	}
	if err != nil {
		return nil, err
	}
	if err := checkLock(f); err != nil {
		f.Close()
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if err == unix.EWOULDBLOCK {
			return nil, taken(path, "its server holds the lock "+name)
		}
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	return f, nil
}

// checkLock makes sure that nobody but us can hold the lock.
func checkLock(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	owner := int(info.Sys().(*syscall.Stat_t).Uid)
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("lock %s is %s and must be a file", f.Name(), kindOf(info))
	case owner != os.Geteuid():
		return fmt.Errorf("lock %s is user %d's and must be user %d's, ours", f.Name(), owner, os.Geteuid())
	case info.Mode().Perm() != 0o600:
		return f.Chmod(0o600)
	}
	return nil
}

// taken is the error of a name that another server has.
func taken(path, why string) error {
	return fmt.Errorf("%s is served already: %s: %w", path, why, unix.EADDRINUSE)
}

// clearStale removes the file of a server that is dead. Only a refused connection to a socket tells that: a server that does not
// know the lock may be stopped, or have more callers than it accepts, and keeps its name. (The BSDs refuse those who find the
// queue full, too; there only the lock tells the difference.)
func clearStale(path string) error {
	before, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if before.Mode()&fs.ModeSocket == 0 {
		return fmt.Errorf("%s is %s and not a socket: it is left as it is", path, kindOf(before))
	}
	conn, err := connect(path)
	switch {
	case err == nil:
		conn.Close()
		return taken(path, "somebody listens there")
	case errors.Is(err, unix.EAGAIN):
		return taken(path, "somebody has it and accepts nobody now")
	case errors.Is(err, unix.EPROTOTYPE):
		return taken(path, "it is a socket of another kind")
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case !errors.Is(err, unix.ECONNREFUSED):
		return fmt.Errorf("%s: it cannot be told whether somebody listens there: %w", path, err)
	}
	if now, err := os.Lstat(path); err != nil || !os.SameFile(before, now) {
		return taken(path, "somebody replaced it just now")
	}
	return unix.Unlink(path)
}
