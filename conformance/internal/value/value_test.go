package value

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// TestRefused has each thing that ENC-4 and ENC-5 refuse be refused, at the place where it stands.
func TestRefused(t *testing.T) {
	deep := func(open, close string, n int) string { return strings.Repeat(open, n) + strings.Repeat(close, n) }
	for _, c := range []struct {
		enc    Encoding
		in     string
		offset int
	}{
		{JSON, `{"a":1,"\u0061":2}`, 7}, {JSON, `["` + "\xff" + `"]`, 2}, {JSON, `["\ud800"]`, 2}, {JSON, `["\udc00\ud800"]`, 2},
		{JSON, `[1e400]`, 1}, {JSON, `[1e-400]`, 1}, {JSON, `[01]`, 1}, {JSON, `[1,]`, 3}, {JSON, `{"a":1,}`, 7}, {JSON, `[1] x`, 4},
		{JSON, `["` + "\n" + `"]`, 2}, {JSON, `[NaN]`, 1}, {JSON, ``, 0}, {JSON, `{"a" 1}`, 5}, {JSON, `["\x"]`, 2}, {JSON, `[1 2]`, 3},
		{JSON, deep("[", "]", 65), 64}, {JSON, "[1" + strings.Repeat("0", 309) + "]", 1}, {JSON, `"`, 1},
		{CBOR, "a261610161610200", 4}, {CBOR, "41ff", 0}, {CBOR, "f7", 0}, {CBOR, "e0", 0}, {CBOR, "c100", 0}, {CBOR, "a10102", 1}, {CBOR, "61ff", 0},
		{CBOR, "7f61c361a9ff", 1}, {CBOR, "f97e00", 0}, {CBOR, "fb7ff0000000000000", 0}, {CBOR, "9a7fffffff", 5}, {CBOR, "7bffffffffffffffff", 9},
		{CBOR, "0000", 1}, {CBOR, "1c", 0}, {CBOR, "ff", 0}, {CBOR, strings.Repeat("81", 65) + "00", 65}, {CBOR, "c25881" + strings.Repeat("ff", 129), 0},
	} {
		b := []byte(c.in)
		if c.enc == CBOR {
			b, _ = hex.DecodeString(c.in)
		}
		_, err := Read(b, c.enc, Default)
		if e, is := err.(*Error); !is || e.Offset != c.offset {
			t.Errorf("%v %.40q: %v, and not an error at %d", c.enc, c.in, err, c.offset)
		}
	}
}

// TestLoose has what is taken and never written be told: space, long heads, indefinite lengths.
func TestLoose(t *testing.T) {
	for _, c := range []struct {
		enc   Encoding
		in    string
		loose int
	}{
		{JSON, `{"a":[1,2.5,"x y"]}`, 0}, {JSON, `{"a": 1}`, 1}, {JSON, ` [1]`, 1}, {JSON, "[1]\n", 1},
		{CBOR, "a16161820102", 0}, {CBOR, "1801", 1}, {CBOR, "190001", 1}, {CBOR, "7f61616162ff", 1}, {CBOR, "9f01ff", 1}, {CBOR, "bf616101ff", 1},
		{CBOR, "f93c00", 0}, {CBOR, "fa3f800000", 1}, {CBOR, "fb3ff0000000000000", 1}, {CBOR, "fa47c35000", 0}, {CBOR, "c24101", 1}, {CBOR, "fb3ff199999999999a", 0},
	} {
		b := []byte(c.in)
		if c.enc == CBOR {
			b, _ = hex.DecodeString(c.in)
		}
		doc, err := Read(b, c.enc, Default)
		if err != nil || len(doc.Loose) != c.loose {
			t.Errorf("%v %s: loose %q, %v", c.enc, c.in, doc.Loose, err)
		}
	}
}

// TestFirst has the first name be known of what cannot be read, too.
func TestFirst(t *testing.T) {
	for in, want := range map[string]string{`{"event":`: "event", `{"\u0065vent":1,"event":2}`: "event", `{"a":1,"event":`: "a", `{"eve`: "", `["event"`: ""} {
		if doc, err := Read([]byte(in), JSON, Default); err == nil || doc.First != want {
			t.Errorf("%s begins with %q, %v", in, doc.First, err)
		}
	}
}

// FuzzAgain has what was read be written in both encodings, strictly, and read as the same; and what is taken as JSON be
// JSON to the standard library too.
func FuzzAgain(f *testing.F) {
	for _, s := range []string{`{"a":[null,true,-0,1.0,18446744073709551616,"\ud83d\ude00\n\"","",{}]}`, `[5e-324,1e308,65504,65505,0.5,1e-7,-1]`, `"` + "\x7f" + `"`} {
		f.Add([]byte(s), false)
		doc, err := Read([]byte(s), JSON, Default)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(Append(nil, CBOR, doc.Value), true)
	}
	f.Fuzz(func(t *testing.T, b []byte, isCBOR bool) {
		enc := JSON
		if isCBOR {
			enc = CBOR
		}
		doc, err := Read(b, enc, Default)
		if err != nil {
			return
		}
		if enc == JSON && !json.Valid(b) {
			t.Fatalf("%q is taken and is no JSON", b)
		}
		for _, to := range []Encoding{JSON, CBOR} {
			out := Append(nil, to, doc.Value)
			back, err := Read(out, to, Default)
			if err != nil || len(back.Loose) > 0 || !Equal(doc.Value, back.Value) {
				t.Fatalf("%x, written in %v as %x, is read with %v, loose %q", b, to, out, err, back.Loose)
			}
		}
	})
}

// TestHalf has binary16, of all sizes, be the number that it is.
func TestHalf(t *testing.T) {
	for b := 0; b < 1<<16; b += 61 {
		h := half(uint16(b))
		if math.IsNaN(h) || math.IsInf(h, 0) {
			continue
		}
		if !isHalf(h) || len(Append(nil, CBOR, Value{Kind: Float, Float: h})) != 3 {
			t.Errorf("%04x, %v, is no half", b, h)
		}
	}
	if half(0x3c00) != 1 || half(0xfbff) != -65504 || half(0x0001) != math.Ldexp(1, -24) {
		t.Error("1, -65504 and 2^-24 are not themselves")
	}
}
