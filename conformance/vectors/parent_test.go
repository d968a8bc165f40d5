package vectors_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/pipe"
)

// runParent takes the steps with a parent that holds a child, which is a script of sh.
func runParent(t *testing.T, c testCase) {
	dir := shortDir(t)
	child, err := pipe.Start(context.Background(), pipe.Command{
		Config: transport.Config{Name: "the child", Handler: newReference(), Log: func(string) {}, Limits: c.Limits.shape()},
		Path:   "sh", Args: []string{"-c", c.Child}, Dir: dir, Grace: 300 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer child.Close()
	w := &talk{peer: child.Peer, calls: calls{}}
	for i, s := range c.Steps {
		if t.Failed() {
			t.Fatalf("before step %d, %s", i, s.Do)
		}
		switch s.Do {
		case "call", "result":
			w.own(t, s)
		case "close":
			closeChild(t, child, s)
		case "process":
			goneProcess(t, filepath.Join(dir, s.At))
		default:
			t.Fatalf("step %q is none of a parent", s.Do)
		}
	}
}

// closeChild ends the child, and checks that it takes no longer than it may and how the child is said to have ended.
func closeChild(t *testing.T, child *pipe.Child, s step) {
	t.Helper()
	begun := time.Now()
	err := child.Close()
	if took := time.Since(begun); s.Within > 0 && took > time.Duration(s.Within)*time.Millisecond {
		t.Errorf("it took %v to close", took)
	}
	if (err == nil) != (s.Is == "clean") {
		t.Errorf("closed with %v, want %s", err, s.Is)
	}
	for _, part := range s.Says {
		if !strings.Contains(fmt.Sprint(err, child.Stderr()), part) {
			t.Errorf("%v and stderr %q do not say %q", err, child.Stderr(), part)
		}
	}
}

// goneProcess checks that the process whose number is in a file runs no more. One that was killed takes a moment to die.
func goneProcess(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(2 * time.Second); ; time.Sleep(time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(stat), ") Z ") { // one that its new parent has not waited for is gone too
			return
		}
		if time.Now().After(end) {
			t.Fatalf("process %d still runs: %.60s", pid, stat)
		}
	}
}
