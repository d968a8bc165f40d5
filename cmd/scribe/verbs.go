package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/verbs"
)

// program is the scribe: its verbs and the one event it takes.
func program(b *book) *verbs.Set {
	set := verbs.New("scribe", 1)
	verbs.Add(set, "note", "keep a note", b.note)
	verbs.Add(set, "list", "the newest notes, oldest first; all without a limit", b.list, verbs.Listing())
	verbs.Add(set, "find", "the notes that hold a word in their text or a tag, case ignored", b.find, verbs.Listing())
	verbs.Add(set, "get", "one note", b.get)
	verbs.Add(set, "forget", "forget a note and return it a last time", b.forget)
	verbs.Add(set, "echo", "the arguments back, a row each", echo, verbs.Listing())
	verbs.Add(set, "watch", "every new note from now on, as events named noted", b.watch,
		verbs.Doors(transport.Pipe, transport.Socket))
	verbs.On(set, "jot", b.jot)
	return set
}

// note is one note, and the row that tells of it.
type note struct {
	ID   int64    `json:"id"` // from 1, never used twice
	At   string   `json:"at"` // RFC 3339, UTC
	Text string   `json:"text"`
	Tags []string `json:"tags"`
}

type noteArgs struct {
	Text string
	Tags []string `json:"tag" kith:"rest"`
}

func (b *book) note(ctx context.Context, a noteArgs) ([]note, error) {
	n, err := b.add(ctx, a.Text, a.Tags)
	if err != nil {
		return nil, fmt.Errorf("note: the note is not kept: %w", err)
	}
	return []note{n}, nil
}

type listArgs struct {
	Limit *int64
}

func (b *book) list(ctx context.Context, a listArgs) ([]note, error) {
	if a.Limit != nil && *a.Limit < 0 {
		return nil, shape.Refused.Errorf("list: limit is %d and must be 0 or more", *a.Limit)
	}
	notes, err := b.all(ctx)
	if err != nil {
		return nil, fmt.Errorf("list: %w", err)
	}
	if a.Limit != nil && *a.Limit < int64(len(notes)) {
		notes = notes[int64(len(notes))-*a.Limit:]
	}
	return notes, nil
}

type findArgs struct {
	Word string
}

// find compares the lower-case forms, so that the word may stand anywhere and in any case.
func (b *book) find(ctx context.Context, a findArgs) ([]note, error) {
	notes, err := b.all(ctx)
	if err != nil {
		return nil, fmt.Errorf("find: %w", err)
	}
	var found []note
	word := strings.ToLower(a.Word)
	for _, n := range notes {
		for _, text := range append([]string{n.Text}, n.Tags...) {
			if strings.Contains(strings.ToLower(text), word) {
				found = append(found, n)
				break
			}
		}
	}
	return found, nil
}

type idArgs struct {
	ID int64
}

func (b *book) get(ctx context.Context, a idArgs) ([]note, error) {
	notes, err := b.all(ctx)
	if err != nil {
		return nil, fmt.Errorf("get: %w", err)
	}
	for _, n := range notes {
		if n.ID == a.ID {
			return []note{n}, nil
		}
	}
	return nil, shape.Refused.Errorf("get: no note has id %d", a.ID)
}

func (b *book) forget(ctx context.Context, a idArgs) ([]note, error) {
	n, found, err := b.remove(ctx, a.ID)
	switch {
	case err != nil:
		return nil, fmt.Errorf("forget: the note is not forgotten: %w", err)
	case !found:
		return nil, shape.Refused.Errorf("forget: no note has id %d", a.ID)
	}
	return []note{n}, nil
}

type echoArgs struct {
	Values []shape.Raw `json:"value" kith:"rest"`
}

func echo(_ context.Context, a echoArgs) ([]shape.Raw, error) { return a.Values, nil }

type jotEvent struct {
	Text string
	Tags []string `kith:"optional"`
}

// jot keeps a note nobody waits for: where it does not land, stderr is the one place left to say so.
func (b *book) jot(ctx context.Context, e jotEvent) {
	if _, err := b.add(ctx, e.Text, e.Tags); err != nil {
		fmt.Fprintf(os.Stderr, "scribe: jot: the note is not kept: %v\n", err)
	}
}
