package scan

import (
	"unicode/utf8"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// space moves past JSON space.
func (s *scanner) space(i int) int {
	b := s.b
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// envelopeJSON admits the one map that is the message.
func (s *scanner) envelopeJSON(into []Member) []Member {
	if len(s.b) == 0 || s.b[0] != '{' {
		s.fail(0, "a call is an object, and this is %s", s.openerJSON(0))
		return into
	}
	if !s.push(0, true, 0) {
		return into
	}
	i := s.space(1)
	if i < len(s.b) && s.b[i] == '}' {
		s.endJSON(i + 1)
		return into
	}
	for {
		if i = s.member(i); i == refused {
			return into
		}
		i = s.space(i)
		end, kind, n := s.valueJSON(i)
		if end == refused {
			return into
		}
		into = append(into, Member{Name: s.lastName(), Value: s.b[i:end:end], Kind: kind, N: n})
		if i = s.space(end); i < len(s.b) && s.b[i] == '}' {
			s.endJSON(i + 1)
			return into
		}
		if i = s.comma(i); i == refused {
			return into
		}
	}
}

// openerJSON says what it is that begins at a place.
func (s *scanner) openerJSON(i int) string {
	if i >= len(s.b) {
		return "nothing"
	}
	switch c := s.b[i]; {
	case c == '[':
		return "a list"
	case c == '"':
		return "a text"
	case c == '-' || c-'0' < 10:
		return "a number"
	case c == '{':
		return "a map"
	}
	for _, word := range words {
		if len(s.b)-i >= len(word.text) && string(s.b[i:i+len(word.text)]) == word.text {
			return word.kind.String()
		}
	}
	return "neither JSON nor CBOR: \"" + wire.Quote(s.b[i:]) + "\""
}

// endJSON takes nothing but space behind a message.
func (s *scanner) endJSON(i int) {
	if i == refused {
		return
	}
	if i = s.space(i); i < len(s.b) {
		s.fail(i, "%s after the end of the value, where only space may come", s.at(i))
	}
}

// valueJSON moves past the value that begins at a place or behind the space there, and says what it is and how many
// elements or members it has.
func (s *scanner) valueJSON(i int) (end int, kind wire.Kind, n int) {
	b, base := s.b, len(s.open)
	for {
		i = s.space(i)
		var c byte
		if i < len(b) {
			c = b[i]
		}
		n = 0
		switch c {
		case '"':
			kind = wire.Text
			i, _ = s.text(i + 1)
		case '{', '[':
			if c == '{' {
				var what ended
				if i, what = s.rowsJSON(i); what == atValue {
					continue
				} else if what == behindValue {
					break
				}
			}
			var empty bool
			if i, empty = s.openJSON(i, c); i != refused && !empty {
				continue
			}
			kind, n = wire.List, 0
			if c == '{' {
				kind = wire.Map
			}
		case 't', 'f', 'n':
			i, kind = s.word(i)
		default:
			i, kind = s.number(i)
		}
		if i == refused {
			return refused, wire.None, 0
		}
		for more := false; !more; {
			if len(s.open) == base {
				return i, kind, n
			}
			if i, more = s.next(i); i == refused {
				return refused, wire.None, 0
			}
			if !more {
				kind, n = s.pop()
			}
		}
	}
}

// openJSON opens a map or list and moves to its first value, or past it when it is empty.
func (s *scanner) openJSON(i int, c byte) (next int, empty bool) {
	if !s.push(i, c == '{', 0) {
		return refused, false
	}
	i = s.space(i + 1)
	if i < len(s.b) && s.b[i] == c+2 { // '}' is '{'+2, ']' is '['+2
		s.pop()
		return i + 1, true
	}
	if c == '{' {
		return s.member(i), false
	}
	if !s.count(i) {
		return refused, false
	}
	return i, false
}

// next moves past what follows a value inside a list or map: to the next value, or past the end of the list or map.
func (s *scanner) next(i int) (next int, more bool) {
	b := s.b
	if i < len(b) && b[i] <= ' ' {
		i = s.space(i)
	}
	isMap := s.open[len(s.open)-1].isMap
	if i < len(b) {
		switch c := b[i]; {
		case c == ',' && isMap:
			if i++; i < len(b) && b[i] <= ' ' {
				i = s.space(i)
			}
			return s.member(i), true
		case c == ',':
			if i++; !s.count(i) {
				return refused, false
			}
			return i, true
		case c == '}' && isMap, c == ']' && !isMap:
			return i + 1, false
		}
	}
	if isMap {
		return s.comma(i), false
	}
	return s.fail(i, "%s after an element, where ',' or ']' must come", s.at(i)), false
}

// comma moves past the comma behind a member and the space behind that.
func (s *scanner) comma(i int) int {
	if i >= len(s.b) || s.b[i] != ',' {
		return s.fail(i, "%s after a member, where ',' or '}' must come", s.at(i))
	}
	return s.space(i + 1)
}

// member moves past the name of a member that begins at a place, and its colon.
func (s *scanner) member(i int) int {
	b := s.b
	if i >= len(b) || b[i] != '"' {
		return s.fail(i, "%s where a key must come, and a key is text", s.at(i))
	}
	if !s.count(i) {
		return refused
	}
	top := &s.open[len(s.open)-1]
	if top.same >= 0 {
		if end, is := s.again(top, i); is {
			return end
		}
	}
	end, plain := s.text(i + 1)
	if end == refused {
		return refused
	}
	var key name
	if plain {
		key = inside(b, i+1, end-i-2)
	} else {
		key = s.names.unescaped(b[i:end])
	}
	if !s.name(i, key) {
		return refused
	}
	if end < len(b) && b[end] <= ' ' {
		end = s.space(end)
	}
	if end >= len(b) || b[end] != ':' {
		return s.fail(end, "%s after a key, where ':' must come", s.at(end))
	}
	if top.same == first {
		s.keep(top, i, end+1, plain)
	}
	return end + 1
}

// unescaped makes the name that an admitted JSON text with escapes means.
func (s *names) unescaped(text []byte) name {
	at := len(s.text)
	c := wire.Cursor{B: text, Enc: wire.JSON}
	unescaped, _ := c.Text(s.text)
	s.text = append(s.text, unescaped...)
	return s.outside(at)
}

// words are the values that JSON spells out.
var words = [...]struct {
	text string
	kind wire.Kind
}{{"true", wire.Bool}, {"false", wire.Bool}, {"null", wire.Null}}

// word moves past true, false or null.
func (s *scanner) word(i int) (int, wire.Kind) {
	for _, word := range words {
		if end := i + len(word.text); end <= len(s.b) && string(s.b[i:end]) == word.text {
			return end, word.kind
		}
	}
	return s.noValue(i), wire.None
}

// noValue refuses what begins no value.
func (s *scanner) noValue(i int) int {
	if i >= len(s.b) {
		return s.fail(i, "the end where a value must come")
	}
	rest := s.b[i:] // the word or the character that came
	letters := 0
	for letters < len(rest) && rest[letters]|0x20 >= 'a' && rest[letters]|0x20 <= 'z' {
		letters++
	}
	if letters == 0 {
		_, letters = utf8.DecodeRune(rest)
	}
	rest = rest[:letters]
	if string(rest) == "NaN" || string(rest) == "Infinity" {
		return s.fail(i, "%s, and a number is finite", rest)
	}
	return s.fail(i, "\"%s\" where a value must come", wire.Quote(rest))
}
