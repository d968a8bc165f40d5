package wire

import (
	"encoding/binary"
	"slices"
)

// AppendPlain appends a text as AppendText does, if it is ASCII and JSON need not escape any of it, and looks at it while it copies.
// Else it answers false and appends nothing.
func AppendPlain(dst []byte, enc Encoding, s string) ([]byte, bool) {
	const room = 16 // for what stands around the text, and for a word that is written where fewer bytes are kept
	at := len(dst)
	if cap(dst)-at < len(s)+room {
		dst = slices.Grow(dst, len(s)+room)
	}
	out := dst[at : at+len(s)+room]
	if enc == JSON {
		out[0] = '"'
		if !copyPlain(out[1:], s) {
			return dst, false
		}
		out[1+len(s)] = '"'
		return dst[:at+len(s)+2], true
	}
	head := len(AppendHead(out[:0], MajorText, uint64(len(s))))
	if !copyASCII(out[head:], s) {
		return dst, false
	}
	return dst[:at+head+len(s)], true
}

// copyPlain copies s, to where there is a word of room behind it, and reports whether JSON holds it as it is, all of it ASCII.
func copyPlain(to []byte, s string) bool {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := load(s[i : i+8])
		if plainHits(w)&highs != 0 {
			return false
		}
		binary.LittleEndian.PutUint64(to[i:], w)
	}
	if i < len(s) {
		w := lastWord(s, i)
		binary.LittleEndian.PutUint64(to[i:], w)
		return plainHits(w|spaces<<(8*uint(len(s)-i)))&highs == 0
	}
	return true
}

// copyASCII is copyPlain for CBOR, which holds any text as it is.
func copyASCII(to []byte, s string) bool {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := load(s[i : i+8])
		if w&highs != 0 {
			return false
		}
		binary.LittleEndian.PutUint64(to[i:], w)
	}
	if i < len(s) {
		w := lastWord(s, i)
		binary.LittleEndian.PutUint64(to[i:], w)
		return w&highs == 0
	}
	return true
}

// lastWord returns the last bytes of s, from i on, which are fewer than eight; behind them is nothing.
func lastWord(s string, i int) (w uint64) {
	if len(s) >= 8 {
		return load(s[len(s)-8:]) >> (8 * uint(8-(len(s)-i)))
	}
	for j := len(s) - 1; j >= i; j-- {
		w = w<<8 | uint64(s[j])
	}
	return w
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
