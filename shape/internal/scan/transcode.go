package scan

import (
	"slices"
	"sync"

	"github.com/kith-wire/kith/internal/buffers"
	"github.com/kith-wire/kith/shape/internal/wire"
)

// Append writes the admitted value that stands alone in b, space around it ignored, in an encoding and in our own form:
// compact, each escape, head and float as short as it can be, lengths definite, members in the order they came (ENC-3,
// ENC-4). It takes time in proportion to the bytes it reads and writes, whatever is nested in what.
func Append(dst []byte, to wire.Encoding, b []byte, from wire.Encoding) []byte {
	dst = buffers.Room(dst, len(b))
	switch {
	case from == wire.JSON && to == wire.JSON:
		return appendCompact(dst, b)
	case from == wire.CBOR && to == wire.CBOR && isShortest(b):
		return append(dst, b...)
	}
	t := transcoders.Get().(*transcoder)
	defer t.release()
	t.Cursor, t.to = wire.Cursor{B: b, Enc: from}, to
	return t.run(dst)
}

// transcoder writes one value through a cursor.
type transcoder struct {
	wire.Cursor
	to   wire.Encoding
	open []opened
	// heads are the CBOR heads of lists and maps whose length the source did not tell. One byte is kept for each; those that
	// need more are put in at the end, all in one pass, so that nesting does not move the same bytes again and again.
	heads   []lengthHead
	scratch []byte
}

// opened is one open list or map.
type opened struct {
	wire.Iter
	isMap bool
	n     int // elements or members so far
	head  int // index in heads, none when its length was known
}

// lengthHead is a head of which only the first byte has been written.
type lengthHead struct {
	at    int // in the output
	major byte
	n     int
}

const none = -1

// transcoders are kept for their scratch space.
var transcoders = sync.Pool{New: func() any { return new(transcoder) }}

func (t *transcoder) release() {
	if 24*cap(t.heads)+cap(t.scratch) > maxScratch || cap(t.open) > 4<<10 {
		return
	}
	t.B, t.open, t.heads, t.scratch = nil, t.open[:0], t.heads[:0], t.scratch[:0]
	transcoders.Put(t)
}

func (t *transcoder) run(dst []byte) []byte {
	for {
		dst = t.value(dst)
		for { // close what ends here
			if len(t.open) == 0 {
				return t.patch(dst)
			}
			top := &t.open[len(t.open)-1]
			if t.Next(&top.Iter) {
				dst = wire.AppendSep(dst, t.to, top.n)
				top.n++
				break
			}
			dst = t.closeTop(dst, top)
		}
		if t.open[len(t.open)-1].isMap {
			name, alias := t.Key(t.scratch[:0])
			t.keep(name, alias)
			dst = wire.AppendKey(dst, t.to, name)
		}
	}
}

// value writes a scalar, or opens a list or map.
func (t *transcoder) value(dst []byte) []byte {
	switch kind := t.Kind(); kind {
	case wire.Null:
		t.Null()
		return wire.AppendNull(dst, t.to)
	case wire.Bool:
		return wire.AppendBool(dst, t.to, t.Bool())
	case wire.Text:
		text, alias := t.Text(t.scratch[:0])
		t.keep(text, alias)
		return wire.AppendText(dst, t.to, text)
	case wire.List, wire.Map:
		return t.openTop(dst, kind == wire.Map)
	default:
		return t.number(dst)
	}
}

// keep holds on to the scratch space that a text has grown.
func (t *transcoder) keep(text []byte, alias bool) {
	if !alias && cap(text) > cap(t.scratch) {
		t.scratch = text[:0]
	}
}

func (t *transcoder) number(dst []byte) []byte {
	switch v := t.Number(); {
	case v.IsFloat:
		return wire.AppendFloat(dst, t.to, v.Float)
	case v.Big != nil:
		return wire.AppendBig(dst, t.to, v.Big)
	default:
		return wire.AppendInt(dst, t.to, v.Int)
	}
}

func (t *transcoder) openTop(dst []byte, isMap bool) []byte {
	o := opened{Iter: t.Open(), isMap: isMap, head: none}
	known := max(o.N, 0)
	if o.N < 0 && t.to == wire.CBOR {
		major := byte(wire.MajorList)
		if isMap {
			major = wire.MajorMap
		}
		o.head = len(t.heads)
		t.heads = append(t.heads, lengthHead{at: len(dst), major: major})
	}
	t.open = append(t.open, o)
	if isMap {
		return wire.AppendMapOpen(dst, t.to, known)
	}
	return wire.AppendListOpen(dst, t.to, known)
}

func (t *transcoder) closeTop(dst []byte, top *opened) []byte {
	if top.head != none {
		t.heads[top.head].n = top.n
		if top.n < info1Byte {
			dst[t.heads[top.head].at] |= byte(top.n)
		}
	}
	isMap := top.isMap
	t.open = t.open[:len(t.open)-1]
	if isMap {
		return wire.AppendMapClose(dst, t.to)
	}
	return wire.AppendListClose(dst, t.to)
}

// patch puts in the heads that need more than the one byte kept for them: from the last to the first, so that each byte of
// the output moves once.
func (t *transcoder) patch(dst []byte) []byte {
	var head [9]byte
	more := 0
	for _, h := range t.heads {
		if h.n >= info1Byte {
			more += len(wire.AppendHead(head[:0], h.major, uint64(h.n))) - 1
		}
	}
	end := len(dst) // of what has not moved
	dst = slices.Grow(dst, more)[:end+more]
	for i := len(t.heads) - 1; i >= 0 && more > 0; i-- {
		h := t.heads[i]
		if h.n < info1Byte {
			continue
		}
		long := wire.AppendHead(head[:0], h.major, uint64(h.n))
		copy(dst[h.at+1+more:], dst[h.at+1:end])
		more -= len(long) - 1
		copy(dst[h.at+more:], long)
		end = h.at
	}
	return dst
}
