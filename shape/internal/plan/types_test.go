package plan

import (
	"math"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kith-wire/kith/shape/internal/scan"
	"github.com/kith-wire/kith/shape/internal/wire"
)

// raw stands for the type that holds admitted bytes.
type raw struct {
	b   []byte
	enc wire.Encoding
}

func withRaw() *Codec {
	return New(Config{
		Raw: reflect.TypeFor[raw](),
		AppendRaw: func(dst []byte, enc wire.Encoding, v any) []byte {
			return scan.Append(dst, enc, v.(raw).b, v.(raw).enc)
		},
		SetRaw: func(into any, b []byte, enc wire.Encoding) {
			*into.(*raw) = raw{append([]byte(nil), b...), enc}
		},
	})
}

// admitted returns a JSON text as an admitted value of an encoding.
func admitted(t testing.TB, text string, enc wire.Encoding) []byte {
	t.Helper()
	if _, _, err := scan.Value([]byte(text), wire.JSON, scan.Limits(limits)); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return scan.Append(nil, enc, []byte(text), wire.JSON)
}

func p[T any](v T) *T { return &v }

type (
	word  string
	tree  struct{ Kids []*tree }
	chain struct{ Next *chain }
	lists []lists
	base  struct {
		ID   int `json:"id"`
		Name string
	}
	Outer struct {
		base
		*Deeper
		Name  word // hides that of base
		Plain int
	}
	Deeper struct {
		Far  bool `json:"far"`
		Name int
	}
	Tagged struct {
		W int `json:"V"`
	}
	Untagged struct{ V int }
	options  struct {
		A string     `json:"a,omitempty"`
		B *int       `json:"b,omitempty"`
		C time.Time  `json:"c,omitzero"`
		D []int      `json:"d,omitempty"`
		E netip.Addr `json:"e,omitzero"`
		F int        `json:"f,omitempty,unknown"`
		G base       `json:"g,omitempty"`
		H chan int   `json:"-"`
		//lint:ignore SA5008 the name of this one is -
		I int `json:"-,"`
		//lint:ignore U1000 not exported, and so not written
		j int
	}
)

// roundTrips are Go values, the JSON that is theirs, and the WIRE word of their type.
var roundTrips = []struct {
	v    any
	text string
	word string
}{
	{true, `true`, "bool"},
	{int(-5), `-5`, "int"}, {int8(-128), `-128`, "int"}, {int64(math.MinInt64), `-9223372036854775808`, "int"},
	{uint8(255), `255`, "int"}, {uint64(math.MaxUint64), `18446744073709551615`, "int"}, {int64(1<<53 + 1), `9007199254740993`, "int"},
	{1.0, `1.0`, "number"}, {math.Copysign(0, -1), `-0.0`, "number"}, {5e-324, `5e-324`, "number"}, {float32(0.5), `0.5`, "number"},
	{float32(0.1), `0.10000000149011612`, "number"}, {math.MaxFloat64, `1.7976931348623157e+308`, "number"},
	{"a\u2028<>&\"\\\x00é", "\"a\u2028<>&\\\"\\\\\\u0000é\"", "text"}, {word("w"), `"w"`, "text"}, {"", `""`, "text"},
	{[]string{"a", ""}, `["a",""]`, "list"}, {[]int{}, `[]`, "list"}, {[2]bool{true, false}, `[true,false]`, "list"}, {[0]int{}, `[]`, "list"},
	{[]*int{p(1), nil}, `[1,null]`, "list"}, {[][]int{{1}, {}}, `[[1],[]]`, "list"},
	{map[string]int{"b": 1, "a": 2, "": 3, "é": 4}, `{"":3,"a":2,"b":1,"é":4}`, "map"}, {map[word][]int{"k": {1}}, `{"k":[1]}`, "map"},
	{map[string]map[string]bool{"x": {"y": true}, "z": {}}, `{"x":{"y":true},"z":{}}`, "map"},
	{map[string][2]int{"a": {1, 2}, "b": {3, 4}}, `{"a":[1,2],"b":[3,4]}`, "map"},
	{struct{}{}, `{}`, "map"},
	{Outer{base{1, ""}, &Deeper{Far: true}, "n", 2}, `{"id":1,"far":true,"Name":"n","Plain":2}`, "map"},
	{Outer{}, `{"id":0,"Name":"","Plain":0}`, "map"},
	{options{}, `{"g":{"id":0,"Name":""},"-":0}`, "map"},
	{options{A: "a", B: p(0), C: time.Unix(0, 0).UTC(), D: []int{1}, E: netip.AddrFrom4([4]byte{127, 0, 0, 1}), F: 1, I: 2},
		`{"a":"a","b":0,"c":"1970-01-01T00:00:00Z","d":[1],"e":"127.0.0.1","f":1,"g":{"id":0,"Name":""},"-":2}`, "map"},
	{struct {
		Tagged
		Untagged
	}{Tagged{1}, Untagged{2}}, `{"V":1}`, "map"},
	{tree{[]*tree{{[]*tree{}}, nil}}, `{"Kids":[{"Kids":[]},null]}`, "map"},
	{&chain{&chain{}}, `{"Next":{"Next":null}}`, "map"},
	{lists{lists{}, lists{lists{}}}, `[[],[[]]]`, "list"},
	{p(p("x")), `"x"`, "text"}, {(*int)(nil), `null`, "int"}, {(**chain)(nil), `null`, "map"},
	{*big.NewInt(7), `7`, "int"}, {new(big.Int).Lsh(big.NewInt(-1), 1024), `-` + new(big.Int).Lsh(big.NewInt(1), 1024).String(), "int"},
	{time.Date(2026, 12, 1, 4, 5, 6, 7, time.UTC), `"2026-12-01T04:05:06.000000007Z"`, "text"},
	{netip.MustParseAddr("::1"), `"::1"`, "text"}, {map[string]netip.Addr{"a": netip.MustParseAddr("1.2.3.4")}, `{"a":"1.2.3.4"}`, "map"},
	{[]any{nil, true, "x", int64(1), 1.0, new(big.Int).SetUint64(1 << 63), []any{}, map[string]any{"k": nil}},
		`[null,true,"x",1,1.0,9223372036854775808,[],{"k":null}]`, "list"},
	{raw{[]byte(`{"a":[1.0]}`), wire.JSON}, `{"a":[1.0]}`, "any"}, {[]raw{{[]byte(`null`), wire.JSON}}, `[null]`, "list"},
	{custom{7}, `[7]`, "any"}, {map[string]custom{"a": {1}, "b": {2}}, `{"a":[1],"b":[2]}`, "map"}, {[1]*custom{{3}}, `[[3]]`, "list"},
}

