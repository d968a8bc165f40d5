package scan

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// forms are values in a form that is allowed, and in ours, in both encodings (CBOR in hex).
var forms = []struct {
	rule, json, ourJSON, cbor, ourCBOR string
}{
	{"ENC-4 space", " [ 1 , { \"a\" : null } ]\n", `[1,{"a":null}]`, "9f01bf6161f6ffff", "8201a16161f6"},
	{"ENC-4 escapes", `"\u0041\u00e9\/\u2028"`, "\"Aé/\u2028\"", "7f6141 63c3a92f 63e280a8 ff", "67 41c3a92fe280a8"},
	{"ENC-4 escapes that stay", `"\"\\\u000A\u000d\u0009\u0008\u000C\u001F\u007f"`, `"\"\\\n\r\t\b\f\u001f` + "\x7f\"", "7809 225c0a0d09080c1f7f",
		"69 225c0a0d09080c1f7f"},
	{"ENC-4 escapes of both forms", `["\n\ta\"\\b\/\n","\n\u000a\t","\t\t\t",""]`, `["\n\ta\"\\b/\n","\n\n\t","\t\t\t",""]`,
		"84 78 08 0a0961225c622f0a 63 0a0a09 63 090909 60", "84 68 0a0961225c622f0a 63 0a0a09 63 090909 60"},
	{"ENC-4 HTML", `"<>&"`, `"<>&"`, "63 3c3e26", "63 3c3e26"},
	{"ENC-4 surrogates", `"\ud83d\uDE00"`, `"😀"`, "7a00000004 f09f9880", "64 f09f9880"},
	{"ENC-4 escaped key", `{"\u0061\n":1}`, `{"a\n":1}`, "a1 7f 6161 610a ff 01", "a1 62610a 01"},
	{"ENC-4 order", `{"b":1,"a":2,"":3}`, `{"b":1,"a":2,"":3}`, "b803 6162 01 6161 02 60 03", "a3 6162 01 6161 02 60 03"},
	{"ENC-4 integers", `[0,23,24,255,256,65536,4294967296]`, `[0,23,24,255,256,65536,4294967296]`,
		"87 1800 1817 190018 1a000000ff 1b0000000000000100 1b0000000000010000 1b0000000100000000",
		"87 00 17 1818 18ff 190100 1a00010000 1b0000000100000000"},
	{"ENC-4 2^53+1", `9007199254740993`, `9007199254740993`, "1b0020000000000001", "1b0020000000000001"},
	{"ENC-4 2^63", `9223372036854775808`, `9223372036854775808`, "c2488000000000000000", "1b8000000000000000"},
	{"ENC-4 2^64-1", `18446744073709551615`, `18446744073709551615`, "c2 5f 4400000000 48ffffffffffffffff ff", "1bffffffffffffffff"},
	{"ENC-4 2^64", `18446744073709551616`, `18446744073709551616`, "c2 4a 00010000000000000000", "c2 49 010000000000000000"},
	{"ENC-4 -2^64", `-18446744073709551616`, `-18446744073709551616`, "c3 48 ffffffffffffffff", "3bffffffffffffffff"},
	{"ENC-4 -2^64-1", `-18446744073709551617`, `-18446744073709551617`, "d803 5809 010000000000000000", "c3 49 010000000000000000"},
	{"ENC-4 small bignum", `5`, `5`, "c24105", "05"},
	{"ENC-4 empty bignum", `-1`, `-1`, "c340", "20"},
	{"ENC-4 1 and 1.0", `[1,1.0,1e0,1E2,1.50]`, `[1,1.0,1.0,100.0,1.5]`,
		"85 01 fb3ff0000000000000 fa3f800000 fb4059000000000000 fa3fc00000", "85 01 f93c00 f93c00 f95640 f93e00"},
	{"ENC-4 -0.0", `[-0,-0.0,0.0,-0e9]`, `[-0.0,-0.0,0.0,-0.0]`, "84 fb8000000000000000 fa80000000 f90000 f98000", "84 f98000 f98000 f90000 f98000"},
	{"ENC-3 floats", `[0.1,100000.0,1e300,5e-324]`, `[0.1,100000.0,1e+300,5e-324]`,
		"84 fb3fb999999999999a fb40f86a0000000000 fb7e37e43c8800759c fb0000000000000001",
		"84 fb3fb999999999999a fa47c35000 fb7e37e43c8800759c fb0000000000000001"},
	{"ENC-4 more digits than a binary64", `1.000000000000000005`, `1.0`, "f93c00", "f93c00"},
	{"ENC-3 23 elements", list(23), list(23), "9f" + zeros(23) + "ff", "97" + zeros(23)},
	{"ENC-3 24 elements", list(24), list(24), "9f" + zeros(24) + "ff", "9818" + zeros(24)},
	{"ENC-3 256 elements", list(256), list(256), "9f" + zeros(256) + "ff", "990100" + zeros(256)},
	{"ENC-3 65536 elements", list(65536), list(65536), "9f" + zeros(65536) + "ff", "9a00010000" + zeros(65536)},
	{"ENC-3 long lists in long lists", "[" + strings.Repeat(list(24)+",", 299) + list(300) + "]",
		"[" + strings.Repeat(list(24)+",", 299) + list(300) + "]",
		"9f" + strings.Repeat("9f"+zeros(24)+"ff", 299) + "9b000000000000012c" + zeros(300) + "ff",
		"99012c" + strings.Repeat("9818"+zeros(24), 299) + "99012c" + zeros(300)},
	{"words", `[true,false,null,"",[],{}]`, `[true,false,null,"",[],{}]`, "86 f5 f4 f6 7fff 9fff bfff", "86 f5 f4 f6 60 80 a0"},
}

