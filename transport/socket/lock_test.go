package socket

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/transporttest"
)

// SOCK-3: a file that kill -9 left is replaced, and neither it nor the lock needs help.
func TestKilledServerIsReplaced(t *testing.T) {
	path := place(t)
	for range 3 {
		server := startServer(t, path)
		wantAlive(t, path)
		server.kill()
		if !exists(path) {
			t.Fatal("the file of a killed server is gone")
		}
		if _, err := Dial(context.Background(), path, transport.Config{}); !errors.Is(err, unix.ECONNREFUSED) {
			t.Fatalf("dial: %v", err)
		}
	}
	startServer(t, path)
	wantAlive(t, path)
}

// SOCK-3: a server keeps its name, stopped or not, whether it knows the lock or not, even when its queue is full.
func TestLiveServerKeepsItsName(t *testing.T) {
	for _, c := range []struct {
		help   string
		freeze bool
		fill   bool
	}{
		{"serve", false, false}, {"serve", true, false}, {"deaf", false, false}, {"deaf", true, false}, {"deaf", true, true},
	} {
		path := place(t)
		server := start(t, command(c.help, path))
		server.says("listening")
		if c.freeze {
			server.freeze()
		}
		if c.fill {
			fill(t, path)
		}
		before, err := os.Lstat(path)
		must(t, err)
		l, err := Listen(path, Options{})
		if err == nil {
			l.Close()
		}
		if !errors.Is(err, unix.EADDRINUSE) {
			t.Errorf("%+v: got %v, want EADDRINUSE", c, err)
		}
		if after, err := os.Lstat(path); err != nil || !os.SameFile(before, after) {
			t.Errorf("%+v: its file is another: %v", c, err)
		}
		server.signal(syscall.SIGCONT)
		if c.help == "serve" {
			wantAlive(t, path)
		}
	}
}

// fill connects until nobody more fits into the queue.
func fill(t *testing.T, path string) {
	t.Helper()
	for {
		conn, err := net.Dial("unix", path)
		if errors.Is(err, unix.EAGAIN) {
			return
		}
		must(t, err)
		t.Cleanup(func() { conn.Close() })
	}
}

// SOCK-3: of 50 that start at once one serves, on a new path as on one that a crash left.
func TestRacingStarters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run", "main.sock")
	for range 2 {
		gate, open, err := os.Pipe()
		must(t, err)
		var starters []*process
		for range 50 {
			cmd := command("serve", "-made", "-gate", path)
			cmd.Stdin = gate
			starters = append(starters, start(t, cmd))
		}
		gate.Close()
		open.Close()
		var server *process
		for _, p := range starters {
			switch got := p.line(); {
			case got == "listening" && server == nil:
				server = p
			case got == "listening":
				t.Error("two serve")
			case !strings.Contains(got, "served already"):
				t.Errorf("one said %q", got)
			}
		}
		if server == nil {
			t.Fatal("nobody serves")
		}
		if got := ask[usage](t, path, "usage"); got.RSS == 0 {
			t.Errorf("usage %+v", got)
		}
		server.kill() // and its file stays for the next round
	}
}

// SOCK-3: only the file of a socket is ever unlinked.
func TestWhatIsNoSocketStays(t *testing.T) {
	for name, put := range map[string]func(t *testing.T, path string){
		"file":      func(t *testing.T, path string) { must(t, os.WriteFile(path, []byte("precious"), 0o600)) },
		"directory": func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o700)) },
		"fifo":      func(t *testing.T, path string) { must(t, unix.Mkfifo(path, 0o600)) },
		"link":      func(t *testing.T, path string) { must(t, os.Symlink("/nowhere", path)) },
		"link to a dead socket": func(t *testing.T, path string) {
			dead := deadSocket(t, t.TempDir(), unix.SOCK_STREAM)
			must(t, os.Symlink(dead, path))
		},
		"live datagram socket": func(t *testing.T, path string) {
			conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
			must(t, err)
			t.Cleanup(func() { conn.Close() })
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := place(t)
			put(t, path)
			before, err := os.Lstat(path)
			must(t, err)
			if l, err := Listen(path, Options{}); err == nil {
				l.Close()
				t.Error("it is served")
			}
			if after, err := os.Lstat(path); err != nil || !os.SameFile(before, after) {
				t.Errorf("it is another: %v", err)
			}
		})
	}
}

