package wire

import (
	"bytes"
	"encoding/hex"
	"math"
	"strings"
	"testing"
)

func fromHex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// sample is one value as it may come, and what a cursor makes of it.
type sample struct {
	json, cbor string // cbor in hex
	kind       Kind
}

var samples = []sample{
	{`null`, "f6", Null},
	{`true`, "f5", Bool},
	{`false`, "f4", Bool},
	{`""`, "60", Text},
	{`"a]}\"\\,"`, "7f6161ff", Text},
	{`"\ud83d\ude00"`, "7f64f09f9880 60ff", Text},
	{`0`, "00", Int},
	{`-1`, "20", Int},
	{`9223372036854775808`, "1b8000000000000000", Int},
	{`123456789012345678901234567890`, "c249010000000000000000", Int},
	{`-5`, "c35f4101410240ff", Int},
	{`-0`, "f98000", Float},
	{`1.5`, "fa3fc00000", Float},
	{`1e5`, "fb3ff0000000000000", Float},
	{`1E5`, "f93c00", Float},
	{`[]`, "80", List},
	{`{}`, "a0", Map},
	{`[ 1 , [ "]" , {"a" : [ ] } ] ]`, "8201 82f6 a1616180", List},
	{`[[],[]]`, "9f9f01ff bf6161bf6162f6ff ff ff", List},
	{`{"a":{"}":"{"},"b":[1,2]}`, "b90002 6161 bf617d617bff 6162 9a00000002 0102", Map},
	{`{"a":[{}]}`, "bf7f6161ff 81bf61629f8201 9f03ff ff ff ff", Map},
	{`[[[[1]]]]`, "9f 83 01 9f ff 02 82 9f ff 03 ff", List},
}

func TestKindAndSkip(t *testing.T) {
	for _, o := range samples {
		for enc, b := range [][]byte{JSON: []byte(o.json), CBOR: fromHex(t, o.cbor)} {
			want := b
			tail := "" // what a message may go on with
			if Encoding(enc) == JSON {
				b, tail = append([]byte(" \t\r\n"), b...), " ]"
			}
			c := Cursor{B: append(bytes.Clone(b), tail...), Enc: Encoding(enc)}
			if kind := c.Kind(); kind != o.kind {
				t.Errorf("%s %s: kind %s, want %s", o.json, o.cbor, kind, o.kind)
			}
			if got := c.Skip(); !bytes.Equal(got, want) || string(c.B) != tail {
				t.Errorf("%s %s: skipped %q, left %q", o.json, o.cbor, got, c.B)
			}
		}
	}
}

// What a list has alone is what Skip finds in it.
func TestSole(t *testing.T) {
	for _, o := range samples {
		value := fromHex(t, o.cbor)
		for _, c := range []Cursor{
			{B: []byte("[" + o.json + "]"), Enc: JSON},
			{B: []byte(" [ \t" + o.json + "\r\n ] \n"), Enc: JSON},
			{B: append([]byte{0x81}, value...), Enc: CBOR},
			{B: append([]byte{0x98, 1}, value...), Enc: CBOR},
			{B: append(append([]byte{0x9f}, value...), cborBreak), Enc: CBOR},
		} {
			list, enc := c.B, c.Enc
			it := c.Open()
			sole := c.Sole(it)
			c = Cursor{B: list, Enc: enc}
			it = c.Open()
			if c.Next(&it); !bytes.Equal(sole, c.Skip()) {
				t.Errorf("%q: found %q", list, sole)
			}
		}
	}
}

func TestSkipAllocatesNothing(t *testing.T) {
	for _, o := range samples {
		for enc, b := range [][]byte{JSON: []byte(o.json), CBOR: fromHex(t, o.cbor)} {
			if n := testing.AllocsPerRun(10, func() {
				c := Cursor{B: b, Enc: Encoding(enc)}
				c.Skip()
			}); n != 0 {
				t.Errorf("%s %s: Skip makes %v allocations", o.json, o.cbor, n)
			}
		}
	}
	deep := append(bytes.Repeat([]byte{0x9f}, 64), bytes.Repeat([]byte{cborBreak}, 64)...)
	c := Cursor{B: append(deep, 1), Enc: CBOR}
	if got := c.Skip(); len(got) != 128 || len(c.B) != 1 {
		t.Errorf("64 indefinite lists: skipped %d, left %d", len(got), len(c.B))
	}
}

func TestKindOfNothing(t *testing.T) {
	for _, enc := range []Encoding{JSON, CBOR} {
		c := Cursor{Enc: enc}
		if kind := c.Kind(); kind != None {
			t.Errorf("encoding %d: nothing is %s", enc, kind)
		}
	}
	for _, b := range []byte{0xf7, 0xe0, 0xf8, cborBreak, 0x40} {
		c := Cursor{B: []byte{b}, Enc: CBOR}
		if kind := c.Kind(); kind != None {
			t.Errorf("%#x is %s", b, kind)
		}
	}
}

