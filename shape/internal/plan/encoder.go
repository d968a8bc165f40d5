package plan

import (
	"math"
	"sync"
	"unicode/utf8"

	"github.com/kith-wire/kith/internal/buffers"
	"github.com/kith-wire/kith/shape/internal/wire"
)

// encoder is one value being written.
type encoder struct {
	dst     []byte
	enc     wire.Encoding
	left    Limits   // what may still be opened and written
	hops    int      // pointers and interfaces that are followed since the innermost list or map
	spliced bool     // admitted bytes were written, and their items are not taken off left
	names   []string // of the maps without types that are open
}

// encoders are kept, because a plan's functions make one escape.
var encoders = sync.Pool{New: func() any { return new(encoder) }}

// hopsMost bounds a chain of pointers and interfaces, which opens no list or map and may be a ring.
const hopsMost = 100

// hop follows one pointer or interface.
func (e *encoder) hop() error {
	if e.hops++; e.hops > hopsMost {
		return errorf("is behind more than %d pointers, which may be a ring", hopsMost)
	}
	return nil
}

// open opens a list or map of n elements or members. What it returns is for close.
func (e *encoder) open(n int) (hops int, err error) {
	if e.left.Depth <= 0 {
		return 0, errorf("nests deeper than the limit of open maps and lists allows")
	}
	if n > e.left.Items {
		return 0, errorf("holds more members and elements than the limit of %d leaves", e.left.Items)
	}
	e.left.Depth--
	e.left.Items -= n
	hops, e.hops = e.hops, 0
	return hops, nil
}

func (e *encoder) close(hops int) {
	e.left.Depth++
	e.hops = hops
}

// Bounds of the room that is made for what is still to come.
const (
	roomStep = 32      // elements that there is room for, or it is looked again
	roomMost = 1 << 20 // bytes that are expected at once, or twice what is there
)

// expect makes room for a list of which done of n elements have been written from start on, as much as those took: a large list does
// not move again and again while it grows.
func (e *encoder) expect(start, done, n int) {
	each := (len(e.dst)-start)/done + 1
	rest := each * (n - done)
	if cap(e.dst)-len(e.dst) >= min(rest, each*roomStep) {
		return
	}
	if rest = min(rest+rest/16, max(roomMost, 2*len(e.dst))); rest >= buffers.Least {
		e.dst = buffers.Room(e.dst, rest)
	}
}

// shortText is up to where the standard library's look at a text costs more than our own.
const shortText = 64

func (e *encoder) text(s string) error {
	if len(s) >= buffers.Least {
		e.dst = buffers.Room(e.dst, len(s)+roomStep) // and for what stands around it
	}
	if e.enc == wire.JSON && wire.PlainStop(s, 0) == len(s) {
		e.dst = append(append(append(e.dst, '"'), s...), '"')
		return nil
	}
	if e.enc == wire.CBOR && len(s) <= shortText && wire.IsASCII(s) {
		e.dst = append(wire.AppendHead(e.dst, wire.MajorText, uint64(len(s))), s...)
		return nil
	}
	if !utf8.ValidString(s) {
		return errorf("is not UTF-8: \"%s\"", wire.Quote(s))
	}
	e.dst = wire.AppendText(e.dst, e.enc, s)
	return nil
}

func (e *encoder) float(f float64) error {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return errorf("is %v, and a number is finite", f)
	}
	e.dst = wire.AppendFloat(e.dst, e.enc, f)
	return nil
}

// key writes the name of member i.
func (e *encoder) key(i int, name string) error {
	if !utf8.ValidString(name) {
		return errorf("has a key that is not UTF-8: \"%s\"", wire.Quote(name))
	}
	e.dst = wire.AppendKey(wire.AppendSep(e.dst, e.enc, i), e.enc, name)
	return nil
}

// splice accounts for admitted bytes that were written from a place on. They nest no deeper than they are long, so most need
// no look; the items are counted at the end, see weighed.
func (e *encoder) splice(at int) error {
	e.spliced = true
	b := e.dst[at:]
	if len(b) <= e.left.Depth {
		return nil
	}
	if _, depth := weigh(&wire.Cursor{B: b, Enc: e.enc}); depth > e.left.Depth {
		return errorf("nests deeper than the limit of open maps and lists allows")
	}
	return nil
}

// weighed refuses bytes that hold more members and elements than most. Each takes a byte, so short ones need no look.
func weighed(b []byte, enc wire.Encoding, most int) error {
	if len(b) <= most {
		return nil
	}
	if items, _ := weigh(&wire.Cursor{B: b, Enc: enc}); items > most {
		return errorf("holds %d members and elements, more than the limit of %d", items, most)
	}
	return nil
}

// weigh counts the members and elements of the value that comes, and how many of its lists and maps are open at once.
func weigh(c *wire.Cursor) (items, depth int) {
	kind := c.Kind()
	if kind != wire.List && kind != wire.Map {
		c.Skip()
		return 0, 0
	}
	var buf [64]byte
	for it := c.Open(); c.Next(&it); items++ {
		if kind == wire.Map {
			c.Key(buf[:0])
		}
		n, d := weigh(c)
		items += n
		depth = max(depth, d)
	}
	return items, depth + 1
}
