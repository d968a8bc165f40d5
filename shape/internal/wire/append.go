package wire

import (
	"encoding/binary"
	"math"
	"math/big"
	"strconv"

	"github.com/kith-wire/kith/internal/buffers"
)

// CBOR major types, shifted to where they stand in a head, and the few whole bytes the wire uses.
const (
	MajorUint  = 0x00
	MajorNeg   = 0x20
	MajorBytes = 0x40
	MajorText  = 0x60
	MajorList  = 0x80
	MajorMap   = 0xa0
	MajorTag   = 0xc0
	MajorOther = 0xe0 // simple values and floats

	cborFalse = 0xf4
	cborTrue  = 0xf5
	cborNull  = 0xf6
	cborF16   = 0xf9
	cborF32   = 0xfa
	cborF64   = 0xfb
	cborBreak = 0xff
	tagPos    = 0xc2
	tagNeg    = 0xc3
)

// AppendHead appends the shortest CBOR head of a major type with argument n.
func AppendHead(dst []byte, major byte, n uint64) []byte {
	switch {
	case n < 24:
		return append(dst, major|byte(n))
	case n <= math.MaxUint8:
		return append(dst, major|24, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(dst, major|25), uint16(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(dst, major|26), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, major|27), n)
}

func AppendNull(dst []byte, enc Encoding) []byte {
	if enc == CBOR {
		return append(dst, cborNull)
	}
	return append(dst, "null"...)
}

func AppendBool(dst []byte, enc Encoding, v bool) []byte {
	switch {
	case enc == CBOR && v:
		return append(dst, cborTrue)
	case enc == CBOR:
		return append(dst, cborFalse)
	case v:
		return append(dst, "true"...)
	}
	return append(dst, "false"...)
}

func AppendInt(dst []byte, enc Encoding, v int64) []byte {
	if enc == JSON {
		return strconv.AppendInt(dst, v, 10)
	}
	if v < 0 {
		return AppendHead(dst, MajorNeg, uint64(^v))
	}
	return AppendHead(dst, MajorUint, uint64(v))
}

func AppendUint(dst []byte, enc Encoding, v uint64) []byte {
	if enc == JSON {
		return strconv.AppendUint(dst, v, 10)
	}
	return AppendHead(dst, MajorUint, v)
}

// AppendBig appends an integer of any size: in CBOR as major 0 or 1 when its argument fits 64 bits, else as tag 2 or 3.
func AppendBig(dst []byte, enc Encoding, v *big.Int) []byte {
	if enc == JSON {
		return v.Append(dst, 10)
	}
	n, major, tag := v, byte(MajorUint), byte(tagPos)
	if v.Sign() < 0 {
		n, major, tag = new(big.Int).Not(v), MajorNeg, tagNeg // -1-v
	}
	if n.IsUint64() {
		return AppendHead(dst, major, n.Uint64())
	}
	size := (n.BitLen() + 7) / 8
	dst = AppendHead(append(dst, tag), MajorBytes, uint64(size))
	at := len(dst)
	dst = append(dst, make([]byte, size)...)
	n.FillBytes(dst[at:])
	return dst
}

// AppendFloat appends a finite float: in CBOR with the shortest head that holds it, in JSON with the fewest digits that
// read back to it and always with '.' or an exponent (ENC-3, ENC-4).
func AppendFloat(dst []byte, enc Encoding, v float64) []byte {
	if enc == CBOR {
		return appendFloatCBOR(dst, v)
	}
	at := len(dst)
	format := byte('f')
	if abs := math.Abs(v); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	dst = strconv.AppendFloat(dst, v, format, -1, 64)
	if format == 'e' { // strconv pads the exponent to two digits: 1e-07
		if n := len(dst); dst[n-2] == '0' && (dst[n-3] == '-' || dst[n-3] == '+') {
			dst[n-2] = dst[n-1]
			dst = dst[:n-1]
		}
		return dst
	}
	for _, c := range dst[at:] {
		if c == '.' {
			return dst
		}
	}
	return append(dst, ".0"...)
}

func appendFloatCBOR(dst []byte, v float64) []byte {
	single := float32(v)
	if float64(single) != v {
		return binary.BigEndian.AppendUint64(append(dst, cborF64), math.Float64bits(v))
	}
	if half, ok := halfOf(math.Float32bits(single)); ok {
		return binary.BigEndian.AppendUint16(append(dst, cborF16), half)
	}
	return binary.BigEndian.AppendUint32(append(dst, cborF32), math.Float32bits(single))
}

// halfOf returns the binary16 bits that hold exactly the finite binary32 value of bits, if there are any.
func halfOf(bits uint32) (uint16, bool) {
	sign := uint16(bits >> 16 & 0x8000)
	exp := int(bits>>23&0xff) - 127
	frac := bits & 0x7fffff
	switch {
	case exp == -127 && frac == 0: // zero
		return sign, true
	case exp >= -14 && exp <= 15: // normal: 10 bits of fraction
		if frac&0x1fff != 0 {
			return 0, false
		}
		return sign | uint16(exp+15)<<10 | uint16(frac>>13), true
	case exp >= -24 && exp < -14: // subnormal: the hidden bit moves right
		full := frac | 0x800000
		shift := uint(-exp - 1) // 14 at exp -15, where nine bits of fraction are left
		if full&(1<<shift-1) != 0 {
			return 0, false
		}
		return sign | uint16(full>>shift), true
	}
	return 0, false
}

const hexDigits = "0123456789abcdef"

// AppendText appends valid UTF-8. JSON escapes only '"', '\' and controls below U+0020 (ENC-4).
func AppendText[S string | []byte](dst []byte, enc Encoding, s S) []byte {
	if enc == CBOR {
		return append(AppendHead(dst, MajorText, uint64(len(s))), s...)
	}
	dst = buffers.Room(dst, len(s)+len(`""`))
	return append(appendEscaped(append(dst, '"'), s), '"')
}

// AppendListOpen opens a list of n elements. In JSON the elements are separated with AppendSep and ended with
// AppendListClose; in CBOR those two append nothing.
func AppendListOpen(dst []byte, enc Encoding, n int) []byte {
	if enc == CBOR {
		return AppendHead(dst, MajorList, uint64(n))
	}
	return append(dst, '[')
}

func AppendListClose(dst []byte, enc Encoding) []byte {
	if enc == CBOR {
		return dst
	}
	return append(dst, ']')
}

// AppendMapOpen opens a map of n members, each an AppendSep, an AppendKey and a value, ended with AppendMapClose.
func AppendMapOpen(dst []byte, enc Encoding, n int) []byte {
	if enc == CBOR {
		return AppendHead(dst, MajorMap, uint64(n))
	}
	return append(dst, '{')
}

func AppendMapClose(dst []byte, enc Encoding) []byte {
	if enc == CBOR {
		return dst
	}
	return append(dst, '}')
}

// AppendSep goes before element or member i of a list or map.
func AppendSep(dst []byte, enc Encoding, i int) []byte {
	if enc == CBOR || i == 0 {
		return dst
	}
	return append(dst, ',')
}

// AppendKey appends the name of a member.
func AppendKey[S string | []byte](dst []byte, enc Encoding, name S) []byte {
	dst = AppendText(dst, enc, name)
	if enc == JSON {
		dst = append(dst, ':')
	}
	return dst
}
