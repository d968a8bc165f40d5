package wire

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/kith-wire/kith/internal/buffers"
)

// escapeOf is the letter of an escape of two bytes, for a byte that has one; unescaped is the byte that such a letter means.
var (
	escapeOf  = [256]byte{'"': '"', '\\': '\\', '\n': 'n', '\r': 'r', '\t': 't', '\b': 'b', '\f': 'f'}
	unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'f': '\f'}
)

// IsShortEscape reports whether a letter behind a backslash is the whole of an escape.
func IsShortEscape(letter byte) bool { return unescaped[letter] != 0 }

// appendEscaped appends a JSON text without its quotes.
func appendEscaped[S string | []byte](dst []byte, s S) []byte {
	for i := 0; i < len(s); {
		stop := TextStop(s, i)
		dst = append(buffers.Room(dst, stop-i), s[i:stop]...)
		for i = stop; i < len(s); i++ { // one seldom comes alone
			if letter := escapeOf[s[i]]; letter != 0 {
				dst = append(dst, '\\', letter)
			} else if s[i] < ' ' {
				dst = append(dst, '\\', 'u', '0', '0', hexDigits[s[i]>>4], hexDigits[s[i]&15])
			} else {
				break
			}
		}
	}
	return dst
}

// unescapeRoom is a word and the longest rune.
const unescapeRoom = 8 + utf8.UTFMax

// unescape reads a JSON text whose first backslash stands at i. It moves a word at a time: eight bytes are written where they belong
// before it is known how many of them stay, and what comes next is written over the others.
func (c *Cursor) unescape(scratch []byte, i int) []byte {
	b := c.B
	dst := append(scratch, b[1:i]...)
	to, j := dst[:cap(dst)], len(dst)
	for b[i] != '"' {
		if len(to)-j < unescapeRoom {
			dst = buffers.Room(to[:j], unescapeRoom)
			to = dst[:cap(dst)]
		}
		if i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			binary.LittleEndian.PutUint64(to[j:], w)
			hit := Quotes(w) | below(w^slopes, ones)
			if hit == 0 {
				i, j = i+8, j+8
				continue
			}
			n := bits.TrailingZeros64(hit) >> 3
			i, j = i+n, j+n
		}
		switch {
		case b[i] == '"':
		case b[i] != '\\':
			to[j] = b[i]
			i, j = i+1, j+1
		case IsShortEscape(b[i+1]):
			to[j] = unescaped[b[i+1]]
			i, j = i+2, j+1
			for j < len(to) && b[i] == '\\' && IsShortEscape(b[i+1]) { // one seldom comes alone
				to[j] = unescaped[b[i+1]]
				i, j = i+2, j+1
			}
		default:
			r, n := unescapedRune(b[i:])
			j += utf8.EncodeRune(to[j:], r)
			i += n
		}
	}
	c.B = b[i+1:]
	return to[len(scratch):j]
}

// unescapedRune is what the \u at the start of b means, a pair of surrogates together, and how long it is.
func unescapedRune(b []byte) (r rune, n int) {
	r = rune(hex4(b[2:]))
	if utf16.IsSurrogate(r) {
		return utf16.DecodeRune(r, rune(hex4(b[8:]))), 12
	}
	return r, 6
}

func hex4(b []byte) (v uint32) {
	for _, d := range b[:4] {
		switch {
		case d <= '9':
			d -= '0'
		default:
			d = d&^0x20 - 'A' + 10
		}
		v = v<<4 | uint32(d)
	}
	return v
}
