package scan

import (
	"encoding/binary"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// Additional information of a head, beside an argument below 24.
const (
	info1Byte      = 24
	info8Bytes     = 27
	infoIndefinite = 31
	cborBreak      = 0xff
)

// majors are the words for what a major type holds, as error texts use them.
var majors = [8]string{"an int", "an int", "a byte string", "a text", "a list", "a map", "a tag", "a simple value"}

// envelopeCBOR admits the one map that is the message.
func (s *scanner) envelopeCBOR(into []Member) []Member {
	if len(s.b) == 0 || s.b[0]&0xe0 != wire.MajorMap {
		what := "nothing"
		if len(s.b) > 0 {
			what = majors[s.b[0]>>5]
		}
		s.fail(0, "a call is an object, and this is %s", what)
		return into
	}
	i := s.openCBOR(0)
	for i != refused {
		var more bool
		if i, more = s.nextCBOR(i); !more {
			s.endCBOR(i)
			return into
		}
		at := i
		end, kind, n := s.valueCBOR(at)
		if end == refused {
			return into
		}
		into = append(into, Member{Name: s.lastName(), Value: s.b[at:end:end], Kind: kind, N: n})
		i = end
	}
	return into
}

// endCBOR takes nothing behind a message.
func (s *scanner) endCBOR(i int) {
	if i != refused && i < len(s.b) {
		s.fail(i, "%s after the end of the value, where nothing may come", s.at(i))
	}
}

// valueCBOR moves past the value at a place, and says what it is and how many elements or members it has.
func (s *scanner) valueCBOR(i int) (end int, kind wire.Kind, n int) {
	b, base := s.b, len(s.open)
	for {
		if i >= len(b) {
			return s.fail(i, "the end where a value must come"), wire.None, 0
		}
		n = 0
		switch b[i] & 0xe0 {
		case wire.MajorUint, wire.MajorNeg:
			kind, i = wire.Int, s.intCBOR(i)
		case wire.MajorText:
			kind, i = wire.Text, s.textCBOR(i)
		case wire.MajorList, wire.MajorMap:
			if b[i]&0xe0 == wire.MajorMap {
				var what ended
				if i, what = s.rowsCBOR(i); what == atValue {
					continue
				} else if what == behindValue {
					break
				}
			}
			kind, i = wire.List, s.openCBOR(i) // the kind of the outermost is read off its level
		case wire.MajorTag:
			kind, i = wire.Int, s.bignum(i)
		case wire.MajorBytes:
			kind, i = wire.None, s.fail(i, "a byte string; a text carries bytes as base64url")
		default:
			i, kind = s.simple(i)
		}
		if i == refused {
			return refused, wire.None, 0
		}
		for more := false; !more; {
			if len(s.open) == base {
				return i, kind, n
			}
			if i, more = s.nextCBOR(i); i == refused {
				return refused, wire.None, 0
			}
			if !more {
				kind, n = s.pop()
			}
		}
	}
}

// openCBOR opens a list or map. A definite length is checked against the limit and against what is there before anything
// else trusts it (LIMIT-2).
func (s *scanner) openCBOR(i int) int {
	isMap := s.b[i]&0xe0 == wire.MajorMap
	if s.b[i]&0x1f == infoIndefinite {
		if !s.push(i, isMap, indefinite) {
			return refused
		}
		return i + 1
	}
	n, next := s.head(i)
	if next == refused || !s.push(i, isMap, 0) {
		return refused
	}
	if n == 0 {
		return next
	}
	least, what := uint64(len(s.b)-next), "elements"
	if isMap {
		least, what = least/2, "members"
	}
	switch {
	case n > uint64(s.items):
		return s.fail(i, "%s of %d %s; at most %d members and elements are taken in all", majors[s.b[i]>>5], n, what,
			s.limit.Items)
	case n > least:
		return s.fail(i, "%s of %d %s, and %d bytes are left", majors[s.b[i]>>5], n, what, len(s.b)-next)
	}
	s.items -= int(n)
	top := &s.open[len(s.open)-1]
	top.n, top.left = int(n), int(n)
	return next
}

// nextCBOR moves to the next value of the innermost list or map, past the name of a member, or past the end of the list or
// map, and says which.
func (s *scanner) nextCBOR(i int) (next int, more bool) {
	top := &s.open[len(s.open)-1]
	switch {
	case top.left > 0:
		top.left--
	case top.left == 0:
		return i, false
	case i < len(s.b) && s.b[i] == cborBreak:
		return i + 1, false
	case !s.count(i):
		return refused, false
	}
	if top.isMap {
		i = s.memberCBOR(i)
	}
	return i, i != refused
}

// memberCBOR moves past the name of a member.
func (s *scanner) memberCBOR(i int) int {
	switch {
	case i >= len(s.b):
		return s.fail(i, "the end where a key must come")
	case s.b[i]&0xe0 != wire.MajorText:
		return s.fail(i, "a key is %s and must be text", s.nameCBOR(i))
	}
	top := &s.open[len(s.open)-1]
	if top.same >= 0 {
		if end, is := s.again(top, i); is {
			return end
		}
	}
	end := s.textCBOR(i)
	if end == refused {
		return refused
	}
	var key name
	definite := s.b[i]&0x1f != infoIndefinite
	if definite {
		from := i + 1
		if s.b[i]&0x1f >= info1Byte {
			_, from = s.head(i)
		}
		key = inside(s.b, from, end-from)
	} else {
		key = s.names.joined(s.b[i:end])
	}
	if !s.name(i, key) {
		return refused
	}
	if top.same == first {
		s.keep(top, i, end, definite)
	}
	return end
}

// joined makes the name that an admitted text in chunks means.
func (s *names) joined(text []byte) name {
	at := len(s.text)
	c := wire.Cursor{B: text, Enc: wire.CBOR}
	joined, _ := c.Text(s.text)
	s.text = append(s.text, joined...)
	return s.outside(at)
}

// nameCBOR says what begins at a place.
func (s *scanner) nameCBOR(i int) string {
	switch c := s.b[i]; c {
	case 0xf4, 0xf5:
		return "a bool"
	case 0xf6:
		return "null"
	case 0xf7:
		return "undefined"
	case 0xf9, 0xfa, 0xfb:
		return "a float"
	case cborBreak:
		return "a break"
	default:
		return majors[c>>5]
	}
}

// head reads the head at a place, which is not one of indefinite length: its argument, and where it ends.
func (s *scanner) head(i int) (arg uint64, next int) {
	b := s.b
	info := b[i] & 0x1f
	if info < info1Byte {
		return uint64(info), i + 1
	}
	if info > info8Bytes {
		if info == infoIndefinite {
			return 0, s.fail(i, "byte 0x%02x gives %s an indefinite length, and it has none", b[i], majors[b[i]>>5])
		}
		return 0, s.fail(i, "byte 0x%02x has additional information %d, which is reserved", b[i], info)
	}
	size := 1 << (info - info1Byte)
	if next = i + 1 + size; next > len(b) {
		return 0, s.fail(len(b), "the end inside a head of %d bytes", 1+size)
	}
	switch size {
	case 1:
		arg = uint64(b[i+1])
	case 2:
		arg = uint64(binary.BigEndian.Uint16(b[i+1:]))
	case 4:
		arg = uint64(binary.BigEndian.Uint32(b[i+1:]))
	default:
		arg = binary.BigEndian.Uint64(b[i+1:])
	}
	return arg, next
}
