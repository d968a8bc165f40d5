package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
)

func (t *tool) lsCommand() command {
	timeout := 2 * time.Second
	return command{
		name:  "ls",
		about: "find the sockets of running programs and ask each what it is",
		more: `
It looks at every socket file in $XDG_RUNTIME_DIR, two folders deep, or where that is not set in the folders PROG-UID of the
directory for temporary files. Each is asked verbs, and is a line: at, name, surface, pid, and why where it did not
answer. What is not known is null.`,
		flags: []flag{durationFlag(&timeout, "timeout", "the most that one of them may take; default 2s")},
		run:   func(ctx context.Context, _ []string) int { return t.ls(ctx, timeout) },
	}
}

// found is a row of ls.
type found struct {
	At      string  `json:"at"`
	Name    string  `json:"name"`
	Surface *uint64 `json:"surface"`
	PID     *int    `json:"pid"`
	Why     string  `json:"why,omitempty"`
}

// atOnce is how many sockets are asked at the same time.
const atOnce = 16

func (t *tool) ls(ctx context.Context, timeout time.Duration) int {
	var rows []found
	for _, root := range socketRoots() {
		for _, at := range sockets(root, t.skipped) {
			rows = append(rows, found{At: at, Name: nameOf(at, root)})
		}
	}
	var wg sync.WaitGroup
	turn := make(chan struct{}, atOnce)
	for i := range rows {
		turn <- struct{}{}
		wg.Go(func() {
			rows[i].ask(ctx, timeout)
			<-turn
		})
	}
	wg.Wait()
	var out []byte
	for _, row := range shape.RowsOf(rows...).All() {
		out = append(row.Append(out, shape.JSON), '\n')
	}
	return t.print(out)
}

func (t *tool) skipped(err error) { t.fail(exitOK, "ls: left out: %v", err) }

// ask finds out who answers there.
func (f *found) ask(ctx context.Context, timeout time.Duration) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errors.New(timeout.String()+" have passed (--timeout)"))
	defer cancel()
	way, err := target{door: transport.Socket, at: f.At}.open(ctx, transport.Config{Timeout: -1})
	if err != nil {
		f.Why = why(err)
		return
	}
	defer way.close()
	if cred, known := way.peer.Cred(); known && cred.PID > 0 {
		f.PID = &cred.PID
	}
	rows, err := way.Call(ctx, shape.Call{Verb: "verbs"})
	switch surface := rows.Surface(); {
	case err != nil:
		f.Why = why(err)
	case surface > 0:
		f.Surface = &surface
	}
}

// why is the reason alone: whom it is about stands in the row.
func why(err error) string {
	var e *shape.Error
	if errors.As(err, &e) {
		return e.Text
	}
	return err.Error()
}

// socketRoots are the directories that programs keep their sockets in (SOCK-2).
func socketRoots() []string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return []string{dir}
	}
	var roots []string
	tmp := os.TempDir()
	entries, _ := os.ReadDir(tmp)
	for _, e := range entries {
		if e.IsDir() && strings.HasSuffix(e.Name(), "-"+strconv.Itoa(os.Geteuid())) {
			roots = append(roots, filepath.Join(tmp, e.Name()))
		}
	}
	return roots
}

// sockets returns the socket files in root and two folders deep, by name. Links are not followed.
func sockets(root string, skipped func(error)) (at []string) {
	filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		deep := strings.Count(rel, string(filepath.Separator))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			skipped(err)
		case e.Type() == fs.ModeSocket && !utf8.ValidString(path):
			skipped(fmt.Errorf("%q is not UTF-8", path))
		case e.Type() == fs.ModeSocket:
			at = append(at, path)
		case e.IsDir() && rel != "." && deep >= 2:
			return fs.SkipDir
		}
		return nil
	})
	return at
}

// nameOf is the name of the program a socket is of: that of its directory, and its own where it stands in the root itself.
// The directories of programs in the directory for temporary files end in the uid.
func nameOf(at, root string) string {
	dir := filepath.Dir(at)
	name := filepath.Base(dir)
	if dir == root && os.Getenv("XDG_RUNTIME_DIR") != "" {
		return strings.TrimSuffix(filepath.Base(at), ".sock")
	}
	return strings.TrimSuffix(name, "-"+strconv.Itoa(os.Geteuid()))
}
