package wire

import "encoding/binary"

// Cursor walks admitted bytes, one value after another. Its methods panic or answer nonsense on bytes that no scanner has
// admitted; they allocate only where they say so.
type Cursor struct {
	B   []byte // what is left
	Enc Encoding
}

// skipSpace moves past JSON space, of which there mostly is none.
func (c *Cursor) skipSpace() {
	if len(c.B) > 0 && c.B[0] <= ' ' {
		c.skipSpaces()
	}
}

func (c *Cursor) skipSpaces() {
	i := 0
	for i < len(c.B) && (c.B[i] == ' ' || c.B[i] == '\n' || c.B[i] == '\r' || c.B[i] == '\t') {
		i++
	}
	c.B = c.B[i:]
}

// Kind tells what comes next without moving past it.
func (c *Cursor) Kind() Kind {
	if c.Enc == JSON {
		return c.kindJSON()
	}
	if len(c.B) == 0 {
		return None
	}
	switch b := c.B[0]; b & 0xe0 {
	case MajorUint, MajorNeg, MajorTag:
		return Int
	case MajorText:
		return Text
	case MajorList:
		return List
	case MajorMap:
		return Map
	default:
		switch b {
		case cborFalse, cborTrue:
			return Bool
		case cborNull:
			return Null
		case cborF16, cborF32, cborF64:
			return Float
		}
	}
	return None
}

func (c *Cursor) kindJSON() Kind {
	c.skipSpace()
	if len(c.B) == 0 {
		return None
	}
	switch c.B[0] {
	case '"':
		return Text
	case '{':
		return Map
	case '[':
		return List
	case 't', 'f':
		return Bool
	case 'n':
		return Null
	}
	text := c.B[:c.numberLen()]
	for _, b := range text {
		if b == '.' || b == 'e' || b == 'E' {
			return Float
		}
	}
	if string(text) == "-0" { // an integer has no sign to lose (ENC-4)
		return Float
	}
	return Int
}

func (c *Cursor) numberLen() int {
	for i, b := range c.B {
		switch b {
		case ',', ']', '}', ' ', '\n', '\r', '\t', ':':
			return i
		}
	}
	return len(c.B)
}

// head reads one CBOR head: its major type, its argument, and whether it is an indefinite length.
func (c *Cursor) head() (major byte, n uint64, indefinite bool) {
	b := c.B[0]
	major = b & 0xe0
	switch info := b & 0x1f; info {
	case 24:
		n, c.B = uint64(c.B[1]), c.B[2:]
	case 25:
		n, c.B = uint64(binary.BigEndian.Uint16(c.B[1:])), c.B[3:]
	case 26:
		n, c.B = uint64(binary.BigEndian.Uint32(c.B[1:])), c.B[5:]
	case 27:
		n, c.B = binary.BigEndian.Uint64(c.B[1:]), c.B[9:]
	case 31:
		indefinite, c.B = true, c.B[1:]
	default:
		n, c.B = uint64(info), c.B[1:]
	}
	return major, n, indefinite
}

// Null moves past a null.
func (c *Cursor) Null() { c.Skip() }

// Bool moves past a bool and returns it.
func (c *Cursor) Bool() bool {
	if c.Enc == CBOR {
		v := c.B[0] == cborTrue
		c.B = c.B[1:]
		return v
	}
	c.skipSpace()
	if c.B[0] == 't' {
		c.B = c.B[4:]
		return true
	}
	c.B = c.B[5:]
	return false
}

// Text moves past a text and returns it: a part of the bytes where it stands there as it is (alias true), else (escapes,
// chunks) appended to scratch.
func (c *Cursor) Text(scratch []byte) (text []byte, alias bool) {
	if c.Enc == CBOR {
		return c.chunks(scratch)
	}
	c.skipSpace()
	i := TextEnd(c.B, 1)
	if c.B[i] == '"' {
		text, c.B = c.B[1:i:i], c.B[i+1:]
		return text, true
	}
	return c.unescape(scratch, i), false
}

// Plain moves past a text that stands there as it is, and answers false and moves nowhere where something else comes, or perhaps does.
func (c *Cursor) Plain() (text []byte, is bool) {
	if len(c.B) == 0 {
		return nil, false
	}
	if c.Enc == JSON {
		if c.B[0] != '"' {
			return nil, false
		}
		i := TextEnd(c.B, 1)
		if c.B[i] != '"' {
			return nil, false
		}
		text, c.B = c.B[1:i:i], c.B[i+1:]
		return text, true
	}
	switch n := int(c.B[0]); {
	case n >= MajorText && n < MajorText+24:
		n += 1 - MajorText
		text, c.B = c.B[1:n:n], c.B[n:]
	case n == MajorText+24:
		n = 2 + int(c.B[1])
		text, c.B = c.B[2:n:n], c.B[n:]
	default:
		return nil, false
	}
	return text, true
}

// chunks reads a CBOR text or byte string of either length.
func (c *Cursor) chunks(scratch []byte) (text []byte, alias bool) {
	_, n, indefinite := c.head()
	if !indefinite {
		text, c.B = c.B[:n:n], c.B[n:]
		return text, true
	}
	start := len(scratch)
	for c.B[0] != cborBreak {
		_, n, _ := c.head()
		scratch = append(scratch, c.B[:n]...)
		c.B = c.B[n:]
	}
	c.B = c.B[1:]
	return scratch[start:], false
}

// Iter is the state of one open list or map.
type Iter struct {
	N    int // how many elements or members, -1 when only the end tells
	left int
	kind Kind
	used bool
}

// Open moves into a list or map. Next then moves to each element, or to each member's name (read it with Key).
func (c *Cursor) Open() Iter {
	if c.Enc == JSON {
		it := Iter{N: -1, kind: c.Kind()}
		c.B = c.B[1:]
		return it
	}
	kind := c.Kind()
	_, n, indefinite := c.head()
	if indefinite {
		return Iter{N: -1, left: -1, kind: kind}
	}
	return Iter{N: int(n), left: int(n), kind: kind}
}

// Next says whether another element or member comes, and moves to it; at the end it moves past the list or map.
func (c *Cursor) Next(it *Iter) bool {
	if c.Enc == JSON {
		c.skipSpace()
		if c.B[0] == ']' || c.B[0] == '}' {
			c.B = c.B[1:]
			return false
		}
		if it.used {
			c.B = c.B[1:] // the comma
		}
		it.used = true
		return true
	}
	switch {
	case it.left > 0:
		it.left--
		return true
	case it.left == 0:
		return false
	case c.B[0] == cborBreak:
		c.B = c.B[1:]
		return false
	}
	return true
}

// Key moves past a member's name, as Text does, and past what stands between it and the value.
func (c *Cursor) Key(scratch []byte) (name []byte, alias bool) {
	name, alias = c.Text(scratch)
	if c.Enc == JSON {
		c.skipSpace()
		c.B = c.B[1:] // the colon
	}
	return name, alias
}
