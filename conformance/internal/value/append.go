package value

import (
	"encoding/binary"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Append writes a value as the wire has it written: compact JSON, or CBOR with definite lengths and the shortest heads.
func Append(dst []byte, enc Encoding, v Value) []byte {
	if enc == CBOR {
		return appendCBOR(dst, v)
	}
	return appendJSON(dst, v)
}

func appendJSON(dst []byte, v Value) []byte {
	switch v.Kind {
	case Null:
		return append(dst, "null"...)
	case Bool:
		return strconv.AppendBool(dst, v.Bool)
	case Int:
		return v.Int.Append(dst, 10)
	case Float:
		text := strconv.FormatFloat(v.Float, 'g', -1, 64)
		if !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
		return append(dst, text...)
	case Text:
		return appendText(dst, v.Text)
	case List:
		dst = append(dst, '[')
		for i, e := range v.List {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSON(dst, e)
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	for i, m := range v.Map {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendText(dst, m.Name), ':')
		dst = appendJSON(dst, m.Value)
	}
	return append(dst, '}')
}

func appendText(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', '0'+c>>4, "0123456789abcdef"[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

func appendHead(dst []byte, major byte, n uint64) []byte {
	switch major <<= 5; {
	case n < 24:
		return append(dst, major|byte(n))
	case n < 1<<8:
		return append(dst, major|24, byte(n))
	case n < 1<<16:
		return binary.BigEndian.AppendUint16(append(dst, major|25), uint16(n))
	case n < 1<<32:
		return binary.BigEndian.AppendUint32(append(dst, major|26), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, major|27), n)
}

func appendCBOR(dst []byte, v Value) []byte {
	switch v.Kind {
	case Null:
		return append(dst, 0xf6)
	case Bool:
		if v.Bool {
			return append(dst, 0xf5)
		}
		return append(dst, 0xf4)
	case Int:
		return appendInt(dst, v)
	case Float:
		return appendFloat(dst, v.Float)
	case Text:
		return append(appendHead(dst, 3, uint64(len(v.Text))), v.Text...)
	case List:
		dst = appendHead(dst, 4, uint64(len(v.List)))
		for _, e := range v.List {
			dst = appendCBOR(dst, e)
		}
		return dst
	}
	dst = appendHead(dst, 5, uint64(len(v.Map)))
	for _, m := range v.Map {
		dst = appendCBOR(dst, OfText(m.Name))
		dst = appendCBOR(dst, m.Value)
	}
	return dst
}

func appendInt(dst []byte, v Value) []byte {
	n, major := v.Int, byte(0)
	if n.Sign() < 0 {
		n, major = new(big.Int).Not(n), 1
	}
	if n.IsUint64() {
		return appendHead(dst, major, n.Uint64())
	}
	b := n.Bytes()
	return append(appendHead(append(dst, 0xc2+major), 2, uint64(len(b))), b...)
}

func appendFloat(dst []byte, f float64) []byte {
	if isHalf(f) {
		for b := range 1 << 16 { // rare here, and without a second way to be wrong
			if h := half(uint16(b)); h == f && math.Signbit(h) == math.Signbit(f) {
				return binary.BigEndian.AppendUint16(append(dst, 0xf9), uint16(b))
			}
		}
	}
	if float64(float32(f)) == f {
		return binary.BigEndian.AppendUint32(append(dst, 0xfa), math.Float32bits(float32(f)))
	}
	return binary.BigEndian.AppendUint64(append(dst, 0xfb), math.Float64bits(f))
}
