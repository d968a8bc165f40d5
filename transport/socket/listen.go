package socket

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
)

// Options are how a socket is served. The zero value of each is its default.
type Options struct {
	// Config is that of every connection. Door, Name, Cred and PIDFD are set for each.
	transport.Config
	// Wire is what is spoken; nil: the family wire which the Handler of Config answers.
	Wire Wire
	// Allow says whether a caller is served; default: one of our own user (SOCK-4). Others are closed without a byte. It may
	// run many times at once.
	Allow func(transport.Cred) bool
	// Max is how many connections are served at a time; default 1,024. More are refused out loud (SOCK-5).
	Max int
	// Grace is how long Serve takes at most to stop once its context has ended; default 5 s (SOCK-6).
	Grace time.Duration
	// MakeDir says that the path is one that [Path] made: its directory is made when missing and must be ours alone. Otherwise
	// somebody named it by hand, and its directory is checked and never made or changed (SOCK-2).
	MakeDir bool
}

const (
	defaultMax   = 1024
	defaultGrace = 5 * time.Second
)

// complete returns the options with their defaults, or what is wrong with them.
func (o Options) complete() (Options, error) {
	if o.Max <= 0 {
		o.Max = defaultMax
	}
	if o.Grace <= 0 {
		o.Grace = defaultGrace
	}
	if o.Wire == nil {
		o.Wire = family{}
	}
	if o.Handler == nil { // a connection without one reads only for its own calls
		o.Handler = transport.HandlerFunc(func(_ context.Context, call shape.Call) (shape.Rows, error) {
			return shape.Rows{}, shape.Refused.Errorf("no such call: %s", shape.Quote(call.Verb))
		})
	}
	return o, o.Wire.Check()
}

// Listener is a socket that is bound, so that callers may already connect, and waits to be served. It is made by [Listen] or
// [Activated], and is its maker's to close unless [Listener.Serve] was called.
type Listener struct {
	path string
	opts Options
	ln   *net.UnixListener

	// Nothing of these where the listener was handed to us: its file is not ours.
	lock *os.File
	file string      // the file, wherever the working directory goes
	made fs.FileInfo // what we bound

	once   sync.Once
	closed error
}

// Listen makes the socket at path, mode 0600 from its first instant, and returns once callers can connect. A file that a dead
// server left is replaced; a server that lives, stopped or not, keeps its name, and the error is then syscall.EADDRINUSE
// (SOCK-3). The path's directory is checked, and made where [Options].MakeDir says so (SOCK-2); path.lock is made beside the
// socket and stays.
func Listen(path string, opts Options) (*Listener, error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	opts, err := opts.complete()
	if err != nil {
		return nil, err
	}
	file, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	checkDir := handDir
	if opts.MakeDir {
		checkDir = ownDir
	}
	if err := checkDir(filepath.Dir(file)); err != nil {
		return nil, err
	}
	lock, err := takeName(path)
	if err != nil {
		return nil, err
	}
	ln, err := bind(path)
	if err != nil {
		lock.Close()
		return nil, err
	}
	l := &Listener{path: path, opts: opts, ln: ln, lock: lock, file: file}
	if l.made, err = os.Lstat(file); err == nil && l.made.Mode().Perm() != 0o600 { // a umask may have taken from it
		err = os.Chmod(file, 0o600)
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// Path returns where callers connect.
func (l *Listener) Path() string { return l.path }

// Close stops listening and removes the file, if it is still the one that was bound here, and never the lock (SOCK-3). It may
// be called again.
func (l *Listener) Close() error {
	l.once.Do(func() {
		err := l.removeFile() // first: as long as the socket is open, no other file can have its number
		l.closed = errors.Join(err, l.ln.Close())
		if l.lock != nil {
			l.lock.Close()
		}
	})
	return l.closed
}

// removeFile removes the file unless a successor has put its own there.
func (l *Listener) removeFile() error {
	if l.made == nil {
		return nil
	}
	now, err := os.Lstat(l.file)
	if err != nil || !os.SameFile(l.made, now) {
		return nil
	}
	if err := os.Remove(l.file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
