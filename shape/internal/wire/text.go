package wire

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
)

// Bytes of one value in each of the eight places of a word, for looking at eight bytes at a time.
const (
	ones   = 0x0101010101010101
	highs  = 0x8080808080808080
	quotes = '"' * ones
	slopes = '\\' * ones
	spaces = ' ' * ones
)

// TextStop returns where, from i on, the first byte stands that a JSON text cannot hold as it is: '"', '\' or a control
// below U+0020. It is len(s) where there is none.
func TextStop[S string | []byte](s S, i int) int {
	for ; i+8 <= len(s); i += 8 {
		w := load(s[i : i+8])
		if hit := Quotes(w) | below(w^slopes, ones) | below(w, spaces); hit != 0 {
			return i + bits.TrailingZeros64(hit)>>3
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c == '"' || c == '\\' || c < ' ' {
			return i
		}
	}
	return i
}

// plainHits has a high bit set where a byte of a word is none of the plain ones; it may have others set above that. The flip of one
// bit brings the quote next to the controls, which it leaves among themselves: one bound finds both.
func plainHits(w uint64) uint64 {
	return (w ^ 2*ones - 0x21*ones) | (w ^ slopes - ones) | w
}

// below has a high bit set at the lowest byte of a word that is below that of bounds, which are 128 or less, and none where there is no
// such byte: taking the bound off borrows, and the byte's own high bit was not set. A borrow spoils only bytes above a true hit.
func below(w, bounds uint64) uint64 { return (w - bounds) &^ w & highs }

// Quotes has a high bit set at the lowest quote in a word, and none where there is no quote.
func Quotes(w uint64) uint64 { return below(w^quotes, ones) }

// Where a text is long, and how much of it is looked at at once.
const (
	longText = 128
	block    = 2 << 10
)

// TextEnd is TextStop for an admitted text, in which no control stands: the quote or the backslash that comes first. What a long one
// holds is passed over faster.
func TextEnd(b []byte, i int) int {
	for far := i + longText; i+8 <= len(b) && i < far; i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		if hit := Quotes(w) | below(w^slopes, ones); hit != 0 {
			return i + bits.TrailingZeros64(hit)>>3
		}
	}
	if i+8 > len(b) {
		return TextStop(b, i)
	}
	return farEnd(b, i)
}

// farEnd is TextEnd for a long text.
func farEnd(b []byte, i int) int {
	for i < len(b) {
		part := b[i:min(len(b), i+block)]
		quote := bytes.IndexByte(part, '"')
		if quote >= 0 {
			part = part[:quote]
		}
		switch slope := bytes.IndexByte(part, '\\'); {
		case slope >= 0:
			return i + slope
		case quote >= 0:
			return i + quote
		}
		i += len(part)
	}
	return i
}

// PlainStop is TextStop for a text that is not yet known to be valid: it stops at any byte beyond ASCII too.
func PlainStop[S string | []byte](s S, i int) int {
	far := i + longText
	for ; i+8 <= len(s); i += 8 {
		if i == far {
			if i = passPlain(s, i); i+8 > len(s) {
				break
			}
		}
		w := load(s[i : i+8])
		if hit := plainHits(w) & highs; hit != 0 {
			return i + bits.TrailingZeros64(hit)>>3
		}
	}
	if len(s) >= 8 && i < len(s) { // the last eight bytes, of which some have been looked at
		if w := load(s[len(s)-8:]); plainHits(w)&highs == 0 {
			return len(s)
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c == '"' || c == '\\' || c < ' ' || c >= 0x80 {
			return i
		}
	}
	return i
}

// passPlain moves over plain bytes of a long text, a block at a time; what it leaves begins with another, or is short.
func passPlain[S string | []byte](s S, i int) int {
	for i+32 <= len(s) {
		part := s[i:min(len(s), i+block)]
		if quote := indexByte(part, '"'); quote >= 0 {
			part = part[:quote]
		}
		if slope := indexByte(part, '\\'); slope >= 0 {
			part = part[:slope]
		}
		n := passASCII(part)
		if i += n; n < block {
			break
		}
	}
	return i
}

// indexByte is the IndexByte of package bytes or strings, which look at many bytes at once.
func indexByte[S string | []byte](s S, c byte) int {
	switch s := any(s).(type) {
	case string:
		return strings.IndexByte(s, c)
	case []byte:
		return bytes.IndexByte(s, c)
	}
	return -1
}

// passASCII returns how many bytes from the start on are ASCII and no controls, in steps of 32.
func passASCII[S string | []byte](s S) (n int) {
	for ; n+32 <= len(s); n += 32 {
		w := s[n : n+32]
		a, b, c, d := load(w), load(w[8:]), load(w[16:]), load(w[24:])
		if (a|(a-spaces)|b|(b-spaces)|c|(c-spaces)|d|(d-spaces))&highs != 0 {
			break
		}
	}
	return n
}

// IsASCII reports whether no byte is beyond ASCII: valid UTF-8, at a glance.
func IsASCII(s string) bool {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if load(s[i:i+8])&highs != 0 {
			return false
		}
	}
	if len(s) >= 8 {
		return load(s[len(s)-8:])&highs == 0
	}
	for ; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// load reads eight bytes, the first the lowest; the compiler makes one load of it, for both types.
func load[S string | []byte](s S) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
