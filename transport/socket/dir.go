package socket

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// ownDir makes sure of the directory of a path that [Path] made: 0700, ours and no link, made when missing (SOCK-2).
func ownDir(dir string) error {
	err := os.Mkdir(dir, 0o700)
	switch {
	case err == nil:
		if err := os.Chmod(dir, 0o700); err != nil { // a umask may have taken from it
			return err
		}
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	info, owner, err := statDir(dir)
	if err != nil {
		return err
	}
	if owner != os.Geteuid() {
		return fmt.Errorf("directory %s is user %d's and must be user %d's, ours", dir, owner, os.Geteuid())
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("directory %s has mode %#o and must be 0700: it is ours alone", dir, mode)
	}
	return nil
}

// handDir checks a directory that somebody named by hand, which is never made or changed: nobody but us and root may be able to
// replace what we put there (SOCK-2).
func handDir(dir string) error {
	info, owner, err := statDir(dir)
	if err != nil {
		return err
	}
	if owner != os.Geteuid() && owner != 0 {
		return fmt.Errorf("directory %s is user %d's and must be ours (user %d's) or root's", dir, owner, os.Geteuid())
	}
	if mode := info.Mode(); mode.Perm()&0o022 != 0 && mode&fs.ModeSticky == 0 {
		return fmt.Errorf("directory %s has mode %#o and must not be writable by group or others unless it is sticky", dir, mode.Perm())
	}
	return nil
}

// statDir looks at the directory itself: what a link points to may be another one tomorrow.
func statDir(dir string) (info fs.FileInfo, owner int, err error) {
	info, err = os.Lstat(dir)
	if err != nil {
		return nil, 0, err
	}
	if !info.IsDir() {
		return nil, 0, fmt.Errorf("%s is %s and must be a directory", dir, kindOf(info))
	}
	return info, int(info.Sys().(*syscall.Stat_t).Uid), nil
}

// kindOf names what a file is, for errors.
func kindOf(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return "a regular file"
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeSymlink != 0:
		return "a link"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeNamedPipe != 0:
		return "a fifo"
	}
	return "a device"
}
