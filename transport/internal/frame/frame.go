// Package frame tells the messages in a stream of bytes apart: lines, and frames behind their length. What it reads into follows
// the bytes that come, not those that are announced (LIMIT-2).
package frame

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/kith-wire/kith/internal/buffers"
	"github.com/kith-wire/kith/shape"
)

// Kind says how messages are told apart.
type Kind uint8

const (
	Lines        Kind = iota // LF ends each (PIPE-1)
	BigEndian                // four bytes of length in front, most significant first (SOCK-1)
	LittleEndian             // the same, least significant first (RPC-1)
)

// HeadLen is the length of a frame's header.
const HeadLen = 4

func (k Kind) order() binary.ByteOrder {
	if k == LittleEndian {
		return binary.LittleEndian
	}
	return binary.BigEndian
}

// Chunk is a piece of what was read. Messages that are parts of it hold a reference until they have been served.
type Chunk struct {
	b    []byte
	refs atomic.Int32
}

// chunkLen is what an ordinary read has room for; larger frames grow theirs as their bytes arrive (LIMIT-2).
const chunkLen = 16 << 10

var chunks sync.Pool // of *Chunk, of chunkLen bytes

func newChunk(size int) *Chunk {
	if size > chunkLen {
		return chunkOf(buffers.Get(size))
	}
	c, _ := chunks.Get().(*Chunk)
	if c == nil {
		c = &Chunk{b: make([]byte, chunkLen)}
	}
	c.refs.Store(1)
	return c
}

func chunkOf(b []byte) *Chunk {
	c := &Chunk{b: b[:cap(b)]}
	c.refs.Store(1)
	return c
}

// Release gives back one reference; a nil Chunk has none.
func (c *Chunk) Release() {
	if c == nil || c.refs.Add(-1) > 0 {
		return
	}
	if len(c.b) > chunkLen {
		buffers.Put(c.b)
	} else {
		chunks.Put(c)
	}
}

// Input is what has been read and not yet cut into frames. Only the leader touches it.
type Input struct {
	kind    Kind
	limit   int // the cap
	cur     *Chunk
	r, w    int  // cur.b[r:w] is unread
	looked  int  // Lines: so much of it holds no line end
	skipped int  // Lines: bytes of a line over the cap that have been dropped
	skipCR  bool // the last of them is a CR, which may be the line end's
}

// NewInput makes the input of a connection. limit is the largest message, in bytes.
func NewInput(kind Kind, limit int) Input { return Input{kind: kind, limit: limit} }

// Room implements stream.Room.
func (in *Input) Room() []byte {
	have := in.w - in.r
	switch {
	case in.cur == nil:
		in.cur, in.r, in.w = newChunk(chunkLen), 0, 0
	case have == 0 && in.cur.refs.Load() == 1:
		in.r, in.w = 0, 0
	case in.w < len(in.cur.b) && in.want() <= len(in.cur.b)-in.r:
	case in.cur.refs.Load() == 1 && in.r > 0 && in.want() <= len(in.cur.b):
		in.w = copy(in.cur.b, in.cur.b[in.r:in.w])
		in.r = 0
	default:
		next := in.larger()
		copy(next.b, in.cur.b[in.r:in.w])
		in.cur.Release()
		in.cur, in.r, in.w = next, 0, have
	}
	return in.cur.b[in.w:]
}

// larger is the chunk that what has come moves to: room for the whole frame where such a buffer is kept, and else for as much as has
// come once more.
func (in *Input) larger() *Chunk {
	size := 2 * (in.w - in.r)
	if in.kind != Lines {
		want := in.want()
		if b := buffers.Kept(want); b != nil {
			return chunkOf(b)
		}
		size = min(size, want)
	}
	return newChunk(max(chunkLen, size))
}

// want is how many bytes the frame at the front is known or guessed to need.
func (in *Input) want() int {
	have := in.w - in.r
	if in.kind != Lines && have >= HeadLen {
		if size := in.kind.order().Uint32(in.cur.b[in.r:]); int64(size) <= int64(in.limit) {
			return HeadLen + int(size)
		}
	}
	return have + 1
}

// NoRead implements stream.Room: a connection of which everything has been cut into frames holds no buffer.
func (in *Input) NoRead() {
	if in.cur != nil && in.r == in.w {
		in.drop()
	}
}

func (in *Input) drop() {
	in.cur.Release()
	in.cur, in.r, in.w, in.looked = nil, 0, 0, 0
}

// Took says that so many bytes were read into Room.
func (in *Input) Took(n int) { in.w += n }

// Hold returns the Chunk that the last frame is a part of, with a reference for its holder to release.
func (in *Input) Hold() *Chunk {
	in.cur.refs.Add(1)
	return in.cur
}

// Forget drops what has not been cut into frames.
func (in *Input) Forget() {
	in.drop()
	in.skipped = 0
}

