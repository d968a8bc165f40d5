package wire

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"strconv"
)

// Number is one number: a Float, a Big integer, or (both unset) the integer Int.
type Number struct {
	IsFloat bool
	Float   float64
	Big     *big.Int // beyond int64; allocated
	Int     int64
}

// Number moves past a number.
func (c *Cursor) Number() Number {
	if c.Enc == CBOR {
		return c.numberCBOR()
	}
	c.skipSpace()
	if i, n := smallInt(c.B); n > 0 {
		c.B = c.B[n:]
		return Number{Int: i}
	}
	kind := c.kindJSON()
	n := c.numberLen()
	text := c.B[:n]
	c.B = c.B[n:]
	if kind == Float {
		return Number{IsFloat: true, Float: ParseFloat(text)}
	}
	if i, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return Number{Int: i}
	}
	v, _ := new(big.Int).SetString(string(text), 10)
	return Number{Big: v}
}

// Small moves past an integer that one of the shortest ways of writing it holds, and answers false and moves nowhere where something
// else comes, or perhaps does.
func (c *Cursor) Small() (v int64, is bool) {
	if len(c.B) == 0 {
		return 0, false
	}
	if c.Enc == JSON {
		if b := c.B[0]; b != '-' && b-'0' > 9 {
			return 0, false
		}
		v, n := smallInt(c.B)
		c.B = c.B[n:]
		return v, n > 0
	}
	if info := c.B[0] & 0x1f; c.B[0] >= MajorBytes || info > 26 {
		return 0, false
	}
	major, n, _ := c.head()
	if major == MajorNeg {
		return ^int64(n), true
	}
	return int64(n), true
}

// smallInt reads an integer of up to 18 digits at the start of b; else n is 0.
func smallInt(b []byte) (v int64, n int) {
	negative := b[0] == '-'
	if negative {
		n = 1
	}
	first := n
	for n < len(b) && b[n]-'0' < 10 {
		v = v*10 + int64(b[n]-'0')
		n++
	}
	if n-first > 18 || n < len(b) && (b[n] == '.' || b[n]|0x20 == 'e') {
		return 0, 0
	}
	if negative {
		if v = -v; v == 0 {
			return 0, 0 // -0 is a float
		}
	}
	return v, n
}

func (c *Cursor) numberCBOR() Number {
	switch c.B[0] {
	case cborF16:
		v := float64(halfToFloat(binary.BigEndian.Uint16(c.B[1:])))
		c.B = c.B[3:]
		return Number{IsFloat: true, Float: v}
	case cborF32:
		v := math.Float32frombits(binary.BigEndian.Uint32(c.B[1:]))
		c.B = c.B[5:]
		return Number{IsFloat: true, Float: float64(v)}
	case cborF64:
		v := math.Float64frombits(binary.BigEndian.Uint64(c.B[1:]))
		c.B = c.B[9:]
		return Number{IsFloat: true, Float: v}
	}
	major, n, _ := c.head()
	switch {
	case major == MajorTag:
		return c.bignum(n == 3)
	case n <= math.MaxInt64 && major == MajorNeg:
		return Number{Int: ^int64(n)}
	case n <= math.MaxInt64:
		return Number{Int: int64(n)}
	}
	v := new(big.Int).SetUint64(n)
	if major == MajorNeg {
		v.Not(v)
	}
	return Number{Big: v}
}

func (c *Cursor) bignum(negative bool) Number {
	b, _ := c.chunks(nil)
	v := new(big.Int).SetBytes(b)
	if negative {
		v.Not(v)
	}
	if v.IsInt64() {
		return Number{Int: v.Int64()}
	}
	return Number{Big: v}
}

func halfToFloat(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exp := uint32(h >> 10 & 0x1f)
	frac := uint32(h & 0x3ff)
	switch exp {
	case 0: // zero and subnormals: frac * 2^-24
		v := float32(frac) * (1.0 / (1 << 24))
		return math.Float32frombits(math.Float32bits(v) | sign)
	case 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// ParseFloat reads a JSON number as the nearest binary64; one out of range is infinite or zero.
func ParseFloat(text []byte) float64 {
	// strconv drops what an exponent has beyond five digits, and a fraction as long as that makes up for it.
	if e := bytes.IndexAny(text, "eE"); e >= 0 && len(text)-e > 6 {
		text = scientific(text[:e], text[e+1:])
	}
	v, _ := strconv.ParseFloat(string(text), 64)
	return v
}

// scientific writes a number anew as a fraction below 1 that begins with a digit other than 0, and an exponent. What strconv
// drops of that one, if anything, does not matter: five digits of it are out of range already.
func scientific(mantissa, exponent []byte) []byte {
	out := make([]byte, 0, len(mantissa)+16)
	if mantissa[0] == '-' {
		out, mantissa = append(out, '-'), mantissa[1:]
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	out = append(out, "0."...)
	digits := append(bytes.Clone(whole), fraction...)
	significant := bytes.TrimLeft(digits, "0")
	point := len(whole) - (len(digits) - len(significant)) + clampedInt(exponent)
	out = append(append(out, significant...), "0e"...) // the 0 is the digit of a number that has no other
	return strconv.AppendInt(out, int64(point), 10)
}

// clampedInt reads an exponent, which may have any number of digits.
func clampedInt(text []byte) (v int) {
	negative := text[0] == '-'
	if negative || text[0] == '+' {
		text = text[1:]
	}
	for _, d := range text {
		v = min(v*10+int(d-'0'), math.MaxInt>>5)
	}
	if negative {
		return -v
	}
	return v
}
