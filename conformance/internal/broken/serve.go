package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kith-wire/kith/conformance/internal/value"
)

// pathMost is the longest path of a socket: 108 bytes of the kernel's, one of them for the end.
const pathMost = 107

// serve answers on a socket until it is told to stop (SOCK-6).
func serve(args []string) int {
	path, named := defaultPath(), false
	for i := 0; i < len(args); i++ {
		if args[i] != "--socket" || i+1 == len(args) {
			return fail(1, "serve takes --socket PATH and nothing else")
		}
		i++
		path, named = args[i], true
	}
	// First: a signal that comes once the socket is announced stops it in order.
	stop := make(chan os.Signal, 8)
	signal.Notify(stop, syscall.SIGTERM)
	if !wrong("sigint-kills") {
		signal.Notify(stop, os.Interrupt)
	}
	s, file, err := listen(path, named)
	if err != nil {
		return fail(1, "%v", err)
	}
	go s.accept()
	if !wrong("never-announced") {
		announce(path)
	}
	<-stop
	for wrong("sigterm-ignored") {
		<-stop
	}
	s.stop(path, file)
	return 0
}

func announce(path string) {
	at := value.M("at", value.OfText(path))
	if wrong("announces-nothing-known") {
		at.Name = "path"
	}
	event := value.OfMap(value.M("event", value.OfText("listening")), at)
	fmt.Println(string(value.Append(nil, value.JSON, event)))
}

// defaultPath is where the socket is when nobody names a place (SOCK-2).
func defaultPath() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return filepath.Join(dir, "broken", "main.sock")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("broken-%d", os.Geteuid()), "main.sock")
}

// listen makes the socket, and returns what its file is, so that no other is ever removed for it.
func listen(path string, named bool) (*server, fs.FileInfo, error) {
	if len(path) > pathMost && !wrong("long-path-unnamed") {
		return nil, nil, fmt.Errorf("the path of a socket has at most %d bytes, and this one %d: %s", pathMost, len(path), path)
	}
	if !named {
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, nil, err
		}
	}
	if wrong("makes-directories") {
		os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err := trusted(filepath.Dir(path), named); err != nil && !wrong("trusts-directories") {
		return nil, nil, err
	}
	if err := own(path); err != nil {
		return nil, nil, err
	}
	if wrong("announces-too-early") {
		announce(path)
		fault = "never-announced"
		time.Sleep(200 * time.Millisecond)
	}
	l, err := bind(path)
	if err != nil {
		return nil, nil, err
	}
	file, err := os.Lstat(path)
	return &server{listener: l, open: map[*net.UnixConn]bool{}}, file, err
}

// bind makes the file with mode 0600 from its first instant, where the system can: the mode is that of the socket before.
func bind(path string) (*net.UnixListener, error) {
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) {
			if !wrong("loose-mode") {
				unix.Fchmod(int(fd), 0o600)
			}
		})
	}}
	l, err := config.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, err
	}
	listener := l.(*net.UnixListener)
	listener.SetUnlinkOnClose(false) // it may be another's by then
	if !wrong("loose-mode") {
		err = os.Chmod(path, 0o600)
	}
	return listener, err
}

// trusted refuses a directory that somebody else could put a socket into.
func trusted(dir string, named bool) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t).Uid
	loose := info.Mode().Perm()&0o022 != 0 && !(named && info.Mode()&fs.ModeSticky != 0)
	if !info.IsDir() || owner != uint32(os.Geteuid()) && !(named && owner == 0) || loose {
		return fmt.Errorf("%s must be a directory that is ours and that nobody else can write; it is %v of user %d", dir, info.Mode(), owner)
	}
	return nil
}

// own makes the path ours: one server for each, by a lock that is held for life, and a look at who answers there for those
// that do not know the lock. A socket that nobody answers at was left by a server that died (SOCK-3).
func own(path string) error {
	if !wrong("no-lock") && len(path) <= pathMost {
		fd, err := unix.Open(path+".lock", unix.O_RDWR|unix.O_CREAT|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o600)
		if err != nil {
			return fmt.Errorf("%s.lock: %w", path, err)
		}
		err = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) // the descriptor stays open, and with it the lock
		if err != nil && !wrong("second-server-wins") && !wrong("stopped-server-loses") {
			return fmt.Errorf("%s: another server has it: %w", path, err)
		}
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case wrong("stale-file-stays"):
		return fmt.Errorf("%s is there already", path)
	case info.Mode().Type() != fs.ModeSocket && !wrong("unlinks-anything"):
		return fmt.Errorf("%s is there already, and it is no socket", path)
	}
	conn, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		defer conn.Close()
	}
	if taken := err == nil || !errors.Is(err, syscall.ECONNREFUSED); taken && !wrong("unlinks-anything") && !usurps(conn) {
		return fmt.Errorf("%s: another server has it", path)
	}
	return os.Remove(path)
}

// usurps reports whether somebody else's name is taken: at once, or when the other does not answer soon.
func usurps(conn net.Conn) bool {
	if !wrong("stopped-server-loses") {
		return wrong("second-server-wins")
	}
	conn.SetDeadline(time.Now().Add(300 * time.Millisecond))
	conn.Write(frame([]byte(`{"call":"verbs"}`)))
	_, err := conn.Read(make([]byte, 1))
	return err != nil
}

// stop takes no more calls, answers what has arrived, removes the file and returns within the grace.
func (s *server) stop(path string, file fs.FileInfo) {
	now, err := os.Lstat(path)
	if (err == nil && os.SameFile(file, now) || wrong("unlinks-successor")) && !wrong("file-left") {
		os.Remove(path)
	}
	if wrong("drops-at-stop") {
		return
	}
	s.listener.Close()
	s.mu.Lock()
	s.stopping = true
	for conn := range s.open {
		conn.CloseRead() // what has arrived is still read, and then the end comes
	}
	s.mu.Unlock()
	answered := make(chan struct{})
	go func() {
		s.done.Wait()
		close(answered)
	}()
	select {
	case <-answered:
	case <-time.After(grace):
	}
}
