package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kith-wire/kith/internal/alloctest"
)

// What is large does not move again and again while it is written: it is known early how large it will be.
func TestLargeMovesLittle(t *testing.T) {
	text := strings.Repeat("a line of text, ", 64)
	byName := map[string]string{}
	for i := range 1000 {
		byName[fmt.Sprint("name ", i)] = text
	}
	codec := New(Config{})
	for kind, value := range map[string]any{
		"structs":     rowsOf(10_000, note{ID: 7, At: "2024-05-01T12:00:00Z", Text: "remember the milk, and 7 other things"}),
		"texts":       rowsOf(1000, text),
		"numbers":     rowsOf(100_000, 123456),
		"a map":       byName,
		"a long text": strings.Repeat(text, 1000),
	} {
		for name, enc := range encodings {
			out, _, err := codec.Append(nil, enc, value, limits)
			if err != nil {
				t.Fatal(err)
			}
			if made := alloctest.Bytes(t, 10, func() error {
				_, _, err := codec.Append(nil, enc, value, limits)
				return err
			}); made > 2*len(out) {
				t.Errorf("%s, %s: %d bytes are made for %d", kind, name, made, len(out))
			}
		}
	}
}