// Unread returns what has been read and not been cut into frames: another protocol's from here on.
func (in *Input) Unread() []byte {
	if in.cur == nil {
		return nil
	}
	return append([]byte(nil), in.cur.b[in.r:in.w]...)
}

// Started reports whether a frame has begun and not ended.
func (in *Input) Started() bool { return in.r < in.w || in.skipped > 0 }

// Frame is one whole frame, or why there is none where one should be.
type Frame struct {
	Body []byte
	Bad  *shape.Error
	Last bool // nothing behind it can be told apart

	// Of a frame with a length that is Bad: what it announced, and how much of it, header included, came before input ended.
	Size, Got int
}

// Next cuts the next whole frame; false when more bytes are needed.
func (in *Input) Next() (Frame, bool) {
	if in.cur == nil {
		return Frame{}, false
	}
	if in.kind != Lines {
		return in.nextLength()
	}
	return in.nextLine()
}

func (in *Input) nextLength() (Frame, bool) {
	b := in.cur.b[in.r:in.w]
	if len(b) < HeadLen {
		return Frame{}, false
	}
	size := in.kind.order().Uint32(b)
	switch {
	case size == 0:
		in.r += HeadLen
		return Frame{Bad: shape.Malformed.Errorf("a frame of length 0 holds no message")}, true
	case int64(size) > int64(in.limit):
		in.r = in.w
		bad := overCap("frame", int(size), in.limit)
		bad.Text += in.kind.Other(int(size), in.limit)
		return Frame{Bad: bad, Last: true, Size: int(size)}, true
	case len(b) < HeadLen+int(size):
		return Frame{}, false
	}
	in.r += HeadLen + int(size)
	return Frame{Body: b[HeadLen : HeadLen+size : HeadLen+size]}, true
}

func (in *Input) nextLine() (Frame, bool) {
	for {
		b := in.cur.b[in.r:in.w]
		end := bytes.IndexByte(b[in.looked:], '\n')
		if end < 0 {
			in.looked = len(b)
			if len(b) > in.limit+1 || in.skipped > 0 { // no line any more, not even one that ends in CR LF
				if len(b) > 0 {
					in.skipCR = b[len(b)-1] == '\r'
				}
				in.skipped += len(b)
				in.r, in.looked = in.w, 0
			}
			return Frame{}, false
		}
		end += in.looked
		in.r, in.looked = in.r+end+1, 0
		if f, ok := in.line(b[:end:end]); ok {
			return f, true
		}
	}
}

// line is one line without its end; false for a blank one (PIPE-1).
func (in *Input) line(b []byte) (Frame, bool) {
	if in.skipCR && len(b) == 0 {
		in.skipped--
	}
	in.skipCR = false
	b = bytes.TrimSuffix(b, []byte("\r"))
	if size := len(b) + in.skipped; size > in.limit || in.skipped > 0 {
		in.skipped = 0
		return Frame{Bad: overCap("line", size, in.limit)}, true
	}
	return Frame{Body: b}, len(bytes.Trim(b, " \t\r")) > 0
}

// Rest is what the end of input leaves: a last line without its end (PIPE-3), a cut frame, or nothing.
func (in *Input) Rest() (Frame, bool) {
	if !in.Started() {
		return Frame{}, false
	}
	var b []byte
	if in.cur != nil {
		b = in.cur.b[in.r:in.w]
	}
	in.r = in.w
	if in.kind == Lines {
		return in.line(b)
	}
	if len(b) < HeadLen {
		return Frame{Bad: shape.Malformed.Errorf("input ended %d bytes into a frame's header of %d", len(b), HeadLen), Last: true, Got: len(b)}, true
	}
	size := in.kind.order().Uint32(b)
	return Frame{Bad: shape.Malformed.Errorf("input ended %d bytes into a frame of %d", len(b)-HeadLen, size), Last: true,
		Size: int(size), Got: len(b)}, true
}

// Other says what a length over the cap is in the other byte order, where it may have been meant so: two wires differ in that.
func (k Kind) Other(size, limit int) string {
	other := bits.ReverseBytes32(uint32(size))
	if int64(other) > int64(limit) {
		return ""
	}
	wire := "daemon"
	if k == LittleEndian {
		wire = "family"
	}
	return fmt.Sprintf("; in the byte order of the %s wire it would be %d", wire, other)
}

func overCap(what string, size, limit int) *shape.Error {
	return shape.Malformed.Errorf("a %s of %d bytes is over the cap of %d", what, size, limit)
}

// End ends the frame that began at start.
func End(b []byte, start int, k Kind) []byte {
	if k == Lines {
		return append(b, '\n')
	}
	k.order().PutUint32(b[start:], uint32(len(b)-start-HeadLen))
	return b
}

// Start makes room for a frame's header.
func Start(b []byte, k Kind) []byte {
	if k != Lines {
		return append(b, 0, 0, 0, 0)
	}
	return b
}
