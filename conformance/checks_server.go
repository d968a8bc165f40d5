package conformance

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kith-wire/kith/conformance/internal/value"
)

// serverChecks are about the life of `PROG serve --socket PATH`, from its first word to its last.
var serverChecks = []check{
	{"listening", "SOCK-6", "serve says that it listens, and where, when it can be called", socketDoor, true, checkListening},
	{"quiet", "SOCK-6", "serve writes nothing else on stdout", socketDoor, true, checkQuiet},
	{"mode", "SOCK-2", "the socket has mode 0600", socketDoor, true, checkMode},
	{"lock", "SOCK-3", "the server holds a lock on PATH.lock, mode 0600", socketDoor, true, checkLock},
	{"second-server", "SOCK-3", "a second server of a path exits 1 and harms nobody", socketDoor, true, checkSecondServer},
	{"stopped", "SOCK-3", "a server that is stopped keeps its name", socketDoor, true, checkStopped},
	{"stale", "SOCK-3", "a file that kill -9 left is replaced", socketDoor, true, checkStale},
	{"not-a-socket", "SOCK-3", "only a socket is ever unlinked", socketDoor, true, checkNotASocket},
	{"successor", "SOCK-3", "a server that ends leaves the file of another alone", socketDoor, true, checkSuccessor},
	{"sigterm", "SOCK-6", "SIGTERM: exit 0 within 5 s, the file removed", socketDoor, true, func(p *probe) { p.stops(syscall.SIGTERM) }},
	{"sigint", "SOCK-6", "SIGINT: exit 0 within 5 s, the file removed", socketDoor, true, func(p *probe) { p.stops(syscall.SIGINT) }},
	{"drain", "SOCK-6", "what has arrived before SIGTERM is answered", socketDoor, true, checkDrain},
	{"path", "SOCK-2", "a path of 107 bytes works, one of 108 is refused before anything is made", socketDoor, true, checkPath},
	{"directory", "SOCK-2", "a directory that others can write, a link and a missing one are refused", socketDoor, true, checkDirectory},
}

// stopTime is the most that a program may take to stop.
func (c *checker) stopTime() time.Duration { return max(c.wait, 6*time.Second) }

// with runs a server of its own for one check, at a path that nobody used before.
func (p *probe) with(what string, do func(s *server, e evidence)) {
	path := filepath.Join(p.dir, fmt.Sprintf("own%d.sock", p.servers))
	e := told{what, p.shellServe() + " # " + what}
	s, err := p.serve(path)
	if err != nil {
		p.fail(e, err, "a server")
		return
	}
	defer s.kill()
	do(s, e)
}

// answers reports whether somebody at a path answers verbs.
func (p *probe) answers(path string) bool {
	other := &door{checker: p.checker, name: Socket, path: path, lazy: p.lazy, slow: p.slow}
	t := other.talk(1, framed(verbsCall))
	return len(t.replies) > 0
}

func checkListening(p *probe) {
	path := filepath.Join(p.dir, fmt.Sprintf("own%d.sock", p.servers))
	e := told{"the command line " + p.shellServe(), p.shellServe()}
	p.servers++
	proc, err := p.start(launch{args: []string{"serve", "--socket", path}})
	if err != nil {
		p.broke("%v", err)
		return
	}
	defer proc.kill()
	s := &stream{out: proc.out}
	line, err := s.frame(time.Now().Add(p.wait))
	conn, dialErr := net.Dial("unix", path) // at once: what is announced is there
	if err != nil {
		p.fail(e, fmt.Sprintf("no line on stdout: %v", err), `{"event":"listening","at":"%s"}`, path)
		return
	}
	if dialErr != nil {
		p.fail(e, fmt.Sprintf("the line %s, and then: %v", show(line), dialErr), "the line when it can be called, not before")
	} else {
		conn.Close()
	}
	want := string(value.Append(nil, value.JSON, value.OfMap(
		value.M("event", value.OfText("listening")), value.M("at", value.OfText(path)))))
	if string(line) != want {
		p.fail(e, show(line), "%s", want)
	}
}