// Every type crosses both encodings, reads its own bytes, and says the same in both (ENC-3, ENC-6).
func TestRoundTrip(t *testing.T) {
	codec := withRaw()
	for _, c := range roundTrips {
		of := reflect.TypeOf(c.v)
		if got, err := codec.Type(of); got != c.word || err != nil {
			t.Errorf("%s is %q, %v, want %q", of, got, err, c.word)
		}
		for name, enc := range encodings {
			want := admitted(t, c.text, enc)
			got, _, err := codec.Append([]byte("before"), enc, c.v, limits)
			if err != nil || string(got) != "before"+string(want) {
				t.Errorf("%s %#v: %s: wrote %q, %v, want %q", of, c.v, name, got, err, want)
				continue
			}
			if _, _, err := scan.Value(want, enc, scan.Limits(limits)); err != nil {
				t.Errorf("%s: %s: %v", of, name, err)
			}
			into := reflect.New(of)
			if err := codec.Decode(want, enc, into.Interface()); err != nil {
				t.Errorf("%s: %s: %v", of, name, err)
				continue
			}
			clear(want) // what was decoded owns everything it holds
			again, _, err := codec.Append(nil, enc, into.Elem().Interface(), limits)
			if want := admitted(t, c.text, enc); err != nil || string(again) != string(want) {
				t.Errorf("%s: %s: came back as %q, %v, want %q", of, name, again, err, want)
			}
			if c.word != "any" && !strings.Contains(of.String(), "raw") && !strings.Contains(of.String(), "Untagged") && !reflect.DeepEqual(into.Elem().Interface(), c.v) {
				t.Errorf("%s: %s: got %#v, want %#v", of, name, into.Elem(), c.v)
			}
		}
	}
}

