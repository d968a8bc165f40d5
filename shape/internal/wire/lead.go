package wire

import (
	"encoding/binary"
	"slices"
)

// Lead is what stands before a value: bytes that are compared and written a word at a time.
type Lead struct {
	Text       []byte
	head, mask uint64 // the first eight bytes
	tail       uint64 // the last eight, where there are more than eight
	second     uint64 // the second eight
}

// LeadOf makes a lead of some bytes.
func LeadOf(text []byte) Lead {
	n := len(text)
	l := Lead{Text: text, mask: 1<<(8*n) - 1} // all ones from eight on
	var first [16]byte
	copy(first[:], text)
	l.head, l.second = binary.LittleEndian.Uint64(first[:]), binary.LittleEndian.Uint64(first[8:])
	if n > 8 {
		l.tail = binary.LittleEndian.Uint64(text[n-8:])
	}
	return l
}

// Begins reports whether b begins so, where there is enough of it to tell by a word.
func (l *Lead) Begins(b []byte) bool {
	return len(b) >= 8 && (binary.LittleEndian.Uint64(b)^l.head)&l.mask == 0 && (len(l.Text) <= 8 || l.goesOn(b))
}

func (l *Lead) goesOn(b []byte) bool {
	n := len(l.Text)
	return len(b) >= n && binary.LittleEndian.Uint64(b[n-8:n]) == l.tail && (n <= 16 || string(b[8:n-8]) == string(l.Text[8:n-8]))
}

// leadRoom is for what stands around a text, and for words that are written where fewer bytes are kept.
const leadRoom = 24

// Append appends the lead.
func (l *Lead) Append(dst []byte) []byte {
	at := len(dst)
	if len(l.Text) > 16 || cap(dst)-at < leadRoom {
		return append(dst, l.Text...)
	}
	l.put(dst[at : at+leadRoom])
	return dst[:at+len(l.Text)]
}

// put writes the lead where there is room for more.
func (l *Lead) put(to []byte) {
	binary.LittleEndian.PutUint64(to, l.head)
	binary.LittleEndian.PutUint64(to[8:], l.second)
	if len(l.Text) > 16 {
		copy(to, l.Text)
	}
}

// AppendJSON appends the lead, whose last byte is a quote, and a text behind it, if the text is ASCII and needs no escape: it is looked
// at while it is copied. Else it answers false and appends nothing.
func (l *Lead) AppendJSON(dst []byte, s string) ([]byte, bool) {
	at, size := len(dst), len(l.Text)
	need := size + len(s) + leadRoom
	if cap(dst)-at < need {
		dst = slices.Grow(dst, need)
	}
	out := dst[at : at+need]
	l.put(out)
	body := out[size:]
	if len(s) < 8 {
		w := shortWord(s)
		binary.LittleEndian.PutUint64(body, w|quotes<<(8*len(s)))
		if plainHits(w|spaces<<(8*len(s)))&highs != 0 {
			return dst[:at], false
		}
		return dst[:at+size+len(s)+1], true
	}
	var hits uint64
	for i := 0; i+8 <= len(s); i += 8 {
		w := load(s[i : i+8])
		hits |= plainHits(w)
		binary.LittleEndian.PutUint64(body[i:], w)
	}
	w := load(s[len(s)-8:])
	hits |= plainHits(w)
	binary.LittleEndian.PutUint64(body[len(s)-8:], w)
	body[len(s)] = '"'
	if hits&highs != 0 {
		return dst[:at], false
	}
	return dst[:at+size+len(s)+1], true
}

// AppendCBOR is AppendJSON for CBOR, in a lead of which the text's head is no part. The text is not long.
func (l *Lead) AppendCBOR(dst []byte, s string) ([]byte, bool) {
	if len(s) > 0xff {
		return dst, false
	}
	at, size := len(dst), len(l.Text)
	need := size + len(s) + leadRoom
	if cap(dst)-at < need {
		dst = slices.Grow(dst, need)
	}
	out := dst[at : at+need]
	l.put(out)
	out[size] = MajorText | byte(len(s))
	size++
	if len(s) >= 24 {
		out[size-1], out[size] = MajorText|24, byte(len(s))
		size++
	}
	body := out[size:]
	if len(s) < 8 {
		w := shortWord(s)
		binary.LittleEndian.PutUint64(body, w)
		if w&highs != 0 {
			return dst[:at], false
		}
		return dst[:at+size+len(s)], true
	}
	var hits uint64
	for i := 0; i+8 <= len(s); i += 8 {
		w := load(s[i : i+8])
		hits |= w
		binary.LittleEndian.PutUint64(body[i:], w)
	}
	w := load(s[len(s)-8:])
	hits |= w
	binary.LittleEndian.PutUint64(body[len(s)-8:], w)
	if hits&highs != 0 {
		return dst[:at], false
	}
	return dst[:at+size+len(s)], true
}

// shortWord returns fewer than eight bytes as a word, with nothing behind them.
func shortWord(s string) (w uint64) {
	for i := len(s) - 1; i >= 0; i-- {
		w = w<<8 | uint64(s[i])
	}
	return w
}
