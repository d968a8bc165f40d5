package scan

import (
	"encoding/binary"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// Rows are mostly written alike: the same keys in the same order, and plain values. Behind the first map of a list whose keys were
// kept, the maps that come so are admitted at one go, and no level is opened for them. Where one turns out to be otherwise, its level
// is made up as it would stand there, and the general way goes on from that very place: so what is refused, where and with which
// words does not depend on the way.

// span is a key as it stands in the first map of a list, with what tells that it ends. It compares as wire.Lead does and is a piece of
// its own: with one for both the scan of rows takes an eighth to a fifth longer.
type span struct {
	at, end int

	// What stands between the value before it and its own in a map that comes so: in JSON a comma or brace is before the key.
	size       int
	head, mask uint64 // of the first eight bytes
	tail       uint64 // the last eight, where there are more than eight
}

// spanOf makes the span of a key that has been admitted, the first of its map or not.
func spanOf(b []byte, at, end int, first bool) span {
	k := span{at: at, end: end, size: end - at}
	var text [9]byte
	before := 0
	if b[at] == '"' {
		text[0], before = ',', 1
		if first {
			text[0] = '{'
		}
		k.size++
	}
	copy(text[before:], b[at:end])
	k.head, k.mask = binary.LittleEndian.Uint64(text[:]), 1<<(8*k.size)-1 // all ones from eight on
	k.head &= k.mask
	if k.size > 8 {
		k.tail = binary.LittleEndian.Uint64(b[end-8:])
	}
	return k
}

// leads reports whether the key comes at a place, where enough is there to tell.
func (k *span) leads(b []byte, i int) bool {
	if i+8 > len(b) || i+k.size > len(b) || (binary.LittleEndian.Uint64(b[i:])^k.head)&k.mask != 0 {
		return false
	}
	end := i + k.size
	return k.size <= 8 || binary.LittleEndian.Uint64(b[end-8:]) == k.tail &&
		(k.size <= 16 || string(b[end-k.end+k.at:end]) == string(b[k.at:k.end]))
}

// ended is what comes where the fast way over rows ends.
type ended int

const (
	nothingYet  ended = iota // the map that began there: nothing of it was looked at
	atValue                  // a value of the innermost list or map
	behindValue              // what follows a value of the innermost list or map, or refused
)

// rowsFrom returns the keys of the maps of the innermost list, where the fast way can be tried.
func (s *scanner) rowsFrom() []span {
	if len(s.open) == 0 || len(s.open) >= s.limit.Depth || s.slow {
		return nil
	}
	list := &s.open[len(s.open)-1]
	if list.isMap || list.same == 0 {
		return nil
	}
	return s.keys[list.keys:][:list.same]
}

// within opens the level of a map of which some keys have come, those that were kept; items may come yet.
func (s *scanner) within(at, keys, left, items int) {
	s.push(at, true, 0)
	top := &s.open[len(s.open)-1]
	top.n, top.left, top.same = keys+left, left, keys
	s.items = items
}

// rowsJSON moves past maps of the innermost list that come as the first did, if they do.
func (s *scanner) rowsJSON(i int) (int, ended) {
	b, keys := s.b, s.rowsFrom()
	if keys == nil {
		return i, nothingYet
	}
	for {
		at := i
		if s.items < len(keys) {
			return at, nothingYet
		}
		spare := s.items - len(keys)
		for j := range keys {
			key := &keys[j]
			if !key.leads(b, i) {
				if j == 0 {
					return at, nothingYet
				}
				s.within(at, j, 0, spare+len(keys)-j)
				return i, behindValue
			}
			i += key.size
			if i < len(b) && b[i] == '"' {
				if stop := wire.PlainStop(b, i+1); stop < len(b) && b[stop] == '"' {
					i = stop + 1
					continue
				}
			}
			end := s.scalarJSON(i)
			if end == notScalar {
				if end, spare = s.scalarsJSON(i, spare); end == notScalar {
					s.within(at, j+1, 0, spare+len(keys)-j-1)
					return i, atValue
				}
			}
			if i = end; i == refused {
				return refused, behindValue
			}
		}
		if i >= len(b) || b[i] != '}' {
			s.within(at, len(keys), 0, spare)
			return i, behindValue
		}
		i++
		s.items = spare
		if spare == 0 || i+1 >= len(b) || b[i] != ',' || b[i+1] != '{' {
			return i, behindValue
		}
		i++
		s.items--
		s.open[len(s.open)-1].n++
	}
}

// notScalar is the place of a method that has found no scalar.
const notScalar = -2

// scalarJSON moves past a value that opens nothing.
func (s *scanner) scalarJSON(i int) (end int) {
	var c byte
	if i < len(s.b) {
		c = s.b[i]
	}
	switch c {
	case '"':
		end, _ = s.text(i + 1)
	case '[', '{', ' ', '\n', '\r', '\t':
		return notScalar
	case 't', 'f', 'n':
		end, _ = s.word(i)
	default:
		end, _ = s.number(i)
	}
	return end
}

// scalarsJSON moves past a list of the plainest values, texts of ASCII, of which there may be so many as are spare.
func (s *scanner) scalarsJSON(i, spare int) (end, left int) {
	b := s.b
	if i >= len(b) || b[i] != '[' || len(s.open)+2 > s.limit.Depth {
		return notScalar, spare
	}
	left = spare
	for i++; i < len(b) && b[i] == '"' && left > 0; left-- {
		i = wire.PlainStop(b, i+1)
		if i+1 >= len(b) || b[i] != '"' {
			break
		}
		switch b[i+1] {
		case ']':
			return i + 2, left - 1
		case ',':
			i += 2
			continue
		}
		break
	}
	return notScalar, spare
}

// rowsCBOR is rowsJSON for CBOR.
func (s *scanner) rowsCBOR(i int) (int, ended) {
	b, keys := s.b, s.rowsFrom()
	if keys == nil {
		return i, nothingYet
	}
	for {
		at, n := i, len(keys)
		if s.items < n || i+1+2*n > len(b) || b[i] != wire.MajorMap|byte(n) {
			return at, nothingYet
		}
		spare := s.items - n
		i++
		for j := range keys {
			key := &keys[j]
			if !key.leads(b, i) {
				s.within(at, j, n-j, spare)
				return i, behindValue
			}
			i += key.size
			if end := s.plainCBOR(i); end > 0 {
				i = end
				continue
			}
			end := s.scalarCBOR(i)
			if end == notScalar {
				if end, spare = s.scalarsCBOR(i, spare); end == notScalar {
					s.within(at, j+1, n-j-1, spare)
					return i, atValue
				}
			}
			if i = end; i == refused {
				return refused, behindValue
			}
		}
		s.items = spare
		list := &s.open[len(s.open)-1]
		if list.left <= 0 || i >= len(b) || b[i] != b[at] {
			return i, behindValue
		}
		list.left--
	}
}

// scalarCBOR is scalarJSON for CBOR.
func (s *scanner) scalarCBOR(i int) (end int) {
	if i >= len(s.b) {
		return notScalar
	}
	switch s.b[i] & 0xe0 {
	case wire.MajorUint, wire.MajorNeg:
		return s.intCBOR(i)
	case wire.MajorText:
		return s.textCBOR(i)
	case wire.MajorOther:
		end, _ = s.simple(i)
		return end
	}
	return notScalar
}

// scalarsCBOR is scalarsJSON for CBOR.
func (s *scanner) scalarsCBOR(i, spare int) (end, left int) {
	b := s.b
	if i >= len(b) || b[i]-wire.MajorList >= info1Byte || len(s.open)+2 > s.limit.Depth {
		return notScalar, spare
	}
	n := int(b[i] - wire.MajorList)
	if i++; n > spare {
		return notScalar, spare
	}
	for range n {
		if i = s.plainCBOR(i); i == 0 {
			return notScalar, spare
		}
	}
	return i, spare - n
}

// plainCBOR moves past a text of ASCII that is not long, and is 0 where something else comes, or perhaps does.
func (s *scanner) plainCBOR(i int) (end int) {
	b := s.b
	if i+2 > len(b) || b[i]-wire.MajorText > info1Byte {
		return 0
	}
	from, n := i+1, int(b[i]-wire.MajorText)
	if n == info1Byte {
		from, n = i+2, int(b[i+1])
	}
	if end = from + n; end < 8 || end > len(b) {
		return 0
	}
	for ; from+8 <= end; from += 8 {
		if binary.LittleEndian.Uint64(b[from:])&asciiMask != 0 {
			return 0
		}
	}
	last := binary.LittleEndian.Uint64(b[end-8:]) & asciiMask >> (8 * uint(8-(end-from)))
	if last != 0 {
		return 0
	}
	return end
}
