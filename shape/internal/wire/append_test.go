package wire

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fxamacker/cbor/v2"
)

// oracle encodes CBOR as ENC-3 has it: shortest heads, shortest floats, shortest integers.
var oracle = func() cbor.EncMode {
	m, err := cbor.EncOptions{
		ShortestFloat: cbor.ShortestFloat16, BigIntConvert: cbor.BigIntConvertShortest,
		NaNConvert: cbor.NaNConvertReject, InfConvert: cbor.InfConvertReject,
	}.EncMode()
	if err != nil {
		panic(err)
	}
	return m
}()

func mustMarshal(t *testing.T, v any) []byte {
	t.Helper()
	b, err := oracle.Marshal(v)
	if err != nil {
		t.Fatalf("oracle: %v: %v", v, err)
	}
	return b
}

// ENC-4: a float in JSON has the fewest digits that read back to it, and '.' or an exponent.
func TestAppendFloatJSON(t *testing.T) {
	for v, want := range map[float64]string{
		1: "1.0", -1: "-1.0", 0: "0.0", 1.5: "1.5", 100: "100.0", 1e20: "100000000000000000000.0", 1e21: "1e+21",
		1e-6: "0.000001", 1e-7: "1e-7", 1.25e-10: "1.25e-10", -2.5e-9: "-2.5e-9", 1e300: "1e+300", 5e-324: "5e-324",
		0.1: "0.1", math.MaxFloat64: "1.7976931348623157e+308", 1 << 53: "9007199254740992.0", 1e22: "1e+22", 1e-307: "1e-307",
		float64(float32(0.1)): "0.10000000149011612",
	} {
		if got := string(AppendFloat(nil, JSON, v)); got != want {
			t.Errorf("ENC-4: %g is written %s, want %s", v, got, want)
		}
	}
	if got := string(AppendFloat(nil, JSON, math.Copysign(0, -1))); got != "-0.0" {
		t.Errorf("ENC-4: -0.0 is written %s", got)
	}
}

func TestAppendFloatReadsBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		v := math.Float64frombits(r.Uint64())
		if r.IntN(4) == 0 {
			v = math.Round(v)
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		text := AppendFloat(nil, JSON, v)
		if !bytes.ContainsAny(text, ".eE") || !json.Valid(text) {
			t.Fatalf("%v is written %s", v, text)
		}
		for _, enc := range []Encoding{JSON, CBOR} {
			c := Cursor{B: AppendFloat(nil, enc, v), Enc: enc}
			if got := c.Number(); !got.IsFloat || math.Float64bits(got.Float) != math.Float64bits(v) || len(c.B) != 0 {
				t.Fatalf("encoding %d: %v reads back as %+v", enc, v, got)
			}
		}
	}
}

// ENC-3: each binary16 value is written as itself, and reads back as itself.
func TestEveryHalf(t *testing.T) {
	for h := 0; h < 1<<16; h++ {
		if h>>10&0x1f == 0x1f { // NaN and infinities are in no value
			continue
		}
		b := []byte{cborF16, byte(h >> 8), byte(h)}
		c := Cursor{B: b, Enc: CBOR}
		v := c.Number()
		var want float32
		if err := cbor.Unmarshal(b, &want); err != nil || float64(want) != v.Float || math.Signbit(float64(want)) != math.Signbit(v.Float) {
			t.Fatalf("%x reads as %v, the oracle's %v (%v)", b, v.Float, want, err)
		}
		if got := AppendFloat(nil, CBOR, v.Float); !bytes.Equal(got, b) {
			t.Fatalf("ENC-3: %v is written %x, want %x", v.Float, got, b)
		}
	}
}

// ENC-3: the first of f9, fa and fb that holds the value, as the oracle has it.
func TestShortestFloat(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	check := func(v float64) {
		if got, want := AppendFloat(nil, CBOR, v), mustMarshal(t, v); !bytes.Equal(got, want) {
			t.Fatalf("ENC-3: %v (%x) is written %x, want %x", v, math.Float64bits(v), got, want)
		}
	}
	for exp := -1074; exp <= 1023; exp++ {
		for _, m := range []float64{1, 1.5, 1 + 1.0/1024, 1 + 1.0/2048, 1 + 1.0/(1<<23), 1 + 1.0/(1<<24), 1 + 1.0/(1<<52)} {
			check(math.Ldexp(m, exp))
			check(-math.Ldexp(m, exp))
		}
	}
	for range 100_000 {
		if v := float64(math.Float32frombits(r.Uint32())); !math.IsNaN(v) && !math.IsInf(v, 0) {
			check(v)
		}
		if v := math.Float64frombits(r.Uint64()); !math.IsNaN(v) && !math.IsInf(v, 0) {
			check(v)
		}
	}
}

