package scan

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// FirstNameIs tells whether b, which need not be readable any further, opens a map whose first member has that name, which
// is ASCII (SHAPE-6). Space and a byte order mark before the map do not hide it, nor does the tag of self-described CBOR.
func FirstNameIs(b []byte, want string) bool {
	b = bytes.TrimLeft(b, " \t\r\n")
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	b = bytes.TrimPrefix(b, []byte("\xd9\xd9\xf7"))
	b = bytes.TrimLeft(b, " \t\r\n")
	switch {
	case len(b) == 0:
		return false
	case b[0] == '{':
		return firstJSON(bytes.TrimLeft(b[1:], " \t\r\n"), want)
	case b[0]&0xe0 == wire.MajorMap:
		return firstCBOR(b, want)
	}
	return false
}

// firstJSON tells whether b begins with a text that means want.
func firstJSON(b []byte, want string) bool {
	if len(b) == 0 || b[0] != '"' {
		return false
	}
	for i := 1; i < len(b); {
		c, n := b[i], 1
		switch {
		case c == '"':
			return want == ""
		case c == '\\':
			r, length := asciiEscape(b[i:])
			c, n = r, length
		}
		if n == 0 || want == "" || c != want[0] {
			return false
		}
		i, want = i+n, want[1:]
	}
	return false
}

// asciiEscape reads the escape at the start of b, if it is one of an ASCII character; else n is 0.
func asciiEscape(b []byte) (c byte, n int) {
	if len(b) < 2 {
		return 0, 0
	}
	if b[1] == 'u' {
		unit, ok := hex4(b, 2)
		if !ok || unit >= utf8.RuneSelf {
			return 0, 0
		}
		return byte(unit), 6
	}
	const short, meant = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	at := bytes.IndexByte([]byte(short), b[1])
	if at < 0 {
		return 0, 0
	}
	return meant[at], 2
}

// firstCBOR tells whether the map at the start of b has want for its first name.
func firstCBOR(b []byte, want string) bool {
	n, b, indefinite, ok := looseHead(b)
	if !ok || n == 0 && !indefinite || len(b) == 0 || b[0]&0xe0 != wire.MajorText {
		return false
	}
	n, b, indefinite, ok = looseHead(b)
	if !ok {
		return false
	}
	if !indefinite {
		return n == uint64(len(want)) && len(b) >= len(want) && string(b[:len(want)]) == want
	}
	for len(b) > 0 && b[0] != cborBreak {
		if b[0]&0xe0 != wire.MajorText {
			return false
		}
		n, b, indefinite, ok = looseHead(b)
		if !ok || indefinite || n > uint64(len(want)) || n > uint64(len(b)) || string(b[:n]) != want[:n] {
			return false
		}
		b, want = b[n:], want[n:]
	}
	return len(b) > 0 && want == ""
}

// looseHead reads the head at the start of b, which may be cut short or be none: then ok is false.
func looseHead(b []byte) (n uint64, rest []byte, indefinite, ok bool) {
	info := b[0] & 0x1f
	switch {
	case info < info1Byte:
		return uint64(info), b[1:], false, true
	case info == infoIndefinite:
		return 0, b[1:], true, true
	case info > info8Bytes:
		return 0, nil, false, false
	}
	size := 1 << (info - info1Byte)
	if len(b) < 1+size {
		return 0, nil, false, false
	}
	var arg [8]byte
	copy(arg[8-size:], b[1:1+size])
	return binary.BigEndian.Uint64(arg[:]), b[1+size:], false, true
}
