// Package scan admits bytes: one strict pass per encoding over a whole message or value, everything checked at every
// depth, nothing decoded. What it has admitted fits the value model of both encodings, so [Append] can write it in either.
package scan

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// Limits bound one message (ENC-5). All are positive.
type Limits struct {
	Depth   int // open maps and lists, the message itself the first
	Items   int // members and elements of the whole message
	IntBits int // bits of an integer; of -1-n when negative
}

// Error says what was wrong with the bytes and where.
type Error struct {
	Offset int // in the bytes given, from 0
	Text   string
}

func (e *Error) Error() string { return fmt.Sprintf("%s at byte %d", e.Text, e.Offset) }

// Member is one member of a message's map.
type Member struct {
	Name  []byte // unescaped
	Value []byte // as it stands in the message
	Kind  wire.Kind
	N     int // elements of a list, members of a map
}

// Envelope admits one message and appends the members of its map to into. b begins where [Detect] said the message does,
// and the members are parts of it. Behind the message only JSON may have more, and that only space. Nothing is allocated
// unless a name has to be unescaped, or there are more members than into has room for. The error is an [*Error].
func Envelope(b []byte, enc wire.Encoding, l Limits, into []Member) ([]Member, error) {
	s := start(b, l)
	defer s.release()
	if enc == wire.CBOR {
		into = s.envelopeCBOR(into)
	} else {
		into = s.envelopeJSON(into)
	}
	if s.err != nil {
		return nil, s.err
	}
	return into, nil
}

// Value admits one value of any kind that stands alone in b, and says what it is and how many elements or members it has.
// Around it only JSON may have more, and that only space. The error is an [*Error].
func Value(b []byte, enc wire.Encoding, l Limits) (kind wire.Kind, n int, err error) {
	s := start(b, l)
	defer s.release()
	var end int
	if enc == wire.CBOR {
		end, kind, n = s.valueCBOR(0)
		s.endCBOR(end)
	} else {
		end, kind, n = s.valueJSON(0)
		s.endJSON(end)
	}
	if s.err != nil {
		return wire.None, 0, s.err
	}
	return kind, n, nil
}

// scanner is one pass over b. Its methods take the place they begin at and return the place they end at, or refused once
// err is set.
type scanner struct {
	b     []byte
	limit Limits
	items int // members and elements that may still come
	open  []level
	names names
	keys  []span // of each open list of maps: the keys of the first of them, for those behind it
	err   *Error

	slow bool // for tests: no map of a list is admitted at one go
}

// refused is the place a method returns when it has set err.
const refused = -1

// level is one open list or map.
type level struct {
	isMap bool
	n     int  // elements or members so far
	left  int  // CBOR: how many are still to come; indefinite: a break ends them
	names mark // of the innermost names, the first that is this map's

	keys int // of a list, and of a map in one: where in the scanner's keys those of the first map begin
	same int // of a list: how many there are; of a map: how many have come again in their order, or one of the below
}

// What a map in a list may be instead of one whose keys have come in the order of those of the first.
const (
	unlike = -1 // its keys are looked at one by one
	first  = -2 // it is the first, whose keys are kept
)

// keysMost is how many keys of a map are kept for those behind it.
const keysMost = 16

const indefinite = -1

// maxScratch is how many bytes of scratch space are worth keeping: a message of 1 MiB with ordinary rows needs less.
const maxScratch = 1 << 20

// scanners are kept for their scratch space.
var scanners = sync.Pool{New: func() any { return new(scanner) }}

func start(b []byte, l Limits) *scanner {
	s := scanners.Get().(*scanner)
	s.b, s.limit, s.items = b, l, l.Items
	return s
}

// release gives the scanner back, unless one large message has made it too big to keep.
func (s *scanner) release() {
	if s.names.size() > maxScratch || cap(s.open) > 4<<10 {
		return
	}
	s.b, s.err, s.open, s.keys = nil, nil, s.open[:0], s.keys[:0]
	s.names.reset()
	scanners.Put(s)
}

// fail sets what was wrong at a place. Kept out of its callers: they are the fast path, and this is not.
//
//go:noinline
func (s *scanner) fail(at int, format string, a ...any) int {
	if s.err == nil {
		s.err = &Error{Offset: at, Text: fmt.Sprintf(format, a...)}
	}
	return refused
}

