package wire

import "bytes"

// space is the space of JSON.
const space = " \n\r\t"

// Skip moves past one value and returns its bytes, without the space before it. It allocates only for CBOR that nests more
// than 32 indefinite lengths.
func (c *Cursor) Skip() []byte {
	if c.Enc == JSON {
		return c.skipJSON()
	}
	start := c.B
	c.skipCBOR()
	return start[: len(start)-len(c.B) : len(start)-len(c.B)]
}

// Sole returns the one element of a list that has just one, where B ends with the list: it is what is left, and nobody need look for
// its end.
func (c *Cursor) Sole(it Iter) []byte {
	end := len(c.B)
	switch {
	case c.Enc == JSON:
		c.skipSpace()
		list := bytes.TrimRight(c.B, space)
		end = len(bytes.TrimRight(list[:len(list)-1], space))
	case it.N < 0:
		end--
	}
	return c.B[:end:end]
}

func (c *Cursor) skipJSON() []byte {
	c.skipSpace()
	depth := 0
	for i := 0; i < len(c.B); i++ {
		switch c.B[i] {
		case '"':
			for i = TextEnd(c.B, i+1); c.B[i] != '"'; {
				i = TextEnd(c.B, i+2)
			}
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		case ',', ':', ' ', '\n', '\r', '\t':
			continue
		default:
			rest := Cursor{B: c.B[i:]}
			i += rest.numberLen() - 1 // a number or a word
		}
		if depth == 0 {
			var v []byte
			v, c.B = c.B[:i+1:i+1], c.B[i+1:]
			return v
		}
	}
	return nil
}

// skipCBOR counts the values that are still to come. A definite length only adds to that count, so only an indefinite one
// has to remember the count around it.
func (c *Cursor) skipCBOR() {
	var buf [32]int
	outer := buf[:0]
	for left := 1; left > 0 || len(outer) > 0; {
		if left == 0 { // inside an indefinite length: its break, or one more value
			if c.B[0] == cborBreak {
				c.B = c.B[1:]
				left, outer = outer[len(outer)-1], outer[:len(outer)-1]
				continue
			}
			left = 1
		}
		more, open := c.skipHead()
		left += more - 1
		if open {
			outer, left = append(outer, left), 0
		}
	}
}

// skipHead moves past a head and what is not a value of its own behind it. It says how many values the head holds, or that a
// break ends them.
func (c *Cursor) skipHead() (more int, open bool) {
	major, n, indefinite := c.head()
	switch major {
	case MajorText, MajorBytes:
		if !indefinite {
			c.B = c.B[n:]
			return 0, false
		}
		return 0, true
	case MajorList:
		return int(n), indefinite
	case MajorMap:
		return int(n) * 2, indefinite
	case MajorTag:
		return 1, false
	}
	return 0, false
}