func list(n int) string  { return "[" + strings.Repeat("0,", n-1) + "0]" }
func zeros(n int) string { return strings.Repeat("00", n) }

func TestAppend(t *testing.T) {
	for _, f := range forms {
		inputs := map[wire.Encoding][]byte{wire.JSON: []byte(f.json), wire.CBOR: fromHex(t, f.cbor)}
		ours := map[wire.Encoding][]byte{wire.JSON: []byte(f.ourJSON), wire.CBOR: fromHex(t, f.ourCBOR)}
		for from, b := range inputs {
			if !admitted(b, from) {
				t.Errorf("%s: %.80q is not admitted", f.rule, b)
				continue
			}
			for to, want := range ours {
				if got := Append([]byte("x"), to, b, from); string(got) != "x"+string(want) {
					t.Errorf("%s: %.80q from %d to %d: %.80q, want %.80q", f.rule, b, from, to, got[1:], want)
				}
			}
		}
	}
}

// ENC-4, and the job's own example: nothing is lost on the way to the other encoding and back.
func TestNothingIsLost(t *testing.T) {
	digits := strings.Repeat("1234567890", 30)
	text := fmt.Sprintf(`[9007199254740993,18446744073709551615,-0.0,1.0,1,"%s<>&",%s,-%s]`, "\u2028", digits, digits)
	there := Append(nil, wire.CBOR, []byte(text), wire.JSON)
	if back := Append(nil, wire.JSON, there, wire.CBOR); string(back) != text {
		t.Errorf("ENC-4: %s came back as %s", text, back)
	}
}

// The bytes given are only read.
func TestAppendLeavesItsSourceAlone(t *testing.T) {
	js, cs := allSeeds(t)
	for enc, all := range [][][]byte{wire.JSON: js, wire.CBOR: cs} {
		for _, b := range all {
			if !admitted(b, wire.Encoding(enc)) {
				continue
			}
			before := bytes.Clone(b)
			for to := range wire.Encoding(2) {
				Append(nil, to, b, wire.Encoding(enc))
			}
			if !bytes.Equal(b, before) {
				t.Errorf("%q has become %q", before, b)
			}
		}
	}
}

// Long lists nested in long lists take time in proportion to the bytes, as the same elements in one list do. Moving the content
// of each level for its head would move 11 GB here.
func TestAppendIsLinear(t *testing.T) {
	const depth = 30_000
	elements := strings.Repeat("0,", 24)
	flat := []byte("[" + strings.Repeat(elements, depth) + "0]")
	text := []byte(strings.Repeat("["+elements, depth) + "0" + strings.Repeat("]", depth))
	begin := time.Now()
	Append(nil, wire.CBOR, flat, wire.JSON)
	flatTook := time.Since(begin)
	begin = time.Now()
	b := Append(nil, wire.CBOR, text, wire.JSON)
	if took := time.Since(begin); took > 8*flatTook+time.Second/4 {
		t.Errorf("%d bytes took %v, and flat %v", len(text), took, flatTook)
	}
	if want := depth*(2+24) + 1; len(b) != want {
		t.Errorf("%d bytes, want %d", len(b), want)
	}
	if back := Append(nil, wire.JSON, b, wire.CBOR); !bytes.Equal(back, text) {
		t.Error("what came back is something else")
	}
}

func TestAppendAllocatesNothing(t *testing.T) {
	text := []byte(`{"call":"note","args":["some text",["a\n","b"],{"x":1.5,"y":[{"a":1},{"a":-2}]}]}`)
	dst := make([]byte, 0, 1<<10)
	for from := range wire.Encoding(2) {
		b := Append(nil, from, text, wire.JSON)
		for to := range wire.Encoding(2) {
			if n := testing.AllocsPerRun(200, func() { Append(dst, to, b, from) }); n >= 1 && !raceEnabled {
				t.Errorf("from %d to %d: %v allocations", from, to, n)
			}
		}
	}
}
