package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/kith-wire/kith/shape"
)

// page is what has been read of the file. Only what is behind it is read the next time.
type page struct {
	file   os.FileInfo // whose contents these are; nil: nothing has been read
	offset int64       // so much of it has been read, up to the end of a line
	tail   []byte      // the last bytes before offset: by them the file is known again
	notes  []note      // oldest first; a forgotten one keeps its id and at only
	gone   map[int64]bool
	index  map[int64]int
	last   int64  // the highest id that was ever used
	fresh  []note // kept by the read that is going on
	told   int64  // where the line is that was reported last, and 1
}

// tailLen is how much of the file is compared before its new part is taken for its continuation.
const tailLen = 256

// forgotten is the line that takes a note back.
type forgotten struct {
	Forget int64  `json:"forget"`
	At     string `json:"at"`
}

// record is any line: a note or a forgotten one.
type record struct {
	ID     *int64   `json:"id"`
	Forget *int64   `json:"forget"`
	At     string   `json:"at"`
	Text   *string  `json:"text"`
	Tags   []string `json:"tags"`
}

// line writes a line of the book, its end included.
func line[T any](v T) ([]byte, error) {
	value := shape.RowsOf(v).Raw(0)
	if value.IsZero() {
		return nil, shape.Refused.Errorf("the note is over the limits of one message")
	}
	return append(value.Append(nil, shape.JSON), '\n'), nil
}

// parse reads a line of the book.
func parse(b []byte) (record, error) {
	var r record
	value, err := shape.Limits{}.Value(b, shape.JSON)
	if err == nil {
		err = value.Decode(&r)
	}
	switch {
	case err != nil:
		return r, err
	case r.Forget != nil && *r.Forget > 0 && r.ID == nil:
		return r, nil
	case r.ID == nil || *r.ID < 1 || r.Text == nil || r.Forget != nil:
		return r, errors.New("it is neither a note nor a forgotten one")
	}
	return r, nil
}

// live returns the notes that are not forgotten.
func (p *page) live() []note {
	notes := make([]note, 0, len(p.notes)-len(p.gone))
	for _, n := range p.notes {
		if !p.gone[n.ID] {
			notes = append(notes, n)
		}
	}
	return notes
}

func (p *page) get(id int64) (note, bool) {
	i, known := p.index[id]
	if !known || p.gone[id] {
		return note{}, false
	}
	return p.notes[i], true
}

// read reads the file, which is locked, from where the last read ended. It returns the notes that were not there before. A
// file that is not the one of last time, or not the continuation of it, is read from its start.
func (p *page) read(f *os.File) (fresh []note, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	before := page{}
	if !p.continues(f, info) {
		before, *p = *p, page{gone: map[int64]bool{}, index: map[int64]int{}}
	}
	b := make([]byte, info.Size()-p.offset)
	if _, err := f.ReadAt(b, p.offset); err != nil && !(errors.Is(err, io.EOF) && len(b) == 0) {
		return nil, err
	}
	p.file = info
	p.take(b, f.Name())
	for _, n := range p.fresh {
		if i, known := before.index[n.ID]; !known || before.notes[i].At != n.At {
			fresh = append(fresh, n)
		}
	}
	p.fresh = nil
	return fresh, nil
}

// continues reports whether the file is the one that was read, with nothing but more at its end.
func (p *page) continues(f *os.File, info os.FileInfo) bool {
	if p.file == nil || !os.SameFile(p.file, info) || info.Size() < p.offset {
		return false
	}
	b := make([]byte, len(p.tail))
	_, err := f.ReadAt(b, p.offset-int64(len(b)))
	return (err == nil || len(b) == 0) && bytes.Equal(b, p.tail)
}

// take takes lines in. A line that cannot be read is left out and costs nothing but itself; so does the last one where it
// has no end, unless only the end is missing.
func (p *page) take(b []byte, name string) {
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n')
		whole := end >= 0
		if !whole {
			end = len(b)
		}
		at := p.offset
		r, err := parse(b[:end])
		if err != nil && !whole {
			p.report(at, fmt.Errorf("it is the last one and has no end: %w", err), name)
			return
		}
		if whole {
			end++
		}
		p.offset += int64(end)
		p.tail = append(p.tail, b[max(0, end-tailLen):end]...)
		p.tail = p.tail[max(0, len(p.tail)-tailLen):]
		if err == nil {
			err = p.apply(r)
		} else if len(bytes.TrimSpace(b[:end])) == 0 { // the end of a line that had none
			err = nil
		} else {
			p.last++ // it may have held a note, whose id is used
		}
		if err != nil {
			p.report(at, err, name)
		}
		b = b[end:]
	}
}

func (p *page) apply(r record) error {
	if r.Forget != nil {
		id := *r.Forget
		if i, known := p.index[id]; known {
			p.gone[id] = true
			p.notes[i].Text, p.notes[i].Tags = "", nil
		}
		p.last = max(p.last, id)
		return nil
	}
	if _, known := p.index[*r.ID]; known {
		return fmt.Errorf("id %d is used twice", *r.ID)
	}
	n := note{ID: *r.ID, At: r.At, Text: *r.Text, Tags: append([]string{}, r.Tags...)}
	p.index[n.ID] = len(p.notes)
	p.notes, p.fresh = append(p.notes, n), append(p.fresh, n)
	p.last = max(p.last, n.ID)
	return nil
}

// report says on stderr, once, that a line is left out.
func (p *page) report(at int64, why error, name string) {
	if p.told == at+1 {
		return
	}
	p.told = at + 1
	complain("%s: the line at byte %d is left out: %v", name, at, why)
}
