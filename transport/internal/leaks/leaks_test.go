package leaks

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

// What the tests of a package leave is told at their end, and is their failure.
func TestMainFails(t *testing.T) {
	const leave = "KITH_LEAVE"
	if os.Getenv(leave) != "" {
		f, err := os.CreateTemp("", "left")
		must(t, err)
		f.Close()
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestMainFails$")
	cmd.Env = append(os.Environ(), leave+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "left behind: file ") {
		t.Errorf("%v, output %s", err, out)
	}
}

// Every kind of thing that can be left behind is found, and is not once it has gone.
func TestFindsWhatIsLeft(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name string
		part string
		leak func(t *testing.T) (undo func())
	}{
		{"goroutine", "goroutine ", func(*testing.T) func() {
			end, ended := make(chan struct{}), make(chan struct{})
			go func() { <-end; close(ended) }()
			return func() { close(end); <-ended }
		}},
		{"descriptor", "descriptor ", func(t *testing.T) func() {
			f, err := os.Open(os.DevNull)
			must(t, err)
			return func() { f.Close() }
		}},
		{"descriptor number used again", "pipe", func(t *testing.T) func() {
			r, w, err := os.Pipe()
			must(t, err)
			return func() { r.Close(); w.Close() }
		}},
		{"child", "child ", func(t *testing.T) func() {
			cmd := exec.Command(os.Args[0], "-test.run=^$")
			must(t, cmd.Start())
			return func() { cmd.Wait() }
		}},
		{"file", "file ", func(t *testing.T) func() {
			name := filepath.Join(dir, "left")
			must(t, os.WriteFile(name, nil, 0o600))
			return func() { os.Remove(name) }
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := Take([]string{dir})
			undo := c.leak(t)
			left := strings.Join(before.Left([]string{dir}, 0), "\n")
			if !strings.Contains(left, c.part) {
				t.Errorf("found %q, want %s", left, c.part)
			}
			undo()
			if left := before.Left([]string{dir}, Patience); len(left) > 0 {
				t.Errorf("found after it had gone: %q", left)
			}
		})
	}
}

// A lock file stays by rule (SOCK-3), and what ends a moment later is waited for.
func TestWaits(t *testing.T) {
	dir := t.TempDir()
	before := Take([]string{dir})
	must(t, os.WriteFile(filepath.Join(dir, "main.sock.lock"), nil, 0o600))
	go func() { time.Sleep(20 * time.Millisecond) }()
	if left := before.Left([]string{dir}, Patience); len(left) > 0 {
		t.Errorf("found %q", left)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
