package vectors_test

import (
	"encoding/hex"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kith-wire/kith/transport/transporttest"
)

// scribe is where TestMain has built the program under test; empty until a case needs it.
var scribe struct {
	dir, path string
	err       error
}

func TestMain(m *testing.M) {
	os.Exit(func() int {
		if scribe.dir, scribe.err = os.MkdirTemp("", "vectors"); scribe.err == nil {
			defer os.RemoveAll(scribe.dir)
		}
		return transporttest.Main(m)
	}())
}

// needScribe builds the program once.
func needScribe(t *testing.T) string {
	t.Helper()
	if scribe.err == nil && scribe.path == "" {
		scribe.path = filepath.Join(scribe.dir, "scribe")
		out, err := exec.Command("go", "build", "-o", scribe.path, "github.com/kith-wire/kith/cmd/scribe").CombinedOutput()
		if err != nil {
			scribe.err = fmt.Errorf("%w\n%s", err, out)
		}
	}
	if scribe.err != nil {
		t.Fatal(scribe.err)
	}
	return scribe.path
}

// stage is where the steps of one case are taken: a directory, programs that run, and streams to them.
type stage struct {
	dir   string
	env   []string
	procs map[string]*proc
	wires map[string]*wire
}

// proc is a program that was started.
type proc struct {
	cmd    *exec.Cmd
	errs   *os.File
	exited chan struct{}
}

