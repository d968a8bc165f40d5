package plan

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/kith-wire/kith/shape/internal/scan"
	"github.com/kith-wire/kith/shape/internal/wire"
)

type label string

// listed has a member of each kind that a block moves in its own way, and some that it does not.
type listed struct {
	ID    label    `json:"id"`
	N     int64    `json:"n"`
	Count int      `json:"count"`
	Text  string   `json:"text"`
	Tags  []string `json:"tags"`
	Maybe *listed  `json:"a name of more than sixteen bytes"`
	Any   any      `json:"any of it"`
}

// sparse has members that may be missing.
type sparse struct {
	A string `json:"a,omitempty"`
	B *int64 `json:"b,omitempty"`
	Deep
}

type Deep struct {
	C string `json:"c"`
}

func listedRows(n int) []listed {
	rows := make([]listed, n)
	for i := range rows {
		rows[i] = listed{
			ID: label(strings.Repeat("i", i%40)), N: int64(i) << (i % 50), Count: -i, Text: strings.Repeat(string([]rune("tëxt\n")[:i%6]), i%5),
			Tags: []string{"a", fmt.Sprint(i)}, Any: "x",
		}
		if i%3 == 0 {
			rows[i].Maybe, rows[i].Any = &listed{Text: "inner", Tags: []string{}}, nil
		}
	}
	return rows
}

// A list whose type is known, one whose type is not, and its elements one by one are written alike and read alike.
func TestBlocks(t *testing.T) {
	codec := New(Config{})
	for _, n := range []int{0, 1, 3, 4, 5, 15, 16, 17, 31, 32, 33, 100} {
		rows := listedRows(n)
		values := make([]any, n)
		for i := range rows {
			values[i] = rows[i]
		}
		for name, enc := range encodings {
			want, items, err := codec.AppendValues(nil, enc, values, limits)
			if err != nil {
				t.Fatal(err)
			}
			list := Slice[listed](rows)
			for _, way := range []any{rows, &list} {
				got, its, err := codec.AppendList(nil, enc, way, limits)
				if err != nil || string(got) != string(want) || its != items {
					t.Errorf("%s: %d rows, %T: %q with %d items, %v; want %q with %d", name, n, way, got, its, err, want, items)
				}
			}
			twins(t, codec, want, enc, n, rows)
		}
	}
}

// twins decodes a list in all ways there are, and wants the same of each; and that it is want, if there is one.
func twins[T any](t *testing.T, codec *Codec, b []byte, enc wire.Encoding, n int, want []T) {
	t.Helper()
	var slow, fast []T
	var known Slice[T]
	slowErr := codec.Decode(b, enc, &slow)
	for kind, err := range map[string]error{
		"unknown": codec.DecodeList(b, enc, n, &fast), "known": codec.DecodeList(b, enc, n, &known),
	} {
		if fmt.Sprint(err) != fmt.Sprint(slowErr) {
			t.Errorf("%q, a list of a type that is %s: %v, and one by one %v", b, kind, err, slowErr)
		}
	}
	if slowErr != nil {
		return
	}
	for _, got := range [][]T{fast, known} {
		if len(got)+len(slow) > 0 && !reflect.DeepEqual(got, slow) {
			t.Errorf("%q is %+v, and one by one %+v", b, got, slow)
		}
	}
	if len(want) > 0 && !reflect.DeepEqual(slow, want) {
		t.Errorf("%q is %+v, want %+v", b, slow, want)
	}
}

// What a row left in a block is not in the rows behind it.
func TestBlocksKeepNothing(t *testing.T) {
	full := `{"id":"i","n":1,"count":2,"text":"t","tags":["x"],"a name of more than sixteen bytes":{"id":"in"},"any of it":[1]}`
	for _, odd := range []string{`{}`, `{"text":"only"}`, `{"n":5,"id":"j"}`, full[:len(full)-1] + `,"more":1}`, ` { "id" : "\u0061" } `} {
		rows := []string{full, odd, odd, full, odd}
		for len(rows) < 40 {
			rows = append(rows, rows...)
		}
		text := "[" + strings.Join(rows, ",") + "]"
		for _, enc := range encodings {
			twins[listed](t, New(Config{}), admitted(t, text, enc), enc, len(rows), nil)
		}
	}
}

// FuzzRows holds the fast ways of rows against the slow one.
func FuzzRows(f *testing.F) {
	for _, text := range []string{
		`[{"id":"a","n":1,"count":2,"text":"t","tags":[],"a name of more than sixteen bytes":null,"any of it":{}},{},{"n":2.5},{},{}]`,
		`[{"id":"a\n","n":-0,"count":1e3},{"a":"x","b":9223372036854775807,"c":"y"},{"c":"z"},{"b":null},{"a":"x","b":1,"c":""}]`,
		`[ {"a":"` + strings.Repeat("long ", 60) + `","b":12,"c":"` + strings.Repeat("é", 70) + `"} ,{},{},{"n":-9223372036854775809}]`,
	} {
		f.Add([]byte(text), false)
		f.Add(scan.Append(nil, wire.CBOR, []byte(text), wire.JSON), true)
	}
	f.Fuzz(func(t *testing.T, b []byte, cbor bool) {
		enc := wire.JSON
		if cbor {
			enc = wire.CBOR
		}
		kind, n, err := scan.Value(b, enc, scan.Limits{Depth: limits.Depth, Items: limits.Items, IntBits: limits.IntBits})
		if err != nil || kind != wire.List {
			return
		}
		codec := New(Config{})
		twins[listed](t, codec, b, enc, n, nil)
		twins[sparse](t, codec, b, enc, n, nil)
		var rows Slice[listed]
		if codec.DecodeList(b, enc, n, &rows) != nil {
			return
		}
		values := make([]any, n)
		for i := range rows {
			values[i] = rows[i]
		}
		for _, enc := range encodings {
			one, items, oneErr := codec.AppendValues(nil, enc, values, limits)
			many, its, manyErr := codec.AppendList(nil, enc, &rows, limits)
			if string(one) != string(many) || items != its || fmt.Sprint(oneErr) != fmt.Sprint(manyErr) {
				t.Errorf("%q, %d, %v, and one by one %q, %d, %v", many, its, manyErr, one, items, oneErr)
			}
		}
	})
}
