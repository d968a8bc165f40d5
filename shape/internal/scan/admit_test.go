package scan

import (
	"bytes"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// decimal is 2^bits + more.
func decimal(bits uint, more int64) string {
	v := new(big.Int).Lsh(big.NewInt(1), bits)
	return v.Add(v, big.NewInt(more)).String()
}

var admittedJSON = []struct {
	rule, text string
	kind       wire.Kind
	n          int
}{
	{"space", " \t\r\n1 \t\r\n", wire.Int, 0},
	{"space inside", "{ \"a\" : [ 1 , 2 ] , \"b\" : { } }\n", wire.Map, 2},
	{"ENC-4 integer", "9007199254740993", wire.Int, 0},
	{"ENC-4 -0", "-0", wire.Float, 0},
	{"ENC-4 0", "0", wire.Int, 0},
	{"ENC-4 1.0", "1.0", wire.Float, 0},
	{"ENC-4 exponent", "1E+2", wire.Float, 0},
	{"ENC-4 largest", "1.7976931348623157e308", wire.Float, 0},
	{"ENC-4 smallest", "5e-324", wire.Float, 0},
	{"ENC-4 zero of any exponent", "0e-99999999999999999999", wire.Float, 0},
	{"ENC-4 zero of many digits", "-0." + strings.Repeat("0", 1000), wire.Float, 0},
	{"ENC-4 long exponent", "0." + strings.Repeat("0", 100_000) + "1e100001", wire.Float, 0},
	{"ENC-4 many digits", "3." + strings.Repeat("1", 5000), wire.Float, 0},
	{"ENC-4 text", `"\u0000\u2028é😀\ud83d\ude00\/\"` + "\u2028\ufeff\U0010ffff\"", wire.Text, 0},
	{"ENC-4 noncharacters", "\"\uffff\ufdd0\"", wire.Text, 0},
	{"names that differ", `{"a":1,"A":2,"":3,"\u0000":4,"\u0000\u0000":5,"é":6,"e\u0301":7}`, wire.Map, 7},
	{"names alike at different depths", `{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}`, wire.Map, 2},
	{"ENC-5 depth", strings.Repeat("[", 64) + strings.Repeat("]", 64), wire.List, 1},
	{"ENC-5 depth, again and again", "[" + strings.Repeat("[[]],", 100) + "[]]", wire.List, 101},
	{"ENC-5 items", "[" + strings.Repeat("0,", 262143) + "0]", wire.List, 262144},
	{"ENC-5 integer", decimal(1024, -1), wire.Int, 0},
	{"ENC-5 negative integer", "-" + decimal(1024, 0), wire.Int, 0},
	{"true", "true", wire.Bool, 0}, {"false", "false", wire.Bool, 0}, {"null", "null", wire.Null, 0},
}

var admittedCBOR = []struct {
	rule, hex string
	kind      wire.Kind
	n         int
}{
	{"ENC-3 indefinite lengths", "bf 7f6161ff 9f01ff 6162 bfff ff", wire.Map, 2},
	{"ENC-3 long heads", "b90002 780161 1b0000000000000001 7a0000000162 9b0000000000000000", wire.Map, 2},
	{"ENC-4 integer", "1b0020000000000001", wire.Int, 0},
	{"ENC-4 2^64-1", "1bffffffffffffffff", wire.Int, 0},
	{"ENC-4 -2^64", "3bffffffffffffffff", wire.Int, 0},
	{"ENC-4 tag 2", "c2 49 010000000000000000", wire.Int, 0},
	{"ENC-4 tag 3", "c3 49 010000000000000000", wire.Int, 0},
	{"ENC-4 small tag 2", "c2 41 05", wire.Int, 0},
	{"ENC-4 empty tag 2", "c2 40", wire.Int, 0},
	{"ENC-4 tag 2 in chunks", "c2 5f 4101 40 420203 ff", wire.Int, 0},
	{"ENC-4 tag 2, long head", "d802 5801 05", wire.Int, 0},
	{"ENC-4 floats", "83 f90001 fa00000001 fb0000000000000001", wire.List, 3},
	{"ENC-4 -0.0", "f98000", wire.Float, 0},
	{"ENC-4 text", "7f 62c3a9 60 64f09f9880 ff", wire.Text, 0},
	{"ENC-5 integer", "c2 5880 " + strings.Repeat("ff", 128), wire.Int, 0},
	{"ENC-5 negative integer", "c3 5880 " + strings.Repeat("ff", 128), wire.Int, 0},
	{"ENC-5 integer behind zeros", "c2 590100 " + strings.Repeat("00", 128) + strings.Repeat("ff", 128), wire.Int, 0},
	{"ENC-5 depth", strings.Repeat("81", 63) + "80", wire.List, 1},
	{"ENC-5 items", "9a00040000" + strings.Repeat("00", 262144), wire.List, 262144},
	{"ENC-5 items, indefinite", "9f" + strings.Repeat("00", 262144) + "ff", wire.List, 262144},
	{"ENC-5 items, in all", "82 9a0003fffe" + strings.Repeat("00", 262142) + "00", wire.List, 2},
	{"names that differ", "a4 6161 01 6141 02 60 03 6100 04", wire.Map, 4},
	{"true", "f5", wire.Bool, 0}, {"false", "f4", wire.Bool, 0}, {"null", "f6", wire.Null, 0}, {"empty", "60", wire.Text, 0},
}

func TestAdmitted(t *testing.T) {
	check := func(rule string, b []byte, enc wire.Encoding, wantKind wire.Kind, wantN int) {
		kind, n, err := Value(b, enc, standard)
		if err != nil || kind != wantKind || n != wantN {
			t.Errorf("%s: %.80q: %s of %d, %v; want %s of %d", rule, b, kind, n, err, wantKind, wantN)
		}
	}
	for _, v := range admittedJSON {
		check(v.rule, []byte(v.text), wire.JSON, v.kind, v.n)
	}
	for _, v := range admittedCBOR {
		check(v.rule, fromHex(t, v.hex), wire.CBOR, v.kind, v.n)
	}
}

// ENC-5: each limit is an option, and the same in both encodings.
func TestLimits(t *testing.T) {
	for _, bits := range []int{1, 3, 8, 31, 63, 64, 65, 100, 1023, 1025, 4096} {
		l := Limits{Depth: 64, Items: 10, IntBits: bits}
		one := new(big.Int).Lsh(big.NewInt(1), uint(bits))
		for more := int64(-3); more <= 3; more++ {
			v := new(big.Int).Add(one, big.NewInt(more))
			for _, v := range []*big.Int{v, new(big.Int).Neg(v)} {
				n := v
				if v.Sign() < 0 {
					n = new(big.Int).Not(v)
				}
				for _, enc := range []wire.Encoding{wire.JSON, wire.CBOR} {
					if _, _, err := Value(wire.AppendBig(nil, enc, v), enc, l); (err == nil) != (n.BitLen() <= bits) {
						t.Errorf("ENC-5: %d bits in encoding %d at a limit of %d: %v", n.BitLen(), enc, bits, err)
					}
				}
			}
		}
	}
	for enc, list := range [][]byte{wire.JSON: []byte(`[[1,2],{"a":3}]`), wire.CBOR: fromHex(t, "82820102a1616103")} {
		for depth := 1; depth < 4; depth++ {
			if _, _, err := Value(list, wire.Encoding(enc), Limits{depth, 10, 64}); (err == nil) != (depth >= 2) {
				t.Errorf("ENC-5: two deep at a limit of %d: %v", depth, err)
			}
		}
		for items := 1; items < 8; items++ {
			if _, _, err := Value(list, wire.Encoding(enc), Limits{64, items, 64}); (err == nil) != (items >= 5) {
				t.Errorf("ENC-5: 5 items at a limit of %d: %v", items, err)
			}
		}
	}
}

// ENC-5: a depth limit of 262,144 needs no such number of stack frames.
func TestVeryDeep(t *testing.T) {
	const depth = 1 << 18
	l := Limits{Depth: depth, Items: depth, IntBits: 64}
	for enc, b := range [][]byte{
		wire.JSON: append(bytes.Repeat([]byte("["), depth), bytes.Repeat([]byte("]"), depth)...),
		wire.CBOR: append(bytes.Repeat([]byte{0x81}, depth-1), 0x80),
	} {
		if _, _, err := Value(b, wire.Encoding(enc), l); err != nil {
			t.Fatal(err)
		}
		for to := range wire.Encoding(2) {
			other := Append(nil, to, b, wire.Encoding(enc))
			if _, _, err := Value(other, to, l); err != nil || len(other) < depth {
				t.Fatalf("encoding %d in encoding %d: %v", enc, to, err)
			}
		}
	}
}

// wideMap writes a map of n members; name gives their names.
func wideMap(enc wire.Encoding, n int, name func(i int) string) []byte {
	b := wire.AppendMapOpen(nil, enc, n)
	for i := range n {
		b = wire.AppendKey(wire.AppendSep(b, enc, i), enc, name(i))
		b = wire.AppendInt(b, enc, 1)
	}
	return wire.AppendMapClose(b, enc)
}

// ENC-4, ENC-5: a duplicate is found wherever it stands in a map of any size, and at the later of the two.
func TestDuplicatesInWideMaps(t *testing.T) {
	for _, n := range []int{2, few, few + 1, few + 2, 31, 32, 33, 64, 65, 200, 1000} {
		for first := 0; first < n-1; first += 1 + n/7 {
			for later := first + 1; later < n; later += 1 + n/5 {
				for _, enc := range []wire.Encoding{wire.JSON, wire.CBOR} {
					name := func(i int) string { return fmt.Sprintf("key number %04d", i) }
					b := wideMap(enc, n, func(i int) string {
						if i == later {
							i = first
						}
						return name(i)
					})
					at := bytes.LastIndex(b, []byte(name(first))) - 1 // of the quote or the head
					_, err := Envelope(b, enc, standard, nil)
					e, ok := err.(*Error)
					if want := "duplicate key \"" + name(first) + "\""; !ok || !strings.Contains(e.Text, want) || e.Offset != at {
						t.Fatalf("%d names, %d and %d alike, encoding %d: %v, want %s at %d", n, first, later, enc, err, want, at)
					}
				}
			}
		}
	}
}

// Names of large maps inside large maps do not get mixed up.
func TestNestedWideMaps(t *testing.T) {
	inner := string(wideMap(wire.JSON, 50, func(i int) string { return fmt.Sprint("\x01", i) }))
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, `,"\u0001%d":%s`, i, inner)
	}
	text := "{" + b.String()[1:] + "}"
	for enc := range wire.Encoding(2) {
		v := Append(nil, enc, []byte(text), wire.JSON)
		if _, _, err := Value(v, enc, standard); err != nil {
			t.Errorf("encoding %d: %v", enc, err)
		}
	}
	twice := strings.Replace(text, `"\u000199"`, `"\u000198"`, 1)
	if _, _, err := Value([]byte(text[:len(text)-1]+`,"\u00010":1}`), wire.JSON, standard); err == nil {
		t.Error("ENC-4: the first name again at the end is admitted")
	}
	if _, _, err := Value([]byte(twice), wire.JSON, standard); err == nil {
		t.Error("ENC-4: a name twice in a row is admitted")
	}
}

// ENC-5: 100,000 names cost no more than n log n, however they are chosen: well under a second where n² would take minutes.
func TestManyNames(t *testing.T) {
	const n = 100_000
	shared := strings.Repeat("x", 100)
	for what, name := range map[string]func(i int) string{
		"rising":        func(i int) string { return fmt.Sprintf("%06d", i) },
		"falling":       func(i int) string { return fmt.Sprintf("%06d", n-i) },
		"alike":         func(i int) string { return fmt.Sprintf("%s%06d", shared, i) },
		"alike, behind": func(i int) string { return fmt.Sprintf("%06d%s", i, shared) },
		"escaped":       func(i int) string { return fmt.Sprintf("\x01%06d", i) },
	} {
		for enc := range wire.Encoding(2) {
			b := wideMap(enc, n, name)
			begin := time.Now()
			if _, _, err := Value(b, enc, standard); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if took := time.Since(begin); took > 5*time.Second {
				t.Errorf("ENC-5: %d names, %s, encoding %d: %v", n, what, enc, took)
			}
		}
	}
}