func checkQuiet(p *probe) {
	p.with("calls good and bad, and SIGTERM", func(s *server, e evidence) {
		if conn, err := dial(s.path, p.wait); err == nil {
			conn.Write(join(p.frames(verbsCall, badBody, strangeCall, text(`{"event":"kith-check"}`))...).bytes())
			conn.CloseWrite()
			conn.SetReadDeadline(time.Now().Add(p.wait))
			for b := make([]byte, 64<<10); err == nil; {
				_, err = conn.Read(b)
			}
			conn.Close()
		}
		s.proc.cmd.Process.Signal(syscall.SIGTERM)
		s.proc.wait(p.stopTime())
		s.proc.out.SetReadDeadline(time.Now().Add(p.wait))
		if more := <-s.more; len(more) > 0 {
			p.fail(e, "on stdout, behind the first line: "+show(more), "nothing")
		}
	})
}

func checkMode(p *probe) {
	p.with("the mode of the socket", func(s *server, e evidence) {
		if info, err := os.Stat(s.path); err != nil || info.Mode() != fs.ModeSocket|0o600 {
			p.fail(e, fmt.Sprintf("%v, %v", modeOf(info), err), "a socket with mode 0600")
		}
	})
}

func modeOf(info fs.FileInfo) string {
	if info == nil {
		return "no file"
	}
	return info.Mode().String()
}

func checkLock(p *probe) {
	p.with("the file PATH.lock while the server runs", func(s *server, e evidence) {
		f, err := os.Open(s.path + ".lock")
		if err != nil {
			p.fail(e, err, "a file with mode 0600")
			return
		}
		defer f.Close()
		if info, err := f.Stat(); err != nil || info.Mode() != 0o600 {
			p.fail(e, fmt.Sprintf("%v, %v", modeOf(info), err), "a file with mode 0600")
		}
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, unix.EWOULDBLOCK) {
			p.fail(e, fmt.Sprintf("nobody holds it: %v", err), "an flock that the server holds while it lives")
		}
	})
}

// cannotServe runs serve where it must say no: exit 1, nothing on stdout, why on stderr, all of named in it.
func (p *probe) cannotServe(what, path string, named ...string) {
	o := p.run("serve", "--socket", path)
	good := o.exited(1) && len(o.stdout) == 0 && o.stderr != ""
	said := strings.ReplaceAll(o.stderr, p.dir, "") // where we happen to be is no number that was to be said
	for _, n := range named {
		good = good && names(said, n)
	}
	if !good {
		p.fail(told{what + ": " + o.sent(), o.shell()}, o, "exit 1, nothing on stdout, one sentence on stderr %s",
			strings.TrimSpace("that names "+strings.Join(named, ", ")))
	}
}

func checkSecondServer(p *probe) {
	p.with("a second serve of the same path", func(s *server, e evidence) {
		p.cannotServe("while a server of this path runs", s.path)
		if !p.answers(s.path) {
			p.fail(e, "the first one answers no more at its path", "the first one keeps its path")
		}
	})
}

func checkStopped(p *probe) {
	p.with("SIGSTOP, and then a second serve of the same path", func(s *server, e evidence) {
		s.proc.cmd.Process.Signal(syscall.SIGSTOP)
		p.cannotServe("while a server of this path is stopped", s.path)
		s.proc.cmd.Process.Signal(syscall.SIGCONT)
		if !p.answers(s.path) {
			p.fail(e, "the first one answers no more at its path when it goes on", "the first one keeps its path")
		}
	})
}

func checkStale(p *probe) {
	p.with("kill -9, and then serve of the same path", func(s *server, e evidence) {
		s.kill()
		again, err := p.serve(s.path)
		if err != nil {
			p.fail(e, err, "a server: the file that was left is replaced")
			return
		}
		again.kill()
	})
}

func checkNotASocket(p *probe) {
	path, kept := filepath.Join(p.dir, "file.sock"), []byte("kept")
	if err := os.WriteFile(path, kept, 0o600); err != nil {
		p.broke("%v", err)
		return
	}
	p.cannotServe("where a file stands that is no socket", path)
	if b, err := os.ReadFile(path); err != nil || string(b) != string(kept) {
		p.fail(told{"the file that stood there", "touch " + shellSocket + "; " + p.shellServe()}, fmt.Sprintf("%s, %v", show(b), err), "the file as it was")
	}
	os.Remove(path)
}

