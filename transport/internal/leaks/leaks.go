// Package leaks tells what a test leaves behind.
package leaks

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Patience is how long what has been told to end may take to be gone.
const Patience = 5 * time.Second

// Main runs the tests of a package and returns the exit status of its TestMain: 1 where they left something behind that was not
// there before. Their temporary directory is one of its own, so that files count too.
func Main(m *testing.M) int {
	dir, err := os.MkdirTemp("", "kt")
	if err == nil {
		defer os.RemoveAll(dir)
		err = errors.Join(os.Chmod(dir, 0o711), os.Setenv("TMPDIR", dir)) // a test may run a program as another user
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	before := Take([]string{dir})
	status := m.Run()
	for _, left := range before.Left([]string{dir}, Patience) {
		fmt.Fprintf(os.Stderr, "the tests of this package left behind: %s\n", left)
		status = 1
	}
	return status
}

// Stock is all there is, by what names it and nothing that comes later: each with a text for people.
type Stock map[string]string

// Take counts what the process has now.
func Take(dirs []string) Stock {
	if r, w, err := os.Pipe(); err == nil { // the runtime makes its poller with the first, and keeps it
		r.Close()
		w.Close()
	}
	s := Stock{}
	s.addGoroutines()
	s.addDescriptors()
	s.addChildren()
	for _, dir := range dirs {
		s.addFiles(dir)
	}
	return s
}

// Left tells what is there now and was not before, once that has had time to go.
func (s Stock) Left(dirs []string, patience time.Duration) []string {
	for deadline, pause := time.Now().Add(patience), time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		var left []string
		for name, text := range Take(dirs) {
			if _, had := s[name]; !had {
				left = append(left, text)
			}
		}
		if len(left) == 0 || time.Now().After(deadline) {
			slices.Sort(left)
			return left
		}
		time.Sleep(pause)
	}
}

// lasting are goroutines that the standard library starts once and keeps.
var lasting = []string{"os/signal.loop(", "runtime.ensureSigM", "testing.(*F)", "testing.runFuzzing"}

func (s Stock) addGoroutines() {
	buf := make([]byte, 64<<10)
	n := runtime.Stack(buf, true)
	for n == len(buf) {
		buf = make([]byte, 2*len(buf))
		n = runtime.Stack(buf, true)
	}
	loops := 0
	for stack := range bytes.SplitSeq(buf[:n], []byte("\n\n")) {
		text := string(stack)
		name, _, _ := strings.Cut(text, " [")                    // goroutine N: a number is never used twice
		if strings.Contains(text, "/transport.(*Peer).serve(") { // it goes on in another goroutine once its connection is idle
			loops++
			name = fmt.Sprintf("serve loop %d", loops)
		}
		if !slices.ContainsFunc(lasting, func(part string) bool { return strings.Contains(text, part) }) {
			s[name] = text
		}
	}
}

// probeDescriptors is how many are asked for one by one where there is no /proc.
const probeDescriptors = 1024

func (s Stock) addDescriptors() {
	const dir = "/proc/self/fd"
	entries, err := os.ReadDir(dir)
	if err != nil {
		for fd := range uintptr(probeDescriptors) {
			if _, err := unix.FcntlInt(fd, unix.F_GETFD, 0); err == nil {
				s[fmt.Sprintf("descriptor %d", fd)] = fmt.Sprintf("descriptor %d", fd)
			}
		}
		return
	}
	for _, entry := range entries {
		// What the number stands for is part of the name: one that was closed may be given out again.
		target, err := os.Readlink(filepath.Join(dir, entry.Name()))
		if err == nil && !strings.HasSuffix(target, "/fd") { // the descriptor that lists the others
			name := fmt.Sprintf("descriptor %s, %s", entry.Name(), target)
			s[name] = name
		}
	}
}

// addChildren adds processes that are ours to wait for, ended ones too.
func (s Stock) addChildren() {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		b, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		pid, rest, _ := strings.Cut(string(b), " ")
		end := strings.LastIndexByte(rest, ')') // a name may hold anything
		state, parent := "", 0
		if fields := strings.Fields(rest[end+1:]); len(fields) > 1 {
			state = fields[0]
			parent, _ = strconv.Atoi(fields[1])
		}
		if parent == os.Getpid() {
			s["child "+pid] = fmt.Sprintf("child %s %s in state %s", pid, rest[:end+1], state)
		}
	}
}

func (s Stock) addFiles(dir string) {
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && path != dir && !strings.HasSuffix(path, ".lock") {
			s["file "+path] = fmt.Sprintf("file %s, %s", path, d.Type())
		}
		return nil
	})
}