// push opens the list or map at a place. It answers false, with err set, when that is one too deep.
func (s *scanner) push(at int, isMap bool, left int) bool {
	if len(s.open) >= s.limit.Depth {
		s.fail(at, "more than %d open maps and lists, the limit", s.limit.Depth)
		return false
	}
	n := len(s.open)
	s.open = slices.Grow(s.open, 1)[:n+1]
	top := &s.open[n] // field by field, which is faster than making a level and copying it
	top.isMap, top.n, top.left, top.names = isMap, 0, left, s.names.mark()
	top.keys, top.same = len(s.keys), 0
	if isMap {
		if top.same = unlike; n > 0 && !s.open[n-1].isMap {
			list := &s.open[n-1]
			if top.keys, top.same = list.keys, 0; list.same == 0 {
				top.same = first
			}
		}
	}
	return true
}

// again reports whether the key that comes is, to the byte, that of the first map of the list at the same place: as all before it
// were, it is then none of them. It returns where it ends.
func (s *scanner) again(top *level, at int) (end int, is bool) {
	if list := &s.open[len(s.open)-2]; top.same < list.same {
		key := s.keys[top.keys+top.same]
		if end = at + key.end - key.at; end <= len(s.b) && string(s.b[at:end]) == string(s.b[key.at:key.end]) {
			top.same++
			return end, true
		}
	}
	for _, key := range s.keys[top.keys:][:top.same] { // from here on its keys are looked at one by one
		s.names.list = append(s.names.list, s.nameIn(key))
	}
	top.same = unlike
	return 0, false
}

// nameIn is the name that a key which was kept holds.
func (s *scanner) nameIn(key span) name {
	if s.b[key.at] == '"' {
		at := key.at + 1
		return inside(s.b, at, bytes.IndexByte(s.b[at:key.end], '"'))
	}
	_, at := s.head(key.at)
	return inside(s.b, at, key.end-at)
}

// keep keeps a key of the first map of a list, if it stands there as it is.
func (s *scanner) keep(top *level, at, end int, plain bool) {
	if !plain || len(s.keys)-top.keys >= keysMost {
		s.keys = s.keys[:top.keys]
		top.same = unlike
		return
	}
	s.keys = append(s.keys, spanOf(s.b, at, end, len(s.keys) == top.keys))
}

// pop closes the innermost list or map.
func (s *scanner) pop() (kind wire.Kind, n int) {
	top := &s.open[len(s.open)-1]
	kind, n = wire.List, top.n
	if top.isMap {
		kind = wire.Map
		s.names.cut(top.names)
		if top.same == first {
			s.open[len(s.open)-2].same = len(s.keys) - top.keys
		}
	} else {
		s.keys = s.keys[:top.keys]
	}
	s.open = s.open[:len(s.open)-1]
	return kind, n
}

// count takes one more member or element, of the innermost list or map, which begins at a place.
func (s *scanner) count(at int) bool {
	if s.items == 0 {
		return s.tooMany(at)
	}
	s.items--
	s.open[len(s.open)-1].n++
	return true
}

func (s *scanner) tooMany(at int) bool {
	s.fail(at, "more than %d members and elements, the limit", s.limit.Items)
	return false
}

// name takes the name of one member of the innermost map, which begins at a place.
func (s *scanner) name(at int, n name) bool {
	if s.names.add(s.b, s.open[len(s.open)-1].names, n) {
		s.fail(at, "duplicate key \"%s\"; a map holds each key once", wire.Quote(s.names.bytes(s.b, n)))
		return false
	}
	return true
}

// lastName returns the name taken last, fit to outlive the scanner.
func (s *scanner) lastName() []byte {
	n := s.names.list[len(s.names.list)-1]
	if n.at < 0 {
		return bytes.Clone(s.names.bytes(s.b, n))
	}
	return s.names.bytes(s.b, n)
}

// at quotes what stands at a place, for an error text.
func (s *scanner) at(i int) string { return quoteAt(s.b, i) }

func quoteAt(b []byte, i int) string {
	if i >= len(b) {
		return "the end"
	}
	if c := b[i]; c > ' ' && c < 0x7f {
		return fmt.Sprintf("'%c'", c)
	}
	return fmt.Sprintf("byte 0x%02x", b[i])
}
