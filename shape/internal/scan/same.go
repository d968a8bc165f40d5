package scan

import "github.com/kith-wire/kith/shape/internal/wire"

// appendCompact writes an admitted JSON value in our form. That never depends on what is nested in what, so it copies
// whatever stands as it should and only looks for what does not.
func appendCompact(dst, b []byte) []byte {
	var buf [256]byte
	scratch := buf[:0]
	begin := 0 // of what has been read and not yet copied
	for i := 0; i < len(b); {
		c := wire.Cursor{B: b[i:], Enc: wire.JSON}
		switch b[i] {
		case '"':
			end := wire.TextStop(b, i+1)
			if b[end] != '"' {
				end = sameEscapes(b, end)
			}
			if b[end] == '"' {
				i = end + 1
				continue
			}
			dst = append(dst, b[begin:i]...)
			text, _ := c.Text(scratch[:0])
			dst, scratch = wire.AppendText(dst, wire.JSON, text), text
		case ' ', '\n', '\r', '\t':
			dst = append(dst, b[begin:i]...)
			c.B = c.B[1:]
		case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			if c.Kind() == wire.Int {
				i += len(c.Skip())
				continue
			}
			dst = append(dst, b[begin:i]...)
			dst = wire.AppendFloat(dst, wire.JSON, c.Number().Float)
		default:
			i++
			continue
		}
		i = len(b) - len(c.B)
		begin = i
	}
	return append(dst, b[begin:]...)
}

// sameEscapes passes over what is left of an admitted JSON text from an escape on: to its end, or to an escape that we write in another
// way.
func sameEscapes(b []byte, i int) int {
	for {
		stop := i
		for b[i] == '\\' && b[i+1] != '/' && wire.IsShortEscape(b[i+1]) {
			i += 2
		}
		if i == stop {
			return i
		}
		i = wire.TextStop(b, i)
	}
}

// isShortest tells whether an admitted CBOR value is in our form already. Definite lengths make it a plain row of heads.
func isShortest(b []byte) bool {
	for i := 0; i < len(b); {
		n, next, ok := shortestHead(b, i)
		if !ok {
			return false
		}
		switch b[i] & 0xe0 {
		case wire.MajorText:
			next += int(n)
		case wire.MajorTag: // an integer beyond 64 bits
			n, from, ok := shortestHead(b, next)
			if !ok || n <= 8 || b[from] == 0 {
				return false
			}
			next = from + int(n)
		}
		i = next
	}
	return true
}

// shortestHead reads the head at a place; ok says that no shorter one means the same.
func shortestHead(b []byte, i int) (n uint64, next int, ok bool) {
	if info := b[i] & 0x1f; info < info1Byte {
		return uint64(info), i + 1, true
	}
	n, rest, indefinite, ok := looseHead(b[i:])
	if !ok || indefinite {
		return 0, 0, false
	}
	next = len(b) - len(rest)
	var buf [9]byte
	ours := wire.AppendHead(buf[:0], 0, n)
	if b[i] >= 0xf9 { // a float
		c := wire.Cursor{B: b[i:], Enc: wire.CBOR}
		ours = wire.AppendFloat(buf[:0], wire.CBOR, c.Number().Float)
	}
	return n, next, len(ours) == next-i
}
