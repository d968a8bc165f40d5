package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// use is what the file is opened for. Opening does not wait, not even for the other end of a FIFO.
type use struct {
	flags int
	lock  int
}

var (
	forRead   = use{os.O_RDONLY | unix.O_NONBLOCK, unix.LOCK_SH} // many at a time
	forAppend = use{os.O_RDWR | os.O_APPEND | unix.O_NONBLOCK, unix.LOCK_EX}
)

// lockWait is how long a use waits for the others. Each of them writes one line, so that only one that was stopped in the
// middle takes that long.
const lockWait = 10 * time.Second

// openLocked opens the file and locks it; closing it gives the lock back. The lock is on the file itself, so a file that
// another one replaced while we waited is let go, and the one that has its name is opened.
func openLocked(ctx context.Context, path string, u use) (*os.File, error) {
	for {
		f, err := open(path, u)
		if err != nil {
			return nil, err
		}
		if err := lock(ctx, f, u.lock); err != nil {
			f.Close()
			return nil, err
		}
		ours, err := f.Stat()
		if err != nil {
			f.Close()
			return nil, err
		}
		named, err := os.Stat(path)
		if err == nil && os.SameFile(ours, named) {
			return f, nil
		}
		f.Close()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
}

// open opens the file. What is to be written is made where it is missing, with its directories, for its owner alone.
func open(path string, u use) (*os.File, error) {
	f, err := os.OpenFile(path, u.flags, 0)
	if u.lock == unix.LOCK_SH || !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if f, err = os.OpenFile(path, u.flags|os.O_CREATE, 0o600); err != nil {
		return nil, err
	}
	if d, err := os.Open(dir); err == nil { // a name is durable once its directory is
		d.Sync()
		d.Close()
	}
	return f, nil
}

// lock waits for the lock by asking again, so that the wait can end: a process that was stopped while it held the lock must
// not stop the others.
func lock(ctx context.Context, f *os.File, how int) error {
	var waited time.Duration
	for pause := 100 * time.Microsecond; ; pause = min(2*pause, 2*time.Millisecond) {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
			continue
		case !errors.Is(err, unix.EWOULDBLOCK):
			return &os.PathError{Op: "flock", Path: f.Name(), Err: err}
		case waited >= lockWait:
			return fmt.Errorf("%s: another process has held the lock for %v", f.Name(), lockWait)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
			waited += pause
		}
	}
}

// appendLine appends a line with one write and brings it to the disk. Where either does not work, nothing of the line stays:
// the file is cut back to its old length. A last line that has no end gets one first, so that it costs itself and no other.
// A file size limit is an error like the others here: to a Go program SIGXFSZ is nothing, and the write says EFBIG.
func appendLine(f *os.File, line []byte) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	if size > 0 {
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			line = append([]byte{'\n'}, line...)
		}
	}
	n, err := f.Write(line)
	if err == nil {
		err = f.Sync()
	}
	if err == nil || n == 0 {
		return err
	}
	if cut := f.Truncate(size); cut != nil {
		return fmt.Errorf("%w; and the book could not be cut back to its old length of %d bytes: %w", err, size, cut)
	}
	f.Sync()
	return err
}
