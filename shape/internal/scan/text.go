package scan

import (
	"unicode/utf8"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// text moves past the JSON text whose opening quote stands before a place, closing quote included. plain says that it
// stands there as it is, without escapes.
func (s *scanner) text(i int) (end int, plain bool) {
	if stop := wire.PlainStop(s.b, i); stop < len(s.b) && s.b[stop] == '"' {
		return stop + 1, true
	} else if stop > i {
		i = stop
	}
	return s.anyText(i)
}

// anyText is text for one with escapes or bytes beyond ASCII. An escape is ASCII, so each stretch between two of them is
// valid UTF-8 by itself or not at all.
func (s *scanner) anyText(i int) (end int, plain bool) {
	b := s.b
	for plain = true; ; {
		stop := wire.PlainStop(b, i)
		if stop == len(b) {
			return s.fail(stop, "the end inside a text"), false
		}
		switch c := b[stop]; {
		case c == '"':
			return stop + 1, plain
		case c == '\\':
			plain = false
			for i = stop; i+1 < len(b) && b[i] == '\\' && wire.IsShortEscape(b[i+1]); { // one seldom comes alone
				i += 2
			}
			if i > stop {
				break
			}
			if i = s.escape(stop); i == refused {
				return refused, false
			}
		case c < ' ':
			return s.fail(stop, "%s inside a text, and a control must be escaped", s.at(stop)), false
		default:
			if i = wire.TextStop(b, stop); !utf8.Valid(b[stop:i]) {
				return s.badText(stop, i), false
			}
		}
	}
}

// badText refuses a text that is not UTF-8, at its first wrong byte.
func (s *scanner) badText(i, end int) int {
	for i < end {
		r, n := utf8.DecodeRune(s.b[i:end])
		if r == utf8.RuneError && n == 1 {
			break
		}
		i += n
	}
	return s.fail(i, "%s inside a text is not UTF-8", s.at(i))
}

// escape moves past the escape whose backslash stands at a place, and which is none of two bytes.
func (s *scanner) escape(i int) int {
	if i+1 >= len(s.b) {
		return s.fail(len(s.b), "the end inside a text")
	}
	if s.b[i+1] != 'u' {
		return s.fail(i, "\"%s\" inside a text is no escape", wire.Quote(s.b[i:i+2]))
	}
	unit, ok := hex4(s.b, i+2)
	switch {
	case !ok:
		return s.fail(i, "\"%s\" inside a text, and \\u takes four hex digits", wire.Quote(s.b[i:min(i+6, len(s.b))]))
	case unit < 0xd800 || unit > 0xdfff:
		return i + 6
	case unit < 0xdc00 && i+8 <= len(s.b) && s.b[i+6] == '\\' && s.b[i+7] == 'u':
		if low, ok := hex4(s.b, i+8); ok && low >= 0xdc00 && low <= 0xdfff {
			return i + 12
		}
	}
	return s.fail(i, "\"%s\" is a lone surrogate, and stands for no character", s.b[i:i+6])
}

// hex4 reads the four hex digits at a place.
func hex4(b []byte, i int) (v uint32, ok bool) {
	if i+4 > len(b) {
		return 0, false
	}
	for _, c := range b[i : i+4] {
		switch {
		case c-'0' < 10:
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		v = v<<4 | uint32(c)
	}
	return v, true
}
