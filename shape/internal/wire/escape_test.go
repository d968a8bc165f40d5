package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
)

// escapedSlowly is a JSON text byte by byte.
func escapedSlowly(s string) string {
	out := []byte{'"'}
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c == '\n':
			out = append(out, `\n`...)
		case c == '\r':
			out = append(out, `\r`...)
		case c == '\t':
			out = append(out, `\t`...)
		case c == '\b':
			out = append(out, `\b`...)
		case c == '\f':
			out = append(out, `\f`...)
		case c < ' ':
			out = fmt.Appendf(out, `\u%04x`, c)
		default:
			out = append(out, c)
		}
	}
	return string(append(out, '"'))
}

// Texts in which escapes and others stand at every place of a word are written as they are byte by byte, behind whatever stands before and
// into whatever room there is, and read back.
func TestEscapes(t *testing.T) {
	parts := []string{"a", "plain, and longer than a word", "\"", "\\", "\n", "\t\t", "\r\n", "\b", "\f", "\x00", "\x1f", "\x7f", "é", "日本", "😀", "/", "u0041"}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		s := ""
		for range r.IntN(12) {
			s += parts[r.IntN(len(parts))]
		}
		want := escapedSlowly(s)
		before := "before"[:r.IntN(7)]
		dst := append(make([]byte, 0, r.IntN(100)), before...)
		if got := string(AppendText(dst, JSON, s)); got != before+want {
			t.Fatalf("%q is written as %q, and byte by byte as %q", s, got, before+want)
		}
		if got := string(AppendText(dst, JSON, []byte(s))); got != before+want {
			t.Fatalf("the bytes of %q are written as %q, and byte by byte as %q", s, got, before+want)
		}
		c := Cursor{B: []byte(want + "]"), Enc: JSON}
		scratch := append(make([]byte, 0, r.IntN(40)), before...)
		if got, alias := c.Text(scratch); string(got) != s || string(c.B) != "]" || !alias && len(s) == 0 {
			t.Fatalf("%q is read as %q, with %q behind it", want, got, c.B)
		}
		if string(scratch) != before {
			t.Fatalf("what stood in the scratch became %q", scratch)
		}
	}
}

// Escapes of any form mean what another reader says.
func TestUnescape(t *testing.T) {
	parts := []string{`a`, `plain, and longer than a word`, `\"`, `\\`, `\/`, `\n\n\n`, `\t`, `\r`, `\b`, `\f`, `\u0000`, `\u00e9`, `\u65E5`, `\ud83d\uDE00`, `é`, `😀`}
	r := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		b := []byte{'"'}
		for range r.IntN(12) {
			b = append(b, parts[r.IntN(len(parts))]...)
		}
		b = append(b, '"')
		var want string
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatal(err)
		}
		c := Cursor{B: append(bytes.Clone(b), make([]byte, r.IntN(10))...), Enc: JSON}
		rest := len(c.B) - len(b)
		if got, _ := c.Text(nil); string(got) != want || len(c.B) != rest {
			t.Fatalf("%s is read as %q with %d bytes behind it; encoding/json reads %q, and there are %d", b, got, len(c.B), want, rest)
		}
	}
}