// integers are the places where a head or a kind of integer ends.
func integers() (all []*big.Int) {
	for _, bits := range []uint{0, 4, 8, 16, 32, 53, 62, 63, 64, 65, 127, 128, 1023, 1024} {
		power := new(big.Int).Lsh(big.NewInt(1), bits)
		for d := int64(-2); d <= 2; d++ {
			v := new(big.Int).Add(power, big.NewInt(d))
			all = append(all, v, new(big.Int).Neg(v))
		}
	}
	for v := int64(-30); v <= 30; v++ {
		all = append(all, big.NewInt(v), big.NewInt(v*10))
	}
	return all
}

// ENC-3, ENC-4: every integer is exact in both encodings, and in CBOR the shortest.
func TestIntegers(t *testing.T) {
	for _, v := range integers() {
		for _, enc := range []Encoding{JSON, CBOR} {
			b := AppendBig(nil, enc, v)
			want := []byte(v.String())
			if enc == CBOR {
				want = mustMarshal(t, v)
			}
			if !bytes.Equal(b, want) {
				t.Fatalf("%v is written %x, want %x", v, b, want)
			}
			if v.IsInt64() {
				if got := AppendInt(nil, enc, v.Int64()); !bytes.Equal(got, want) {
					t.Fatalf("int %v is written %x, want %x", v, got, want)
				}
			}
			if v.IsUint64() {
				if got := AppendUint(nil, enc, v.Uint64()); !bytes.Equal(got, want) {
					t.Fatalf("uint %v is written %x, want %x", v, got, want)
				}
			}
			checkInteger(t, Cursor{B: append(b, ',', '1'), Enc: enc}, v, 2)
		}
	}
}

// checkInteger reads an integer, with a number of bytes left behind it.
func checkInteger(t *testing.T, c Cursor, want *big.Int, left int) {
	t.Helper()
	if kind := c.Kind(); kind != Int {
		t.Fatalf("%v is %s", want, kind)
	}
	got := c.Number()
	if got.IsFloat || len(c.B) != left {
		t.Fatalf("%v: %+v, %d bytes left", want, got, len(c.B))
	}
	if isBig := !want.IsInt64(); isBig != (got.Big != nil) {
		t.Fatalf("ENC-6: %v: big %t", want, got.Big != nil)
	}
	v := got.Big
	if v == nil {
		v = big.NewInt(got.Int)
	}
	if v.Cmp(want) != 0 {
		t.Fatalf("%v reads as %v", want, v)
	}
}

// ENC-3: a head is never longer than it must be.
func TestAppendHead(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "a0", 23: "b7", 24: "b818", 255: "b8ff", 256: "b90100", 65535: "b9ffff", 65536: "ba00010000", 1<<32 - 1: "baffffffff",
		1 << 32: "bb0000000100000000", 1<<64 - 1: "bbffffffffffffffff",
	} {
		if got := hex.EncodeToString(AppendHead(nil, MajorMap, n)); got != want {
			t.Errorf("ENC-3: head of %d is %s, want %s", n, got, want)
		}
	}
}

// ENC-4: JSON escapes '"', '\' and controls, and nothing else.
func TestAppendText(t *testing.T) {
	for s, want := range map[string]string{
		"":                        `""`,
		"plain":                   `"plain"`,
		"a\"b\\c":                 `"a\"b\\c"`,
		"\n\r\t\b\f":              `"\n\r\t\b\f"`,
		"\x00\x1f\x7f":            "\"\\u0000\\u001f\x7f\"",
		"<>&\u2028\u2029\ufeff/'": "\"<>&\u2028\u2029\ufeff/'\"",
		"0123456é\n89ü":           `"0123456é\n89ü"`,
	} {
		if got := string(AppendText(nil, JSON, s)); got != want {
			t.Errorf("ENC-4: %q is written %s, want %s", s, got, want)
		}
		if got := string(AppendText(nil, JSON, []byte(s))); got != want {
			t.Errorf("ENC-4: %q as bytes is written %s, want %s", s, got, want)
		}
	}
	for n := range 40 { // each control at each place of a word
		for c := byte(0); c < 0x80; c++ {
			s := strings.Repeat("x", n) + string(rune(c)) + "é tail of some length"
			var back string
			if b := AppendText(nil, JSON, s); json.Unmarshal(b, &back) != nil || back != s {
				t.Fatalf("%q is written %s", s, b)
			}
		}
	}
}

