package value

import (
	"encoding/binary"
	"math"
	"math/big"
	"unicode/utf8"
)

// indefinite is the argument of a head whose end is told by a break.
const indefinite = math.MaxUint64

// head reads a head: the major type, the additional information and the argument.
func (r *reader) head() (major, info byte, arg uint64) {
	at := r.at
	if at >= len(r.b) {
		r.fail(at, "the end where a value should be")
		return 0, 0, 0
	}
	major, info = r.b[at]>>5, r.b[at]&0x1f
	r.at++
	size := 0
	switch {
	case info < 24:
		return major, info, uint64(info)
	case info < 28:
		size = 1 << (info - 24)
	case info == 31 && major >= 2 && major != 6:
		r.note(at, "an indefinite length")
		return major, info, indefinite
	default:
		r.fail(at, "a head that is none")
		return major, info, 0
	}
	if len(r.b)-r.at < size {
		r.fail(len(r.b), "the end inside a head")
		return major, info, 0
	}
	var wide [8]byte
	copy(wide[8-size:], r.b[r.at:r.at+size])
	r.at += size
	arg = binary.BigEndian.Uint64(wide[:])
	if least := [...]uint64{24, 1 << 8, 1 << 16, 1 << 32}[info-24]; major != 7 && arg < least {
		r.note(at, "a longer head than its number needs")
	}
	return major, info, arg
}

// cbor reads the value that begins here. depth is how many lists and maps are open.
func (r *reader) cbor(depth int) Value {
	at := r.at
	major, info, arg := r.head()
	if r.err != nil {
		return Value{}
	}
	switch major {
	case 0:
		return Value{Kind: Int, Int: new(big.Int).SetUint64(arg)}
	case 1:
		n := new(big.Int).SetUint64(arg)
		return Value{Kind: Int, Int: n.Not(n)}
	case 3:
		return Value{Kind: Text, Text: r.cborText(at, arg)}
	case 4:
		return r.cborList(arg, depth)
	case 5:
		return r.cborMap(arg, depth)
	case 6:
		return r.bignum(at, arg)
	case 7:
		return r.simple(at, info, arg)
	}
	r.fail(at, "a byte string")
	return Value{}
}

// bytes takes the bytes of one definite string.
func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.b)-r.at) {
		r.fail(len(r.b), "the end inside a string of %d bytes", n)
		return nil
	}
	r.at += int(n)
	return r.b[r.at-int(n) : r.at]
}

// cborText reads a text, whose pieces must each be UTF-8.
func (r *reader) cborText(at int, n uint64) string {
	if n != indefinite {
		b := r.bytes(n)
		if !utf8.Valid(b) {
			r.fail(at, "a text that is not UTF-8")
		}
		return string(b)
	}
	var out string
	for !r.over(0, indefinite) {
		at := r.at
		major, _, n := r.head()
		if major != 3 || n == indefinite {
			r.fail(at, "a piece of a text that is no definite text")
			return ""
		}
		out += r.cborText(at, n)
	}
	return out
}

// over reports whether a list, map or string of n parts has ended, now that it has had so many.
func (r *reader) over(had, n uint64) bool {
	switch {
	case r.err != nil:
		return true
	case n != indefinite:
		return had >= n
	case r.at >= len(r.b):
		r.fail(r.at, "the end where a value or a break should be")
		return true
	case r.b[r.at] == 0xff:
		r.at++
		return true
	}
	return false
}

func (r *reader) cborList(n uint64, depth int) Value {
	v := Value{Kind: List}
	if !r.deeper(depth) {
		return v
	}
	for had := uint64(0); !r.over(had, n); had++ {
		r.item()
		v.List = append(v.List, r.cbor(depth+1))
	}
	return v
}

func (r *reader) cborMap(n uint64, depth int) Value {
	v := Value{Kind: Map}
	if !r.deeper(depth) {
		return v
	}
	seen := map[string]bool{}
	for had := uint64(0); !r.over(had, n); had++ {
		at := r.at
		major, _, length := r.head()
		if r.err == nil && major != 3 {
			r.fail(at, "a key that is no text")
		}
		if r.err != nil {
			break
		}
		name := r.cborText(at, length)
		if r.err == nil {
			r.name(at, name, seen)
		}
		r.item()
		v.Map = append(v.Map, M(name, r.cbor(depth+1)))
	}
	return v
}

// bignum reads the byte string behind a tag 2 or 3. Every other tag is refused (ENC-4).
func (r *reader) bignum(at int, tag uint64) Value {
	if tag != 2 && tag != 3 {
		r.fail(at, "the tag %d", tag)
		return Value{}
	}
	major, _, n := r.head()
	if r.err == nil && major != 2 {
		r.fail(at, "the tag %d on something else than a byte string", tag)
	}
	var b []byte
	if n != indefinite {
		b = r.bytes(n)
	} else {
		for !r.over(0, indefinite) {
			piece, _, n := r.head()
			if piece != 2 || n == indefinite {
				r.fail(at, "a piece of a byte string that is none")
			}
			b = append(b, r.bytes(n)...)
		}
	}
	i := new(big.Int).SetBytes(b)
	if i.IsUint64() {
		r.note(at, "a tag for an integer of 64 bits")
	}
	if tag == 3 {
		i.Not(i)
	}
	return r.integer(at, i)
}

// simple reads what stands behind major type 7.
func (r *reader) simple(at int, info byte, arg uint64) Value {
	var f float64
	switch info {
	case 20, 21:
		return OfBool(info == 21)
	case 22:
		return Value{}
	case 25:
		f = half(uint16(arg))
	case 26:
		if f = float64(math.Float32frombits(uint32(arg))); isHalf(f) {
			r.note(at, "a longer float than its number needs")
		}
	case 27:
		if f = math.Float64frombits(arg); float64(float32(f)) == f {
			r.note(at, "a longer float than its number needs")
		}
	default:
		r.fail(at, "the simple value %d", arg)
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		r.fail(at, "a number that is not finite")
	}
	return Value{Kind: Float, Float: f}
}

// half is the value of a binary16.
func half(b uint16) float64 {
	exp, frac := int(b>>10&0x1f), float64(b&0x3ff)
	f := 0.0
	switch exp {
	case 0:
		f = math.Ldexp(frac, -24)
	case 31:
		if f = math.Inf(1); frac != 0 {
			f = math.NaN()
		}
	default:
		f = math.Ldexp(1024+frac, exp-25)
	}
	if b>>15 == 1 {
		f = math.Copysign(f, -1)
	}
	return f
}

// isHalf reports whether a finite number is a binary16: it is a multiple of the smallest, has 11 bits, and is not over the
// largest.
func isHalf(f float64) bool {
	scaled := math.Ldexp(f, 24)
	mantissa, _ := math.Frexp(f)
	eleven := math.Ldexp(mantissa, 11)
	return scaled == math.Trunc(scaled) && eleven == math.Trunc(eleven) && math.Abs(f) <= 65504
}
