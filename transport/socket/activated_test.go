package socket

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// activate starts a helper as a service manager does, with passed as descriptor 3 and up.
func activate(t *testing.T, fds string, passed ...*os.File) *process {
	t.Helper()
	cmd := viaShell(command("activated"), "export LISTEN_PID=$$;")
	cmd.Env = append(cmd.Env, "LISTEN_FDS="+fds, "LISTEN_FDNAMES=main")
	cmd.ExtraFiles = passed
	return start(t, cmd)
}

// SOCK-6: a socket that a service manager passes is served, nothing of it goes on to children, and its file and its queue are
// the manager's: they are there for the next process.
func TestActivation(t *testing.T) {
	path := place(t)
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	must(t, err)
	defer ln.Close()
	f, err := ln.File()
	must(t, err)
	defer f.Close()
	for range 2 {
		waiting := dialRaw(t, path) // before the process is there
		waiting.send(framed(alive))
		server := activate(t, "1", f)
		server.says("at " + path)
		server.says("environment ")
		server.says("inherited false")
		server.says("listening")
		waiting.want(aliveReply)
		wantAlive(t, path)
		server.signal(syscall.SIGTERM)
		server.stops()
		if !exists(path) {
			t.Fatal("the file was removed")
		}
		if exists(path + ".lock") {
			t.Error("a lock was made")
		}
	}
}

// What is passed and cannot be served is named.
func TestActivationRefuses(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		part   string
		fds    string
		passed func(t *testing.T) []*os.File
	}{
		"file":      {"not a socket", "1", func(t *testing.T) []*os.File { return files(t, devNull) }},
		"none open": {"not a socket", "1", func(t *testing.T) []*os.File { return nil }},
		"two":       {"1 is taken", "2", func(t *testing.T) []*os.File { return files(t, devNull, devNull) }},
		"tcp": {"not a Unix socket", "1", func(t *testing.T) []*os.File {
			return files(t, func(t *testing.T) int { return socketFD(t, unix.AF_INET, unix.SOCK_STREAM, nil) })
		}},
		"datagram": {"not a stream", "1", func(t *testing.T) []*os.File {
			at := &unix.SockaddrUnix{Name: filepath.Join(dir, "datagram")}
			return files(t, func(t *testing.T) int { return socketFD(t, unix.AF_UNIX, unix.SOCK_DGRAM, at) })
		}},
		"bound only": {"does not listen", "1", func(t *testing.T) []*os.File {
			at := &unix.SockaddrUnix{Name: filepath.Join(dir, "bound")}
			return files(t, func(t *testing.T) int { return socketFD(t, unix.AF_UNIX, unix.SOCK_STREAM, at) })
		}},
		"no number": {"must be a number", "many", func(t *testing.T) []*os.File { return nil }},
		"zero":      {"passed false", "0", func(t *testing.T) []*os.File { return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			p := activate(t, c.fds, c.passed(t)...)
			if got := p.line(); !strings.HasPrefix(got, "error:") {
				t.Errorf("it says %q", got)
			} else if all := got + p.rest(); !strings.Contains(all, c.part) {
				t.Errorf("it says %q, want %q in it", all, c.part)
			}
		})
	}
}

// The variables of another process are not ours, and stay as they are.
func TestActivationOfAnother(t *testing.T) {
	other := strconv.Itoa(os.Getppid())
	t.Setenv("LISTEN_PID", other)
	t.Setenv("LISTEN_FDS", "1")
	if l, passed, err := Activated(Options{}); l != nil || passed || err != nil {
		t.Errorf("got %v, %v, %v", l, passed, err)
	}
	if os.Getenv("LISTEN_PID") != other {
		t.Error("the variables are gone")
	}
}

// rest is what the helper still says.
func (p *process) rest() (all string) {
	for p.out.Scan() {
		all += "\n" + p.out.Text()
	}
	return all
}

// files are descriptors that end with the test.
func files(t *testing.T, open ...func(*testing.T) int) (out []*os.File) {
	t.Helper()
	for _, open := range open {
		f := os.NewFile(uintptr(open(t)), "passed")
		t.Cleanup(func() { f.Close() })
		out = append(out, f)
	}
	return out
}

func devNull(t *testing.T) int {
	t.Helper()
	fd, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	must(t, err)
	return fd
}

func socketFD(t *testing.T, domain, kind int, at unix.Sockaddr) int {
	t.Helper()
	fd, err := unix.Socket(domain, kind, 0)
	must(t, err)
	unix.CloseOnExec(fd)
	if at != nil {
		must(t, unix.Bind(fd, at))
	}
	return fd
}
