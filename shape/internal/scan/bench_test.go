package scan

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// benchMessages are messages of a few sizes and kinds, in JSON.
func benchMessages() map[string][]byte {
	rows := func(n int, row func(i int) string) []byte {
		var b strings.Builder
		for i := range n {
			b.WriteString(",")
			b.WriteString(row(i))
		}
		return fmt.Appendf(nil, `{"ok":true,"family":1,"n":%d,"result":[%s]}`, n, b.String()[1:])
	}
	note := func(i int) string {
		return fmt.Sprintf(`{"id":%d,"at":"2024-05-01T12:00:%02dZ","text":"remember the milk, and the %d other things","tags":["a","b"]}`, i, i%60, i)
	}
	return map[string][]byte{
		"small":     []byte(`{"call":"echo","args":["a short text"]}`),
		"medium":    rows(16, note),
		"rows-1MiB": rows(9500, note),
		"text-1MiB": rows(64, func(int) string { return `"` + strings.Repeat("all plain text, of which there is a lot. ", 400) + `"` }),
		"escapes-1MiB": rows(64, func(int) string {
			return `"` + strings.Repeat(`\tif err := run(\"once\"); err != nil {\n\t\treturn fmt.Errorf(\"failed: %w\", err)\n\t}\n`, 170) + `"`
		}),
		"utf8-1MiB":   rows(64, func(int) string { return `"` + strings.Repeat("日本語のテキスト", 680) + `"` }),
		"ints-1MiB":   rows(130_000, func(i int) string { return fmt.Sprint(i * 77) }),
		"floats-1MiB": rows(100_000, func(i int) string { return fmt.Sprint(float64(i) * 1.1) }),
		"wide-1MiB": rows(1, func(int) string {
			return string(wideMap(wire.JSON, 70_000, func(i int) string { return fmt.Sprintf("%08x", uint32(i)*2654435761) }))
		}),
	}
}

func forEach(b *testing.B, run func(b *testing.B, enc wire.Encoding, message []byte)) {
	for _, size := range []string{"small", "medium", "rows-1MiB", "text-1MiB", "escapes-1MiB", "utf8-1MiB", "ints-1MiB", "floats-1MiB", "wide-1MiB"} {
		for enc, name := range []string{wire.JSON: "json", wire.CBOR: "cbor"} {
			b.Run("enc="+name+"/size="+size, func(b *testing.B) {
				message := Append(nil, wire.Encoding(enc), benchMessages()[size], wire.JSON)
				b.SetBytes(int64(len(message)))
				b.ReportAllocs()
				b.ResetTimer()
				run(b, wire.Encoding(enc), message)
			})
		}
	}
}

func BenchmarkEnvelope(b *testing.B) {
	forEach(b, func(b *testing.B, enc wire.Encoding, message []byte) {
		for b.Loop() {
			var buf [12]Member
			if _, err := Envelope(message, enc, standard, buf[:0]); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	for to, name := range []string{wire.JSON: "json", wire.CBOR: "cbor"} {
		b.Run("to="+name, func(b *testing.B) {
			var dst []byte
			forEach(b, func(b *testing.B, enc wire.Encoding, message []byte) {
				for b.Loop() {
					dst = Append(dst[:0], wire.Encoding(to), message, enc)
				}
			})
		})
	}
}

func BenchmarkSkip(b *testing.B) {
	forEach(b, func(b *testing.B, enc wire.Encoding, message []byte) {
		for b.Loop() {
			c := wire.Cursor{B: message, Enc: enc}
			if len(c.Skip()) != len(message) {
				b.Fatal("not the whole message")
			}
		}
	})
}

// The messages of the benchmarks are admitted, and as large as they say.
func TestBenchMessages(t *testing.T) {
	for size, message := range benchMessages() {
		if _, err := Envelope(message, wire.JSON, standard, nil); err != nil {
			t.Errorf("%s: %v", size, err)
		}
		if strings.HasSuffix(size, "1MiB") && (len(message) < 800<<10 || len(message) > 3<<19) {
			t.Errorf("%s: %d bytes", size, len(message))
		}
		if bytes.ContainsRune(message, '\n') {
			t.Errorf("%s is not compact", size)
		}
	}
}
