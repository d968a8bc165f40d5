package vectors_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kith-wire/kith/shape"
)

// step is one thing that is done, or must be seen. README.md says what each does and which fields it has.
type step struct {
	Do, On string

	Bytes   data
	Split   string
	Replies []string // expect, flood
	In      string
	May     bool
	Times   int
	Size    int

	As, Verb, Args, More string // call
	Timeout              int    // ms
	Of                   string
	Allow                []outcome
	Is                   string // why, file, make
	Says                 []string

	Words  []string // run, start
	Hex    []string // words that are no text
	Stdin  *data
	Stdout *string
	Stderr *string
	Status *int
	To     string
	Limit  map[string]int
	Pass   string // start: the path of a socket that is passed
	At     string
	Mode   string
	UID    int
	Signal string
	Unset  string
	Within int // ms
	Link   string
	Text   string
}

// patience is how long anything that must come may take.
const patience = 20 * time.Second

// wire is one end of a stream: the tester's.
type wire struct {
	in    *bufio.Reader
	out   io.Writer
	end   func() error // no more is sent
	close func() error
	order binary.ByteOrder // of a frame's length; nil: lines
	gone  bool             // this end was closed
	split int              // where this run cuts what is sent; below 0: nowhere
}

// common does the steps that every stream knows; false when it is another.
func (w *wire) common(t *testing.T, s step) bool {
	t.Helper()
	switch s.Do {
	case "send":
		w.send(t, s)
	case "expect":
		w.expect(t, s)
	case "flood":
		w.flood(t, s)
	case "end":
		if err := w.end(); err != nil {
			t.Fatalf("end: %v", err)
		}
	case "close":
		w.gone = true
		w.close()
	case "closed":
		w.closed(t)
	case "raw":
		w.raw(t, s)
	case "until":
		w.until(t, s)
	default:
		return false
	}
	return true
}

func (w *wire) send(t *testing.T, s step) {
	t.Helper()
	parts := [][]byte{s.Bytes}
	switch {
	case s.Split == "bytes":
		parts = nil
		for i := range s.Bytes {
			parts = append(parts, s.Bytes[i:i+1])
		}
	case s.Split == "every" && w.split >= 0 && w.split < len(s.Bytes):
		parts = [][]byte{s.Bytes[:w.split], s.Bytes[w.split:]}
	}
	for _, part := range parts {
		if _, err := w.out.Write(part); err != nil && !s.May {
			t.Fatalf("send: %v", err)
		}
	}
}

// next reads one message.
func (w *wire) next() ([]byte, error) {
	if w.order == nil {
		line, err := w.in.ReadBytes('\n')
		if err == io.EOF && len(line) > 0 {
			err = io.ErrUnexpectedEOF
		}
		return bytes.TrimSuffix(line, []byte("\n")), err
	}
	var head [4]byte
	if _, err := io.ReadFull(w.in, head[:]); err != nil {
		return nil, err
	}
	body := make([]byte, w.order.Uint32(head[:]))
	if _, err := io.ReadFull(w.in, body); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	return body, nil
}

func (w *wire) expect(t *testing.T, s step) {
	t.Helper()
	for i, pattern := range s.Replies {
		body, err := w.next()
		if s.May && i == 0 && ended(err) {
			return
		}
		if err != nil {
			t.Fatalf("message %d: %v\nwant %.300s", i, err, pattern)
		}
		sameMessage(t, s.In, pattern, body)
	}
}

// sameMessage compares one message with a pattern. One in CBOR is compared as JSON, its members in the order they came; the
// pattern hex:… is of its first bytes.
func sameMessage(t *testing.T, in, pattern string, body []byte) {
	t.Helper()
	text := string(body)
	if isCBOR := len(body) > 0 && body[0]&0xe0 == 0xa0; isCBOR != (in == "cbor") {
		t.Fatalf("it came in the other encoding: %.100q\nwant %s %s", body, in, pattern)
	}
	if in == "cbor" {
		value, err := shape.Limits{}.Value(body, shape.CBOR)
		if err != nil {
			t.Fatalf("got %x: %v", body, err)
		}
		text = string(value.Append(nil, shape.JSON))
	}
	if strings.Contains(text, "\r") || !matches(pattern, text) {
		t.Fatalf("got  %.600s\nwant %.600s", text, pattern)
	}
}

// flood sends many messages before it reads any, and then the replies to all.
func (w *wire) flood(t *testing.T, s step) {
	t.Helper()
	if _, err := w.out.Write(bytes.Repeat(s.Bytes, s.Times)); err != nil {
		t.Fatalf("flood: %v", err)
	}
	for range s.Times {
		w.expect(t, s)
	}
}

// raw reads exactly these bytes.
func (w *wire) raw(t *testing.T, s step) {
	t.Helper()
	b := make([]byte, len(s.Bytes))
	if n, err := io.ReadFull(w.in, b); err != nil || !bytes.Equal(b, s.Bytes) {
		t.Fatalf("got %.300q and %v, want %.300q", b[:n], err, s.Bytes)
	}
}

// until sends a message again and again, until the first of the patterns is what comes for it; before that the second may.
func (w *wire) until(t *testing.T, s step) {
	t.Helper()
	for {
		w.send(t, s)
		body, err := w.next()
		switch {
		case err != nil:
			t.Fatalf("%v\nwant %.300s", err, s.Replies[0])
		case matches(s.Replies[0], string(body)):
			return
		}
		sameMessage(t, s.In, s.Replies[1], body)
	}
}

// closed checks that the other end closes, and sends nothing before.
func (w *wire) closed(t *testing.T) {
	t.Helper()
	if b, err := w.in.ReadByte(); !ended(err) {
		rest, _ := w.in.Peek(min(w.in.Buffered(), 300))
		t.Fatalf("got %q%.300q %v, want the end", b, rest, err)
	}
}

// ended reports whether the other end has closed. Linux says so with ECONNRESET where it had not read everything.
func ended(err error) bool {
	return err == io.EOF || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