// nil is [] and {}, never null, where the type is a list or map.
func TestNil(t *testing.T) {
	in := struct {
		L []int
		M map[string]int
		P *[]int
		A any
	}{}
	for name, enc := range encodings {
		got, _, err := withRaw().Append(nil, enc, in, limits)
		if want := admitted(t, `{"L":[],"M":{},"P":null,"A":null}`, enc); err != nil || string(got) != string(want) {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

// Names match by case, in any order, with or without space, and escaped (SHAPE-7).
func TestMemberNames(t *testing.T) {
	type row struct {
		A int `json:"a"`
		B int `json:"b"`
		C int `json:"c"`
	}
	for _, text := range []string{
		`{"a":1,"b":2,"c":3}`, `{"c":3,"b":2,"a":1}`, `{ "a" : 1 , "b" : 2 , "c" : 3 }`, `{"\u0061":1,"x":[{"a":9}],"b":2,"A":9,"c":3,"B":9}`,
		`{"b":2,"c":3,"a":1}`,
	} {
		for name, enc := range encodings {
			b := []byte(text) // JSON as it stands, space and all
			if enc == wire.CBOR {
				b = admitted(t, text, enc)
			}
			var got row
			if err := withRaw().Decode(b, enc, &got); err != nil || got != (row{1, 2, 3}) {
				t.Errorf("%s: %s: got %v, %v", name, text, got, err)
			}
		}
	}
	indefinite := []byte("\xbf\x61c\x18\x03\x7f\x61a\xff\x01\x78\x01b\x19\x00\x02\xff") // long heads, a chunked name
	var got row
	if err := withRaw().Decode(indefinite, wire.CBOR, &got); err != nil || got != (row{1, 2, 3}) {
		t.Errorf("got %v, %v", got, err)
	}
}

// What stood there before is gone, and rows that use a slice again do not change rows that were given out.
func TestNothingIsLeft(t *testing.T) {
	codec := withRaw()
	type row struct {
		N *big.Int
		B big.Int
		T []string
		M map[string]int
		P *base
	}
	var rows []row
	full := `[{"N":1,"B":99999999999999999999,"T":["a","b"],"M":{"a":1},"P":{"id":1}},{"N":2,"B":2,"T":["c"],"M":{},"P":null}]`
	for _, enc := range encodings {
		if err := codec.DecodeList(admitted(t, full, enc), enc, 2, &rows); err != nil {
			t.Fatal(err)
		}
		kept, first := rows[0], &rows[0]
		if err := codec.DecodeList(admitted(t, `[{"N":7,"B":88888888888888888888,"T":["z"]},{}]`, enc), enc, 2, &rows); err != nil {
			t.Fatal(err)
		}
		if &rows[0] != first || rows[0].M != nil || rows[0].P != nil || !reflect.DeepEqual(rows[1], row{}) {
			t.Errorf("got %v", rows)
		}
		if kept.N.String() != "1" || kept.B.String() != "99999999999999999999" || kept.T[0] != "a" || kept.M["a"] != 1 || kept.P.ID != 1 {
			t.Errorf("a row that was given out became %v", kept)
		}
	}
	one := row{M: map[string]int{"old": 1}}
	if err := codec.Decode([]byte(`{}`), wire.JSON, &one); err != nil || one.M != nil {
		t.Errorf("got %v, %v", one, err)
	}
	if err := codec.DecodeList([]byte(full), wire.JSON, 1, &rows); err != nil || len(rows) != 1 {
		t.Errorf("the first of two: %v, %v", rows, err)
	}
	err := codec.DecodeList([]byte(`[{},{"T":[1]}]`), wire.JSON, 2, &rows)
	if err == nil || err.Error() != "[1].T[0] is 1 and text is taken" {
		t.Errorf("got %v", err)
	}
}

// Many strings of a list are cut from the same copies and stay themselves.
func TestTextsOfAList(t *testing.T) {
	want := make([]string, 5000)
	for i := range want {
		want[i] = strings.Repeat(string(rune('a'+i%26)), i%1500)
	}
	for name, enc := range encodings {
		b, items, err := withRaw().AppendList(nil, enc, want, limits)
		if err != nil || items != len(want) {
			t.Fatal(items, err)
		}
		var got []string
		if err := withRaw().DecodeList(b, enc, len(want), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the texts are others, %v", name, err)
		}
	}
}

// Plans are made and used by many goroutines at once, and encoding leaves the value alone.
func TestConcurrent(t *testing.T) {
	codec := withRaw()
	in := []any{tree{[]*tree{{}}}, &chain{&chain{}}, Outer{}, options{}, lists{{}}, map[string]any{"a": []int{1}}}
	want, _, err := withRaw().Append(nil, wire.CBOR, in, limits)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			var back any
			got, _, err := codec.Append(nil, wire.CBOR, in, limits)
			if err != nil || string(got) != string(want) || codec.Decode(got, wire.CBOR, &back) != nil {
				t.Errorf("got %x, %v", got, err)
			}
		})
	}
	all.Wait()
}
