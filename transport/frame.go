package transport

import (
	"bytes"
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/kith-wire/kith/shape"
)

// headLen is the length of a Lengths header.
const headLen = 4

// chunk is a piece of what was read. Messages that are parts of it hold a reference until they have been served.
type chunk struct {
	b    []byte
	refs atomic.Int32
}

// chunkLen is what an ordinary read has room for; larger frames grow theirs as their bytes arrive (LIMIT-2).
const chunkLen = 16 << 10

var smallChunks, largeChunks sync.Pool // of *chunk; large are those beyond chunkLen

func newChunk(size int) *chunk {
	pool := &smallChunks
	if size > chunkLen {
		pool = &largeChunks
	}
	c, _ := pool.Get().(*chunk)
	if c == nil || len(c.b) < size {
		c = &chunk{b: make([]byte, max(size, chunkLen))}
	}
	c.refs.Store(1)
	return c
}

func (c *chunk) retain() { c.refs.Add(1) }

func (c *chunk) release() {
	if c == nil || c.refs.Add(-1) > 0 {
		return
	}
	if len(c.b) > chunkLen {
		largeChunks.Put(c)
	} else {
		smallChunks.Put(c)
	}
}

// input is what has been read and not yet cut into frames. Only the leader touches it.
type input struct {
	framing Framing
	frame   int // the cap
	cur     *chunk
	r, w    int  // cur.b[r:w] is unread
	looked  int  // Lines: so much of it holds no line end
	skipped int  // Lines: bytes of a line over the cap that have been dropped
	skipCR  bool // the last of them is a CR, which may be the line end's
}

// Room implements stream.Room.
func (in *input) Room() []byte {
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
		size := 2 * have
		if in.framing == Lengths {
			size = min(size, in.want())
		}
		next := newChunk(max(chunkLen, size))
		copy(next.b, in.cur.b[in.r:in.w])
		in.cur.release()
		in.cur, in.r, in.w = next, 0, have
	}
	return in.cur.b[in.w:]
}

// want is how many bytes the frame at the front is known or guessed to need.
func (in *input) want() int {
	have := in.w - in.r
	if in.framing == Lengths && have >= headLen {
		if size := binary.BigEndian.Uint32(in.cur.b[in.r:]); int64(size) <= int64(in.frame) {
			return headLen + int(size)
		}
	}
	return have + 1
}

// NoRead implements stream.Room: an idle connection holds no buffer.
func (in *input) NoRead() {
	if in.cur != nil && in.r == in.w && in.cur.refs.Load() == 1 {
		in.drop()
	}
}

func (in *input) drop() {
	in.cur.release()
	in.cur, in.r, in.w, in.looked = nil, 0, 0, 0
}

// started reports whether a frame has begun and not ended.
func (in *input) started() bool { return in.r < in.w || in.skipped > 0 }

// frame is one whole frame, or why there is none where one should be.
type frame struct {
	body []byte
	bad  *shape.Error
	last bool // nothing behind it can be told apart
}

// next cuts the next whole frame; false when more bytes are needed.
func (in *input) next() (frame, bool) {
	if in.cur == nil {
		return frame{}, false
	}
	if in.framing == Lengths {
		return in.nextLength()
	}
	return in.nextLine()
}

func (in *input) nextLength() (frame, bool) {
	b := in.cur.b[in.r:in.w]
	if len(b) < headLen {
		return frame{}, false
	}
	size := binary.BigEndian.Uint32(b)
	switch {
	case size == 0:
		in.r += headLen
		return frame{bad: shape.Malformed.Errorf("a frame of length 0 holds no message")}, true
	case int64(size) > int64(in.frame):
		in.r = in.w
		return frame{bad: overCap("frame", int(size), in.frame), last: true}, true
	case len(b) < headLen+int(size):
		return frame{}, false
	}
	in.r += headLen + int(size)
	return frame{body: b[headLen : headLen+size : headLen+size]}, true
}

func (in *input) nextLine() (frame, bool) {
	for {
		b := in.cur.b[in.r:in.w]
		end := bytes.IndexByte(b[in.looked:], '\n')
		if end < 0 {
			in.looked = len(b)
			if len(b) > in.frame+1 || in.skipped > 0 { // no line any more, not even one that ends in CR LF
				if len(b) > 0 {
					in.skipCR = b[len(b)-1] == '\r'
				}
				in.skipped += len(b)
				in.r, in.looked = in.w, 0
			}
			return frame{}, false
		}
		end += in.looked
		in.r, in.looked = in.r+end+1, 0
		if f, ok := in.line(b[:end:end]); ok {
			return f, true
		}
	}
}

// line is one line without its end; false for a blank one (PIPE-1).
func (in *input) line(b []byte) (frame, bool) {
	if in.skipCR && len(b) == 0 {
		in.skipped--
	}
	in.skipCR = false
	b = bytes.TrimSuffix(b, []byte("\r"))
	if size := len(b) + in.skipped; size > in.frame || in.skipped > 0 {
		in.skipped = 0
		return frame{bad: overCap("line", size, in.frame)}, true
	}
	return frame{body: b}, len(bytes.Trim(b, " \t\r")) > 0
}

// rest is what the end of input leaves: a last line without its end (PIPE-3), a cut frame, or nothing.
func (in *input) rest() (frame, bool) {
	if !in.started() {
		return frame{}, false
	}
	var b []byte
	if in.cur != nil {
		b = in.cur.b[in.r:in.w]
	}
	in.r = in.w
	if in.framing == Lines {
		return in.line(b)
	}
	if len(b) < headLen {
		return frame{bad: shape.Malformed.Errorf("input ended %d bytes into a frame's header of %d", len(b), headLen), last: true}, true
	}
	size := binary.BigEndian.Uint32(b)
	return frame{bad: shape.Malformed.Errorf("input ended %d bytes into a frame of %d", len(b)-headLen, size), last: true}, true
}

func overCap(what string, size, limit int) *shape.Error {
	return shape.Malformed.Errorf("a %s of %d bytes is over the cap of %d", what, size, limit)
}

// endFrame ends the frame that began at start.
func endFrame(b []byte, start int, f Framing) []byte {
	if f == Lines {
		return append(b, '\n')
	}
	binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start-headLen))
	return b
}

// startFrame makes room for a frame's header.
func startFrame(b []byte, f Framing) []byte {
	if f == Lengths {
		return append(b, 0, 0, 0, 0)
	}
	return b
}
