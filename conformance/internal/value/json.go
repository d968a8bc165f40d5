package value

import (
	"bytes"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// space moves past space. None is written, so it is loose.
func (r *reader) space(outer bool) {
	start := r.at
	for r.at < len(r.b) && isSpace(r.b[r.at]) {
		r.at++
	}
	if r.at > start && outer {
		r.note(start, "space around the message")
	} else if r.at > start {
		r.note(start, "space")
	}
}

func (r *reader) peek() byte {
	if r.at < len(r.b) {
		return r.b[r.at]
	}
	return 0
}

// json reads the value that begins here. depth is how many lists and maps are open.
func (r *reader) json(depth int) Value {
	switch c := r.peek(); {
	case r.at >= len(r.b):
		r.fail(r.at, "the end where a value should be")
	case c == '{':
		return r.jsonMap(depth)
	case c == '[':
		return r.jsonList(depth)
	case c == '"':
		return Value{Kind: Text, Text: r.jsonText()}
	case c == '-' || c >= '0' && c <= '9':
		return r.jsonNumber()
	case r.word("null"):
		return Value{}
	case r.word("true"):
		return OfBool(true)
	case r.word("false"):
		return OfBool(false)
	default:
		r.fail(r.at, "%q where a value should be", c)
	}
	return Value{}
}

func (r *reader) word(w string) bool {
	if !strings.HasPrefix(string(r.b[r.at:min(len(r.b), r.at+len(w))]), w) {
		return false
	}
	r.at += len(w)
	return true
}

func (r *reader) jsonMap(depth int) Value {
	v := Value{Kind: Map}
	if !r.deeper(depth) {
		return v
	}
	seen := map[string]bool{}
	r.at++
	for r.space(false); r.peek() != '}' || len(v.Map) > 0; r.space(false) {
		at := r.at
		if r.peek() != '"' {
			r.fail(at, "no text where the name of a member should be")
			return v
		}
		name := r.jsonText()
		r.name(at, name, seen)
		r.item()
		r.space(false)
		if r.peek() != ':' {
			r.fail(r.at, "no colon behind the name of a member")
			return v
		}
		r.at++
		r.space(false)
		v.Map = append(v.Map, M(name, r.json(depth+1)))
		if r.space(false); !r.more('}') {
			return v
		}
	}
	r.at++
	return v
}

func (r *reader) jsonList(depth int) Value {
	v := Value{Kind: List}
	if !r.deeper(depth) {
		return v
	}
	r.at++
	if end := bytes.IndexByte(r.b[r.at:], ']'); end > 0 { // room for a long flat list is made once
		v.List = make([]Value, 0, 1+min(bytes.Count(r.b[r.at:r.at+end], []byte(",")), r.limit.Items))
	}
	for r.space(false); r.peek() != ']' || len(v.List) > 0; r.space(false) {
		r.item()
		v.List = append(v.List, r.json(depth+1))
		if r.space(false); !r.more(']') {
			return v
		}
	}
	r.at++
	return v
}

// more moves past a comma, and says whether there was one. Otherwise the list or map must end here.
func (r *reader) more(end byte) bool {
	switch c := r.peek(); {
	case r.err != nil:
		return false
	case c == ',':
		r.at++
		return true
	case c == end:
		r.at++
		return false
	}
	r.fail(r.at, "neither a comma nor '%c'", end)
	return false
}

// jsonText reads the text whose opening quote stands here.
func (r *reader) jsonText() string {
	var out []byte
	from := r.at + 1 // of what is not in out yet
	for i := from; i < len(r.b); {
		switch c := r.b[i]; {
		case c == '"':
			r.at = i + 1
			return string(out) + string(r.b[from:i])
		case c == '\\':
			char, n := r.escape(i)
			if n == 0 {
				return ""
			}
			out = utf8.AppendRune(append(out, r.b[from:i]...), char)
			i += n
			from = i
		case c < ' ':
			r.fail(i, "a control character inside a text")
			return ""
		case c < utf8.RuneSelf:
			i++
		default:
			char, n := utf8.DecodeRune(r.b[i:])
			if char == utf8.RuneError && n == 1 {
				r.fail(i, "a text that is not UTF-8")
				return ""
			}
			i += n
		}
	}
	r.fail(len(r.b), "the end inside a text")
	return ""
}

// escape reads the escape at i and returns the character and how many bytes it took; 0: it is none.
func (r *reader) escape(i int) (char rune, n int) {
	const names, means = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if i+1 < len(r.b) {
		if k := strings.IndexByte(names, r.b[i+1]); k >= 0 {
			return rune(means[k]), 2
		}
	}
	high, ok := r.unit(i)
	switch {
	case !ok:
		r.fail(i, "an escape that is none")
		return 0, 0
	case !utf16.IsSurrogate(high):
		return high, 6
	}
	if low, ok := r.unit(i + 6); ok {
		if char = utf16.DecodeRune(high, low); char != utf8.RuneError {
			return char, 12
		}
	}
	r.fail(i, "a lone surrogate")
	return 0, 0
}

// unit reads \uXXXX.
func (r *reader) unit(i int) (rune, bool) {
	if i+6 > len(r.b) || r.b[i] != '\\' || r.b[i+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(r.b[i+2:i+6]), 16, 16)
	return rune(n), err == nil
}

func (r *reader) digits() int {
	start := r.at
	for r.peek() >= '0' && r.peek() <= '9' {
		r.at++
	}
	return r.at - start
}

// digits are the integers of one digit, of which a long list may hold many. Nobody changes an Int.
var digits = func() (all [10]*big.Int) {
	for i := range all {
		all[i] = big.NewInt(int64(i))
	}
	return all
}()

// jsonNumber reads a number: without point and exponent a whole one, otherwise the nearest binary64 (ENC-4).
func (r *reader) jsonNumber() Value {
	start, whole := r.at, true
	if r.peek() == '-' {
		r.at++
	}
	first := r.at
	good := r.digits() > 0 && (r.b[first] != '0' || r.at == first+1)
	if good && r.peek() == '.' {
		r.at++
		whole, good = false, r.digits() > 0
	}
	if good && r.peek()|0x20 == 'e' {
		r.at++
		if c := r.peek(); c == '+' || c == '-' {
			r.at++
		}
		whole, good = false, r.digits() > 0
	}
	text := string(r.b[start:r.at])
	switch {
	case !good:
		r.fail(start, "a number that is none")
	case text == "-0":
		return Value{Kind: Float, Float: math.Copysign(0, -1)}
	case whole && r.at-start == 1:
		return Value{Kind: Int, Int: digits[text[0]-'0']}
	case whole && r.at-start > r.limit.IntBits/3+2: // more digits than so many bits can have
		r.fail(start, "an integer of more than %d bits, the limit", r.limit.IntBits)
	case whole:
		n, _ := new(big.Int).SetString(text, 10)
		return r.integer(start, n)
	default:
		f, err := strconv.ParseFloat(text, 64)
		mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
		if err != nil || f == 0 && strings.ContainsAny(mantissa, "123456789") {
			r.fail(start, "a number that no binary64 is near")
		}
		return Value{Kind: Float, Float: f}
	}
	return Value{}
}
