package wire

import (
	"strconv"
	"unicode/utf8"
)

// quoteMax is how many bytes of what came an error text quotes at most (ENC-5).
const quoteMax = 64

// Quote makes bytes that came from outside fit for an error text: at most 64 of them, whole runes, controls and bytes
// that are not UTF-8 escaped, "…" where it cut.
func Quote[S string | []byte](s S) string {
	b, cut := []byte(s), false
	if len(b) > quoteMax {
		end := quoteMax
		for end > quoteMax-utf8.UTFMax && !utf8.RuneStart(b[end]) {
			end--
		}
		b, cut = b[:end], true
	}
	out := make([]byte, 0, len(b)+3)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && n == 1:
			out = append(out, '\\', 'x', hexDigits[b[0]>>4], hexDigits[b[0]&15])
		case strconv.IsPrint(r):
			out = append(out, b[:n]...)
		default:
			quoted := strconv.AppendQuoteRune(nil, r)
			out = append(out, quoted[1:len(quoted)-1]...)
		}
		b = b[n:]
	}
	if cut {
		out = append(out, "…"...)
	}
	return string(out)
}