func newStage(t *testing.T) *stage {
	s := &stage{dir: shortDir(t), procs: map[string]*proc{}, wires: map[string]*wire{}}
	for _, sub := range []string{"run", "state", "tmp"} {
		if err := os.Mkdir(filepath.Join(s.dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "TMPDIR=" + s.dir + "/tmp", "XDG_RUNTIME_DIR=" + s.dir + "/run",
		"XDG_STATE_HOME=" + s.dir + "/state"}
	t.Cleanup(func() {
		for _, w := range s.wires {
			w.close()
		}
		for _, p := range s.procs {
			p.cmd.Process.Kill()
			<-p.exited
			p.errs.Close()
		}
	})
	return s
}

// runProgram takes the steps against the program under test.
func runProgram(t *testing.T, c testCase) {
	st := newStage(t)
	for i, s := range c.Steps {
		if t.Failed() {
			t.Fatalf("before step %d, %s", i, s.Do)
		}
		st.take(t, s)
	}
}

func (st *stage) take(t *testing.T, s step) {
	t.Helper()
	st.fill(&s)
	if w := st.wires[s.On]; w != nil && w.common(t, s) {
		return
	}
	switch s.Do {
	case "run":
		st.run(t, s)
	case "start":
		st.procs[s.As] = st.start(t, s)
	case "race":
		st.race(t, s)
	case "exit":
		st.exit(t, s)
	case "signal":
		if err := st.proc(t, s.Of).cmd.Process.Signal(signals[s.Signal]); err != nil {
			t.Fatal(err)
		}
	case "connect":
		st.connect(t, s)
	case "many":
		for i := range s.Times {
			one := s
			one.As = fmt.Sprint(s.As, i)
			st.connect(t, one)
			st.wires[one.As].send(t, one)
		}
	case "memory":
		st.memory(t, s)
	case "file":
		st.file(t, s)
	case "make":
		st.make(t, s)
	case "chmod":
		mode, _ := strconv.ParseUint(s.Mode, 8, 32)
		if err := os.Chmod(s.At, fs.FileMode(mode)); err != nil {
			t.Fatal(err)
		}
	case "remove":
		if err := os.Remove(s.At); err != nil {
			t.Fatal(err)
		}
	default:
		t.Fatalf("step %q on %q is none of a program", s.Do, s.On)
	}
}

var signals = map[string]os.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "KILL": syscall.SIGKILL, "STOP": syscall.SIGSTOP, "CONT": syscall.SIGCONT}

// fill puts in what only this run knows: $DIR, and $PID(name).
func (st *stage) fill(s *step) {
	fill := func(text string) string {
		text = strings.ReplaceAll(text, "$DIR", st.dir)
		for name, p := range st.procs {
			text = strings.ReplaceAll(text, "$PID("+name+")", strconv.Itoa(p.cmd.Process.Pid))
		}
		return text
	}
	for _, list := range []*[]string{&s.Words, &s.Replies} {
		filled := make([]string, len(*list))
		for i, text := range *list {
			filled[i] = fill(text)
		}
		*list = filled
	}
	for _, text := range []*string{&s.At, &s.Link, &s.Pass} {
		*text = fill(*text)
	}
	for _, text := range []*string{s.Stdout, s.Stderr} {
		if text != nil {
			*text = fill(*text)
		}
	}
}

// command makes the command of a step: the scribe, or sh where the words begin with it.
func (st *stage) command(t *testing.T, s step) *exec.Cmd {
	t.Helper()
	words := append([]string{needScribe(t)}, s.Words...)
	for _, h := range s.Hex {
		b, err := hex.DecodeString(h)
		if err != nil {
			t.Fatal(err)
		}
		words = append(words, string(b))
	}
	before := ""
	if n, has := s.Limit["nofile"]; has {
		before += fmt.Sprintf("ulimit -n %d; ", n)
	}
	if s.Pass != "" {
		before += "LISTEN_FDS=1 LISTEN_PID=$$ "
	}
	if before != "" {
		words = append([]string{"/bin/sh", "-c", before + `exec "$0" "$@"`}, words...)
	}
	if s.Is == "cat" { // a program that is none of this wire, and does nothing until its input ends
		words = []string{"cat"}
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = st.dir
	for _, pair := range st.env {
		if name, _, _ := strings.Cut(pair, "="); name != s.Unset {
			cmd.Env = append(cmd.Env, pair)
		}
	}
	return cmd
}

// start starts a program that runs while others do. Its stdin and stdout are a stream of lines of its name.
func (st *stage) start(t *testing.T, s step) *proc {
	t.Helper()
	cmd := st.command(t, s)
	mine, theirs := twoPipes(t)
	errs, err := os.CreateTemp(st.dir, "stderr")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs.in, theirs.out, errs
	if s.Pass != "" {
		ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: s.Pass, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		ln.SetUnlinkOnClose(false)
		f, err := ln.File()
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		defer ln.Close()
		cmd.ExtraFiles = []*os.File{f}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	p := &proc{cmd, errs, make(chan struct{})}
	go func() {
		cmd.Wait()
		close(p.exited)
	}()
	st.wires[s.As] = wireOf(mine, nil)
	return p
}

func (st *stage) proc(t *testing.T, name string) *proc {
	t.Helper()
	p := st.procs[name]
	if p == nil {
		t.Fatalf("nothing was started as %q", name)
	}
	return p
}

// race starts many at a time: one must announce itself, and is the one of that name; the others exit 1.
func (st *stage) race(t *testing.T, s step) {
	t.Helper()
	all := map[string]*proc{}
	for i := range s.Times {
		one := s
		one.As = fmt.Sprint(s.As, i)
		all[one.As] = st.start(t, one)
		st.procs[one.As] = all[one.As]
	}
	winner := ""
	for name, p := range all {
		line, err := st.wires[name].next()
		switch {
		case err == nil && winner != "":
			t.Errorf("two of them serve: the other says %s", line)
		case err == nil:
			winner = name
		default:
			receiveExit(t, p)
			if p.cmd.ProcessState.ExitCode() != 1 {
				t.Errorf("one ended with %v", p.cmd.ProcessState)
			}
		}
	}
	if winner == "" {
		t.Fatal("none of them serves")
	}
	st.procs[s.As], st.wires[s.As] = st.procs[winner], st.wires[winner]
	delete(st.procs, winner)
	delete(st.wires, winner)
}

func receiveExit(t *testing.T, p *proc) {
	t.Helper()
	receive(t, p.exited)
}

func (st *stage) exit(t *testing.T, s step) {
	t.Helper()
	p := st.proc(t, s.Of)
	begun := time.Now()
	receiveExit(t, p)
	if took := time.Since(begun); s.Within > 0 && took > time.Duration(s.Within)*time.Millisecond {
		t.Errorf("it took %v to end", took)
	}
	if s.Status != nil && p.cmd.ProcessState.ExitCode() != *s.Status {
		t.Errorf("it ended with %v, want status %d; stderr: %s", p.cmd.ProcessState, *s.Status, p.said(t))
	}
	if s.Stderr != nil && !matches(*s.Stderr, p.said(t)) {
		t.Errorf("stderr is %q, want %q", p.said(t), *s.Stderr)
	}
	for _, part := range s.Says {
		if !strings.Contains(p.said(t), part) {
			t.Errorf("stderr is %q, which does not say %q", p.said(t), part)
		}
	}
	if w := st.wires[s.Of]; !w.gone {
		w.closed(t)
	}
}

// memory checks that a program holds no more than so many KiB.
func (st *stage) memory(t *testing.T, s step) {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", st.proc(t, s.Of).cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(b))[1])
	if err != nil {
		t.Fatal(err)
	}
	if kib := pages * os.Getpagesize() / 1024; kib > s.Size {
		t.Errorf("it holds %d KiB, and at most %d are right", kib, s.Size)
	}
}

func (p *proc) said(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(p.errs.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