func TestTextStop(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	alphabet := []byte("abcdefgh \"\\\x1f\x00\x7f\x80\xff\xa2\xdc!#[]")
	for range 100_000 {
		b := make([]byte, r.IntN(40))
		for i := range b {
			b[i] = alphabet[r.IntN(8)]
			if r.IntN(12) == 0 {
				b[i] = alphabet[r.IntN(len(alphabet))]
			}
		}
		from := 0
		if len(b) > 0 {
			from = r.IntN(len(b))
		}
		stop, plain := len(b), len(b)
		for i := len(b) - 1; i >= from; i-- {
			if b[i] == '"' || b[i] == '\\' || b[i] < ' ' {
				stop, plain = i, i
			} else if b[i] >= utf8.RuneSelf {
				plain = i
			}
		}
		if got := TextStop(b, from); got != stop {
			t.Fatalf("TextStop(%q, %d) = %d, want %d", b, from, got, stop)
		}
		if got := TextStop(string(b), from); got != stop {
			t.Fatalf("TextStop of a string(%q, %d) = %d, want %d", b, from, got, stop)
		}
		if got := PlainStop(b, from); got != plain {
			t.Fatalf("PlainStop(%q, %d) = %d, want %d", b, from, got, plain)
		}
	}
}

// In a long text, of which more is looked at at once, every byte value is found wherever it stands.
func TestLongPlain(t *testing.T) {
	b := bytes.Repeat([]byte("x"), longText+2*block+longText/2)
	for value := range 256 {
		plain := value >= ' ' && value < utf8.RuneSelf && value != '"' && value != '\\'
		for at := value % 7; at < len(b); at += 61 {
			b[at] = byte(value)
			for _, from := range []int{0, at / 2, at} {
				want := at
				if plain {
					want = len(b)
				}
				if got := PlainStop(b, from); got != want {
					t.Fatalf("PlainStop, %#x at %d, from %d: %d, want %d", value, at, from, got, want)
				}
				if got := PlainStop(string(b), from); got != want {
					t.Fatalf("PlainStop of a string, %#x at %d, from %d: %d, want %d", value, at, from, got, want)
				}
			}
			b[at] = 'x'
		}
	}
}

// A list and a map, written in both encodings by the same calls.
func TestListsAndMaps(t *testing.T) {
	write := func(enc Encoding) []byte {
		dst := AppendMapOpen(nil, enc, 2)
		dst = AppendKey(AppendSep(dst, enc, 0), enc, "a")
		dst = AppendListOpen(dst, enc, 3)
		dst = AppendNull(AppendSep(dst, enc, 0), enc)
		dst = AppendBool(AppendSep(dst, enc, 1), enc, true)
		dst = AppendBool(AppendSep(dst, enc, 2), enc, false)
		dst = AppendListClose(dst, enc)
		dst = AppendKey(AppendSep(dst, enc, 1), enc, []byte("b"))
		dst = AppendMapClose(AppendMapOpen(dst, enc, 0), enc)
		return AppendMapClose(dst, enc)
	}
	if got := string(write(JSON)); got != `{"a":[null,true,false],"b":{}}` {
		t.Errorf("JSON: %s", got)
	}
	if got := hex.EncodeToString(write(CBOR)); got != "a2616183f6f5f46162a0" {
		t.Errorf("CBOR: %s", got)
	}
}

// ENC-5: an error text quotes at most 64 bytes, whole runes, controls escaped.
func TestQuote(t *testing.T) {
	for s, want := range map[string]string{
		"":                              "",
		"plain é":                       "plain é",
		"a\x00\n\x7f":                   `a\x00\n\x7f`,
		"bad \xff\xc0":                  `bad \xff\xc0`,
		"\u202eover":                    `\u202eover`,
		strings.Repeat("a", 64):         strings.Repeat("a", 64),
		strings.Repeat("a", 65):         strings.Repeat("a", 64) + "…",
		strings.Repeat("a", 63) + "é":   strings.Repeat("a", 63) + "…",
		strings.Repeat("a", 61) + "😀":   strings.Repeat("a", 61) + "…",
		strings.Repeat("\x80", 70):      strings.Repeat(`\x80`, 60) + "…",
		strings.Repeat("a", 60) + "😀zz": strings.Repeat("a", 60) + "😀…",
	} {
		if got := Quote(s); got != want {
			t.Errorf("ENC-5: Quote(%s) = %s, want %s", strconv.Quote(s), got, want)
		}
		if got := Quote([]byte(s)); got != want {
			t.Errorf("ENC-5: Quote of bytes(%s) = %s, want %s", strconv.Quote(s), got, want)
		}
	}
}