// checkSuccessor puts a socket of its own in the place of the server's, and then stops the server.
func checkSuccessor(p *probe) {
	p.with("another socket at the path, and then SIGTERM", func(s *server, e evidence) {
		os.Remove(s.path)
		l, err := net.Listen("unix", s.path)
		if err != nil {
			p.broke("%v", err)
			return
		}
		defer l.Close()
		s.proc.cmd.Process.Signal(syscall.SIGTERM)
		s.proc.wait(p.stopTime())
		if _, err := os.Lstat(s.path); err != nil {
			p.fail(e, err, "the other socket as it was: it belongs to somebody else now")
		}
	})
}

// stops sends a signal while one caller says nothing and another has sent half a frame.
func (p *probe) stops(sig syscall.Signal) {
	p.with(fmt.Sprintf("%v, while one caller says nothing and another has sent half a frame", sig), func(s *server, e evidence) {
		for _, say := range []string{"", header(16) + `{"call"`} {
			if conn, err := dial(s.path, p.wait); err == nil {
				defer conn.Close()
				conn.Write([]byte(say))
			}
		}
		s.proc.cmd.Process.Signal(sig)
		if end := s.proc.wait(p.stopTime()); !end.exited(0) {
			p.fail(e, end, "exit 0 within 5 s")
		} else if info, err := os.Lstat(s.path); err == nil {
			p.fail(e, "the file is still there: "+modeOf(info), "the file removed")
		}
	})
}

// checkDrain writes calls on a connection that has been served before, and sends SIGTERM right behind them.
func checkDrain(p *probe) {
	p.with("three calls on one connection, and SIGTERM before a reply is read", func(s *server, e evidence) {
		const calls = 3
		conn, err := dial(s.path, p.wait)
		if err != nil {
			p.broke("%v", err)
			return
		}
		in := &stream{d: p.door, in: conn, out: conn, conn: conn}
		defer in.close()
		in.write(framed(verbsCall).bytes())
		in.frame(time.Now().Add(p.wait))
		in.write(join(p.frames(verbsCall, verbsCall, verbsCall)...).bytes())
		s.proc.cmd.Process.Signal(syscall.SIGTERM)
		t := transcript{d: p.door, pieces: p.frames(verbsCall, verbsCall, verbsCall)}
		if t.read(in, calls, p.stopTime()); len(t.replies) < calls {
			p.fail(e, t, "%d replies: the calls had arrived", calls)
		}
	})
}

// pathMost is the longest path of a socket.
const pathMost = 107

func checkPath(p *probe) {
	dir := filepath.Join(p.dir, "long")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		p.broke("%v", err)
		return
	}
	long := dir + "/" + strings.Repeat("s", pathMost+1-len(dir)-1)
	p.cannotServe("a path of 108 bytes", long, fmt.Sprint(pathMost))
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		p.fail(told{"a path of 108 bytes", p.shellServe()}, "the file "+left[0].Name(), "nothing made")
	}
	s, err := p.serve(long[:pathMost])
	if err != nil {
		p.fail(told{"a path of 107 bytes", p.shellServe()}, err, "a server")
		return
	}
	defer s.kill()
	if !p.answers(s.path) {
		p.fail(told{"a path of 107 bytes", p.shellServe()}, "no answer", "a server at this path")
	}
}

func checkDirectory(p *probe) {
	loose, link, missing := filepath.Join(p.dir, "loose"), filepath.Join(p.dir, "link"), filepath.Join(p.dir, "missing")
	err := errors.Join(os.MkdirAll(loose, 0o700), os.Chmod(loose, 0o777), os.Symlink(p.dir, link)) // Chmod: past the umask
	if err != nil {
		p.broke("%v", err)
		return
	}
	p.cannotServe("a directory that everybody can write", filepath.Join(loose, "s.sock"))
	p.cannotServe("a directory that is a link", filepath.Join(link, "link.sock"))
	p.cannotServe("a directory that is not there", filepath.Join(missing, "s.sock"))
	if _, err := os.Lstat(missing); err == nil {
		p.fail(told{"a directory that is not there", p.shellServe()}, "it was made", "it is left to whoever named it")
	}
}
