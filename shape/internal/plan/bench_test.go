package plan

import (
	"testing"

	"github.com/kith-wire/kith/shape/internal/wire"
)

type line struct {
	Text string `json:"text"`
}

type note struct {
	ID   int64    `json:"id"`
	At   string   `json:"at"`
	Text string   `json:"text"`
	Tags []string `json:"tags"`
}

var encodings = map[string]wire.Encoding{"json": wire.JSON, "cbor": wire.CBOR}

// rowsOf is n rows that are the same.
func rowsOf[T any](n int, row T) []T {
	rows := make([]T, n)
	for i := range rows {
		rows[i] = row
	}
	return rows
}

func benchmarkRows[T any](b *testing.B, kind string, n int, row T) {
	codec, rows := New(Config{}), any(rowsOf(n, row))
	for name, enc := range encodings {
		list, _, err := codec.AppendList(nil, enc, rows, limits)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("do=encode/type="+kind+"/enc="+name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(list)))
			for b.Loop() {
				list, _, _ = codec.AppendList(list[:0], enc, rows, limits)
			}
		})
		b.Run("do=decode/type="+kind+"/enc="+name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(list)))
			var into []T
			for b.Loop() {
				if err := codec.DecodeList(list, enc, n, &into); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// untypedTree is a row of a program that knows no types, 289 bytes of JSON.
var untypedTree = any(map[string]any{
	"name": "read_file", "id": "call_0123456789", "score": 0.75, "tags": []any{"a", "b", "c"}, "none": nil,
	"args": map[string]any{"path": "/src/main.go", "offset": int64(120), "limit": int64(200), "raw": false},
	"content": []any{
		map[string]any{"type": "text", "text": "a line of text as rows carry it"},
		map[string]any{"type": "text", "text": "another line of text as rows carry it"},
	},
})

func BenchmarkRows(b *testing.B) {
	full := note{1 << 20, "2026-12-01T04:05:06Z", "a line of text as rows carry it", []string{"tag"}}
	benchmarkRows(b, "line", 1, line{full.Text})
	benchmarkRows(b, "note", 1, full)
	benchmarkRows(b, "notes", 1000, full)
	benchmarkRows(b, "texts", 1000, struct {
		ID   string `json:"id"`
		Name string `json:"name"`
		Text string `json:"text"`
	}{"0123456789abcdef", "a name", full.Text})
	benchmarkRows(b, "any", 100, any(map[string]any{"id": int64(5), "text": full.Text}))
	benchmarkRows(b, "tree", 1, untypedTree)
}

// A row of one text is decoded and written with no more than three allocations, a list with a few for all its texts.
func TestAllocations(t *testing.T) {
	codec := New(Config{})
	for name, enc := range encodings {
		var into []line
		echo := func(n int) float64 {
			list, _, err := codec.AppendList(nil, enc, rowsOf(n, line{"a line of text"}), limits)
			if err != nil {
				t.Fatal(err)
			}
			out := make([]byte, 0, len(list))
			return testing.AllocsPerRun(100, func() {
				if err := codec.DecodeList(list, enc, n, &into); err != nil {
					t.Fatal(err)
				}
				if out, _, err = codec.AppendList(out[:0], enc, into, limits); err != nil {
					t.Fatal(err)
				}
			})
		}
		if got := echo(1); got > 3 {
			t.Errorf("%s: a row costs %v allocations", name, got)
		}
		if got := echo(1000); got > 10 {
			t.Errorf("%s: a list of 1000 rows costs %v allocations", name, got)
		}
		var out []byte
		if got := testing.AllocsPerRun(100, func() { out, _, _ = codec.Append(out[:0], enc, untypedTree, limits) }); got > 2 { // none; the detector of races loses some of what is kept
			t.Errorf("%s: writing a value without types costs %v allocations", name, got)
		}
	}
}
