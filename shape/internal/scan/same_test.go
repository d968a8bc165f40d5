package scan

import (
	"math/rand/v2"
	"testing"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// A text whose escapes are ours already is copied, and any other is read and written again: the same comes of both.
func TestEscapesAreCopiedAsTheyWouldBeWritten(t *testing.T) {
	parts := []string{`a`, `plain, and longer than a word`, `\"`, `\\`, `\/`, `\n\n`, `\t`, `\r`, `\b`, `\f`, `\u000a`, `\u001f`, `\u00e9`, `\ud83d\ude00`, `é`}
	r := rand.New(rand.NewPCG(5, 6))
	for range 20_000 {
		b := []byte{'"'}
		for range r.IntN(10) {
			b = append(b, parts[r.IntN(len(parts))]...)
		}
		b = append(b, '"')
		c := wire.Cursor{B: b, Enc: wire.JSON}
		text, _ := c.Text(nil)
		want := string(wire.AppendText(nil, wire.JSON, text))
		if got := string(Append(nil, wire.JSON, b, wire.JSON)); got != want {
			t.Fatalf("%s is copied as %s, and written as %s", b, got, want)
		}
	}
}
