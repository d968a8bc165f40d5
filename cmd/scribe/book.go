package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
)

// book is a notebook: one file, which other processes append to as well. Every use of it first reads what they added.
type book struct {
	path string
	err  error // why there is no path

	mu       sync.Mutex // held while the file is locked, so that one process stands in the queue for it once
	page     page
	watchers map[*transport.Peer]bool
	notice   *notice // of changes to the file, while somebody watches
}

func newBook(path string, err error) *book {
	return &book{path: path, err: err, watchers: map[*transport.Peer]bool{}}
}

// bookPath is where the notes are: $SCRIBE_BOOK, or book.jsonl in the user's directory of state.
func bookPath() (string, error) {
	if path := os.Getenv("SCRIBE_BOOK"); path != "" {
		return path, nil
	}
	dir := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) { // what the XDG specification says of a relative one: ignore it
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("no place for the book: none of $SCRIBE_BOOK, $XDG_STATE_HOME and $HOME is set")
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "scribe", "book.jsonl"), nil
}

// all returns the notes there are, oldest first. They are the caller's. A book that does not exist yet holds none.
func (b *book) all(ctx context.Context) ([]note, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.refresh(ctx)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, shape.Failed.Errorf("the book cannot be read: %w", err)
	}
	return b.page.live(), nil
}

// add keeps a note. When it returns without an error the note is on the disk; with one, nothing of it is in the book.
func (b *book) add(ctx context.Context, text string, tags []string) (n note, err error) {
	err = b.change(ctx, func() ([]byte, error) {
		if b.page.last == math.MaxInt64 {
			return nil, errors.New("the book has used every id there is")
		}
		n = note{ID: b.page.last + 1, At: now(), Text: text, Tags: append([]string{}, tags...)}
		return line(n)
	})
	return n, err
}

// remove forgets a note. The book only grows, so that is a line too, and the id stays used.
func (b *book) remove(ctx context.Context, id int64) (n note, found bool, err error) {
	err = b.change(ctx, func() ([]byte, error) {
		if n, found = b.page.get(id); !found {
			return nil, nil
		}
		return line(forgotten{Forget: id, At: now()})
	})
	return n, found, err
}

func now() string { return time.Now().UTC().Format(time.RFC3339Nano) }

// change appends the line that next makes of the book as it is: nobody else writes between the two. No line, no change.
// The error is Failed: the line is not in the book.
func (b *book) change(ctx context.Context, next func() ([]byte, error)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return shape.Failed.Errorf("%w", b.err)
	}
	f, err := openLocked(ctx, b.path, forAppend)
	if err != nil {
		return shape.Failed.Errorf("%w", err)
	}
	defer f.Close() // and with it the lock
	if err := b.read(f); err != nil {
		return shape.Failed.Errorf("%w", err)
	}
	added, err := next()
	if err != nil || added == nil {
		return err
	}
	if err := appendLine(f, added); err != nil {
		return shape.Failed.Errorf("%w", err)
	}
	if err := b.read(f); err != nil { // it has landed all the same, and the next use reads it
		complain("%v", err)
	}
	return nil
}

// refresh reads what was added to the file since the last time. Where there is no file the page stays as it is: the next one
// may be the same book, on its way from one name to another. mu is held.
func (b *book) refresh(ctx context.Context) error {
	if b.err != nil {
		return b.err
	}
	f, err := openLocked(ctx, b.path, forRead)
	if err != nil {
		return err
	}
	defer f.Close()
	return b.read(f)
}

// read brings the page up to the end of the locked file, and tells the watchers of what is new. mu is held.
func (b *book) read(f *os.File) error {
	fresh, err := b.page.read(f)
	for _, n := range fresh {
		b.tell(n)
	}
	return err
}

// complain says on stderr what no caller can be told.
func complain(format string, a ...any) {
	fmt.Fprintf(os.Stderr, "scribe: "+format+"\n", a...)
}
