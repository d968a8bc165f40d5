package scan

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// asciiMask has the high bit of each byte of a word.
const asciiMask = 0x8080808080808080

// textCBOR moves past the text at a place.
func (s *scanner) textCBOR(i int) int {
	if s.b[i]&0x1f == infoIndefinite {
		return s.chunks(i, wire.MajorText, func(chunk, end int) bool { return s.validText(chunk, end) })
	}
	from, end := s.stretch(i)
	if end == refused || !s.validText(from, end) {
		return refused
	}
	return end
}

// validText refuses a stretch of bytes that is not UTF-8.
func (s *scanner) validText(i, end int) bool {
	b := s.b
	switch n := end - i; { // most names, without a call
	case n <= 8 && i+8 <= len(b):
		if w := binary.LittleEndian.Uint64(b[i:]) & asciiMask; w<<(64-8*n) == 0 {
			return true
		}
	case n > 8 && n <= 16:
		if (binary.LittleEndian.Uint64(b[i:])|binary.LittleEndian.Uint64(b[end-8:]))&asciiMask == 0 {
			return true
		}
	}
	if utf8.Valid(b[i:end]) {
		return true
	}
	s.badText(i, end)
	return false
}

// stretch reads the head of a text or byte string of definite length, and says where its bytes are.
func (s *scanner) stretch(i int) (from, end int) {
	n, from := uint64(s.b[i]&0x1f), i+1
	if n >= info1Byte {
		if n, from = s.head(i); from == refused {
			return refused, refused
		}
	}
	if n > uint64(len(s.b)-from) {
		return refused, s.fail(i, "%s of %d bytes, and %d are left", majors[s.b[i]>>5], n, len(s.b)-from)
	}
	return from, from + int(n)
}

// chunks moves past a text or byte string of indefinite length, and hands out the bytes of each chunk. Each is of the same
// major type and of definite length.
func (s *scanner) chunks(i int, major byte, each func(from, end int) bool) int {
	what := majors[major>>5]
	for i++; ; {
		switch {
		case i >= len(s.b):
			return s.fail(i, "the end inside %s of indefinite length", what)
		case s.b[i] == cborBreak:
			return i + 1
		case s.b[i]&0xe0 != major:
			return s.fail(i, "%s as a chunk of %s", s.nameCBOR(i), what)
		case s.b[i]&0x1f == infoIndefinite:
			return s.fail(i, "%s of indefinite length inside another", what)
		}
		from, end := s.stretch(i)
		if end == refused || !each(from, end) {
			return refused
		}
		i = end
	}
}

// intCBOR moves past an integer of major 0 or 1.
func (s *scanner) intCBOR(i int) int {
	n, next := s.head(i)
	if s.limit.IntBits < 64 && next != refused && bits.Len64(n) > s.limit.IntBits {
		return s.tooLong(i, bits.Len64(n))
	}
	return next
}

func (s *scanner) tooLong(i, bits int) int {
	return s.fail(i, "an integer of %d bits; at most %d are taken", bits, s.limit.IntBits)
}

// bignum moves past an integer of tag 2 or 3, and refuses every other tag.
func (s *scanner) bignum(i int) int {
	tag, next := s.head(i)
	switch {
	case next == refused:
		return refused
	case tag != 2 && tag != 3:
		return s.fail(i, "tag %d; the only tags taken are 2 and 3, for integers", tag)
	case next >= len(s.b):
		return s.fail(next, "the end where the bytes of tag %d must come", tag)
	case s.b[next]&0xe0 != wire.MajorBytes:
		return s.fail(next, "%s in tag %d, which takes a byte string", s.nameCBOR(next), tag)
	}
	length := 0 // bits, leading zeros left out
	measure := func(from, end int) bool {
		for ; length == 0 && from < end; from++ {
			length = bits.Len8(s.b[from])
		}
		length += 8 * (end - from)
		return true
	}
	var end int
	if s.b[next]&0x1f == infoIndefinite {
		end = s.chunks(next, wire.MajorBytes, measure)
	} else {
		var from int
		if from, end = s.stretch(next); end != refused {
			measure(from, end)
		}
	}
	if end != refused && length > s.limit.IntBits {
		return s.tooLong(i, length)
	}
	return end
}

// simple moves past a bool, a null or a finite float.
func (s *scanner) simple(i int) (end int, kind wire.Kind) {
	c := s.b[i]
	switch c {
	case 0xf4, 0xf5:
		return i + 1, wire.Bool
	case 0xf6:
		return i + 1, wire.Null
	case 0xf7:
		return s.fail(i, "undefined; send null or leave the member out"), wire.None
	case cborBreak:
		return s.fail(i, "a break where a value must come"), wire.None
	}
	v, next := s.head(i)
	if next == refused {
		return refused, wire.None
	}
	var exponent uint64 // of all ones in an infinity and a NaN
	switch c {
	case 0xf9:
		exponent = 0x1f << 10
	case 0xfa:
		exponent = 0xff << 23
	case 0xfb:
		exponent = 0x7ff << 52
	default:
		return s.fail(i, "simple value %d; the only ones taken are false, true and null", v), wire.None
	}
	if v&exponent == exponent {
		return s.fail(i, "NaN or an infinity, and a number is finite"), wire.None
	}
	return next, wire.Float
}