// deadSocket leaves the file of a socket that nobody holds any more.
func deadSocket(t *testing.T, dir string, kind int) string {
	t.Helper()
	path := filepath.Join(dir, "dead.sock")
	fd, err := unix.Socket(unix.AF_UNIX, kind, 0)
	must(t, err)
	must(t, unix.Bind(fd, &unix.SockaddrUnix{Name: path}))
	must(t, unix.Close(fd))
	return path
}

// SOCK-3: the lock is a file of ours, 0600, and no link is followed to it.
func TestLockFile(t *testing.T) {
	dir := t.TempDir()
	elsewhere := filepath.Join(dir, "elsewhere")
	for name, put := range map[string]func(lock string){
		"link":      func(lock string) { must(t, os.Symlink(elsewhere, lock)) },
		"directory": func(lock string) { must(t, os.Mkdir(lock, 0o700)) },
		"fifo":      func(lock string) { must(t, unix.Mkfifo(lock, 0o600)) },
	} {
		path := filepath.Join(dir, name)
		put(path + ".lock")
		if l, err := Listen(path, Options{}); err == nil {
			l.Close()
			t.Errorf("%s: it is served", name)
		}
	}
	if exists(elsewhere) {
		t.Error("a link was followed")
	}

	path := filepath.Join(dir, "loose")
	must(t, os.WriteFile(path+".lock", nil, 0o600))
	must(t, os.Chmod(path+".lock", 0o666))
	l, err := Listen(path, Options{})
	must(t, err)
	l.Close()
	if info, err := os.Lstat(path + ".lock"); err != nil || info.Mode() != 0o600 {
		t.Errorf("the lock is %v, %v", info, err)
	}

	if os.Geteuid() == 0 {
		must(t, os.Chown(path+".lock", 65534, 65534))
		if l, err := Listen(path, Options{}); err == nil {
			l.Close()
			t.Error("served with somebody else's lock")
		}
	}
}

// SOCK-3: the exit of an old server does not remove the file of one that took its path, and never the lock.
func TestSuccessorKeepsItsFile(t *testing.T) {
	path := place(t)
	old := startServer(t, path)
	must(t, os.Remove(path))
	next, err := net.Listen("unix", path) // it knows of no lock
	must(t, err)
	defer next.Close()
	old.signal(syscall.SIGTERM)
	old.stops()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatalf("the successor cannot be reached: %v", err)
	}
	conn.Close()
	if !exists(path + ".lock") {
		t.Error("the lock is gone")
	}
}

// SOCK-3: no child of a server holds its name.
func TestLockIsPassedToNoChild(t *testing.T) {
	path := place(t)
	server := startServer(t, path)
	child := ask[int](t, path, "child")
	defer syscall.Kill(child, syscall.SIGKILL)
	server.kill()
	if err := syscall.Kill(child, 0); err != nil {
		t.Fatalf("the child is gone: %v", err)
	}
	l, err := Listen(path, Options{})
	must(t, err)
	l.Close()
}

// A listener that is closed leaves its lock file and nothing else, may be closed again, and gives its name to the next.
func TestCloseGivesTheNameBack(t *testing.T) {
	dir := t.TempDir()
	transporttest.Leaks(t, dir)
	path := filepath.Join(dir, "main.sock")
	for range 3 {
		l, err := Listen(path, Options{})
		must(t, err)
		if _, err := Listen(path, Options{}); !errors.Is(err, unix.EADDRINUSE) {
			t.Errorf("a second one: %v", err)
		}
		must(t, l.Close())
		must(t, l.Close())
		if exists(path) || !exists(path+".lock") {
			t.Errorf("the socket is there: %v, the lock: %v", exists(path), exists(path+".lock"))
		}
		if err := l.Serve(context.Background()); !errors.Is(err, net.ErrClosed) {
			t.Errorf("serve after close: %v", err)
		}
	}
}

// A relative path means what it did when the listener was made.
func TestWorkingDirectoryMayChange(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	l, err := Listen("main.sock", Options{})
	must(t, err)
	t.Chdir(t.TempDir())
	must(t, l.Close())
	if _, err := os.Lstat(filepath.Join(dir, "main.sock")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is left: %v", err)
	}
}