func TestText(t *testing.T) {
	for _, test := range []struct {
		enc   Encoding
		bytes string
		want  string
		alias bool
	}{
		{JSON, ` "abc",`, "abc", true},
		{JSON, `"0123456789é",`, "0123456789é", true},
		{JSON, `"",`, "", true},
		{JSON, `"\"\\\/\b\f\n\r\t",`, "\"\\/\b\f\n\r\t", false},
		{JSON, `"a\u0041\u00e9\u20AC\uD83D\uDE00z",`, "aAé€😀z", false},
		{JSON, `"\u0000\\",`, "\x00\\", false},
		{CBOR, "\x63abc,", "abc", true},
		{CBOR, "\x78\x03abc,", "abc", true},
		{CBOR, "\x7a\x00\x00\x00\x03abc,", "abc", true},
		{CBOR, "\x7f\x61a\x60\x62bc\xff,", "abc", false},
	} {
		c := Cursor{B: []byte(test.bytes), Enc: test.enc}
		scratch := []byte("kept")
		got, alias := c.Text(scratch)
		if string(got) != test.want || alias != test.alias || string(c.B) != "," || string(scratch) != "kept" {
			t.Errorf("%q: %q, alias %t, left %q", test.bytes, got, alias, c.B)
		}
	}
}

func TestWalk(t *testing.T) {
	for enc, b := range [][]byte{
		JSON: []byte(` { "a" : [ true , false , null ] , "b\u0062" : { } , "c" : 7 } ]`),
		CBOR: fromHex(t, "bf 6161 83f5f4f6 7f61626162ff a0 6163 07 ff 5d"),
	} {
		c := Cursor{B: b, Enc: Encoding(enc)}
		top := c.Open()
		var names []string
		for c.Next(&top) {
			name, _ := c.Key(nil)
			names = append(names, string(name))
			switch c.Kind() {
			case List:
				list := c.Open()
				if !c.Next(&list) || !c.Bool() || !c.Next(&list) || c.Bool() || !c.Next(&list) {
					t.Fatalf("encoding %d: wrong elements", enc)
				}
				c.Null()
				if c.Next(&list) {
					t.Fatalf("encoding %d: a fourth element", enc)
				}
			case Map:
				if inner := c.Open(); c.Next(&inner) {
					t.Fatalf("encoding %d: a member in an empty map", enc)
				}
			default:
				if n := c.Number(); n.Int != 7 {
					t.Fatalf("encoding %d: %+v", enc, n)
				}
			}
		}
		if got := strings.Join(names, " "); got != "a bb c" || strings.TrimSpace(string(c.B)) != "]" {
			t.Errorf("encoding %d: names %q, left %q", enc, got, c.B)
		}
	}
}

func TestIterN(t *testing.T) {
	for b, want := range map[string]int{"\x83": 3, "\xa2": 2, "\x98\x30": 48, "\x9f": -1, "\xbf": -1} {
		c := Cursor{B: []byte(b), Enc: CBOR}
		if it := c.Open(); it.N != want {
			t.Errorf("%x: N %d, want %d", b, it.N, want)
		}
	}
}

// ENC-4: the nearest binary64, whatever the number looks like; strconv alone reads none of the long exponents right.
func TestParseFloat(t *testing.T) {
	zeros := strings.Repeat("0", 200_000)
	for text, want := range map[string]float64{
		"1.5": 1.5, "-2.5e-3": -2.5e-3, "1e308": 1e308, "1e309": math.Inf(1), "-1e400": math.Inf(-1), "1e-999": 0,
		"5e-324": 5e-324, "2e-324": 0, "3e-324": 5e-324,
		"1e0000000000000002":                100,
		"1e-0000000000000002":               0.01,
		"0." + zeros + "1e200001":           1,
		"-0." + zeros + "125E+200003":       -125,
		"1" + zeros + "e-200000":            1,
		"1" + zeros + ".5e-0200000":         1,
		"0e99999999999999999999999":         0,
		"1e99999999999999999999999":         math.Inf(1),
		"1e-99999999999999999999999":        0,
		"0.0e-99999999999999999999999":      0,
		"1.000000000000000005":              1,
		"9007199254740993.0":                9007199254740992,
		"9007199254740993.00000000001e0":    9007199254740994,
		"0." + zeros + "1e-200001":          0,
		"123456789" + zeros + "e-000200002": 1234567.89,
	} {
		if got := ParseFloat([]byte(text)); got != want {
			t.Errorf("%.40s (%d bytes) reads as %v, want %v", text, len(text), got, want)
		}
		if got := ParseFloat([]byte("-0e-12345678")); got != 0 || !math.Signbit(got) {
			t.Errorf("-0e-12345678 reads as %v", got)
		}
	}
}

// A long text ends where a short one would, wherever its quote, its escapes and the blocks it is looked at in stand.
func TestLongTexts(t *testing.T) {
	for _, n := range []int{0, 1, 127, 128, 129, 2047, 2048, 2049, 2176, 5000} {
		for _, tail := range []string{"", `\n`, `\"`, `\\`, `\u0041\"`} {
			plain := strings.Repeat("x", n)
			b := []byte(`"` + plain + tail + plain + `",`)
			c := Cursor{B: b, Enc: JSON}
			text, alias := c.Text(nil)
			want := plain + strings.NewReplacer(`\n`, "\n", `\"`, `"`, `\\`, `\`, `\u0041`, "A").Replace(tail) + plain
			if string(text) != want || alias != (tail == "") || string(c.B) != "," {
				t.Errorf("%d, %q: %d bytes of %d, alias %v, then %q", n, tail, len(text), len(want), alias, c.B)
			}
		}
	}
}
