package scan

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// standard are the limits of ENC-5.
var standard = Limits{Depth: 64, Items: 262144, IntBits: 1024}

func fromHex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// fault is one value with one fault.
type fault struct {
	rule   string
	bytes  string // CBOR in hex
	offset int    // of the fault
	text   string // a part of the error
}

var faultsJSON = []fault{
	{"ENC-4 duplicate", `{"a":1,"a":2}`, 7, `duplicate key "a"`},
	{"ENC-4 duplicate, unescaped", `{"call":1,"\u0063all":2}`, 10, `duplicate key "call"`},
	{"ENC-4 duplicate, both escaped", `{"\u0061":1,"\u0061":2}`, 12, `duplicate key "a"`},
	{"ENC-4 duplicate, surrogates", `{"😀":1,"\ud83d\ude00":2}`, 10, `duplicate key "😀"`},
	{"ENC-4 duplicate, empty", `{"":1,"":2}`, 6, `duplicate key ""`},
	{"ENC-4 duplicate, long", `{"0123456789":1,"0123456780":2,"0123456789":3}`, 31, `duplicate key "0123456789"`},
	{"ENC-4 duplicate, deep", `[[{"x":{"b":0,"a":[{}],"b":1}}]]`, 23, `duplicate key "b"`},
	{"ENC-4 UTF-8", "\"a\xffb\"", 2, "byte 0xff inside a text is not UTF-8"},
	{"ENC-4 UTF-8, overlong", "\"\xc0\xaf\"", 1, "not UTF-8"},
	{"ENC-4 UTF-8, surrogate", "\"ab\xed\xa0\x80\"", 3, "not UTF-8"},
	{"ENC-4 UTF-8, beyond U+10FFFF", "\"\xf4\x90\x80\x80\"", 1, "not UTF-8"},
	{"ENC-4 UTF-8, cut", "\"é\xe2\x82\"", 3, "not UTF-8"},
	{"ENC-4 UTF-8, cut by an escape", "\"\xe2\x82\\u0041\"", 1, "not UTF-8"},
	{"ENC-4 UTF-8, in a key", "{\"a\xff\":1}", 3, "not UTF-8"},
	{"ENC-4 UTF-8, far in", `"0123456789é0123456789` + "\x80\"", 23, "not UTF-8"},
	{"ENC-4 lone surrogate", `"\ud800"`, 1, `"\ud800" is a lone surrogate`},
	{"ENC-4 lone low surrogate", `"ab\uDC00"`, 3, `"\uDC00" is a lone surrogate`},
	{"ENC-4 two high surrogates", `"\ud800\ud800"`, 1, "lone surrogate"},
	{"ENC-4 surrogate and no escape", `"\ud800nu0041"`, 1, "lone surrogate"},
	{"ENC-4 lone surrogate in a key", `{"\udead":1}`, 2, "lone surrogate"},
	{"ENC-4 NaN", `[1,NaN]`, 3, "a number is finite"},
	{"ENC-4 Infinity", `{"a":Infinity}`, 5, "a number is finite"},
	{"ENC-4 -Infinity", `-Infinity`, 1, "'I' after '-'"},
	{"ENC-4 1e400", `[0,1e400]`, 3, "1e400 is beyond"},
	{"ENC-4 -1e400", `-1e400`, 0, "-1e400 is beyond"},
	{"ENC-4 largest and more", `1.7976931348623159e308`, 0, "beyond"},
	{"ENC-4 400 digits and a fraction", strings.Repeat("9", 400) + ".5", 0, "beyond"},
	{"ENC-4 becomes zero", `[1e-999]`, 1, "1e-999 is not 0 and would become 0"},
	{"ENC-4 becomes zero, digits", "0." + strings.Repeat("0", 400) + "1", 0, "would become 0"},
	{"ENC-4 becomes zero, near", `2e-324`, 0, "would become 0"},
	{"ENC-4 exponent of ten digits", `1e9999999999`, 0, "beyond"},
	{"ENC-4 trailing data", `{} {}`, 3, "'{' after the end of the value"},
	{"ENC-4 trailing NUL", "1 \x00", 2, "byte 0x00 after the end"},
	{"ENC-4 trailing comma", `[1],`, 3, "',' after the end"},
	{"ENC-1 no value", ``, 0, "the end where a value must come"},
	{"ENC-1 cut list", `[1`, 2, "the end after an element, where ',' or ']' must come"},
	{"ENC-1 cut list, comma", `[1,`, 3, "the end where a value must come"},
	{"ENC-1 cut map", `{"a":1`, 6, "the end after a member, where ',' or '}' must come"},
	{"ENC-1 cut map, name", `{"a"`, 4, "the end after a key, where ':' must come"},
	{"ENC-1 cut map, open", `{`, 1, "the end where a key must come"},
	{"ENC-1 cut text", `"ab`, 3, "the end inside a text"},
	{"ENC-1 cut escape", `"ab\`, 4, "the end inside a text"},
	{"ENC-1 cut escape, u", `"ab\u00`, 3, "four hex digits"},
	{"ENC-1 cut word", `tru`, 0, `"tru" where a value must come`},
	{"ENC-1 cut number", `-`, 1, "the end after '-'"},
	{"ENC-1 cut fraction", `1.`, 2, "the end after '.'"},
	{"ENC-1 cut exponent", `1e+`, 3, "the end in an exponent"},
	{"ENC-1 grammar, comma last", `[1,]`, 3, `"]" where a value must come`},
	{"ENC-1 grammar, comma last in a map", `{"a":1,}`, 7, "'}' where a key must come"},
	{"ENC-1 grammar, comma first", `[,1]`, 1, `"," where a value must come`},
	{"ENC-1 grammar, no comma", `[1 2]`, 3, "'2' after an element"},
	{"ENC-1 grammar, no colon", `{"a" 1}`, 5, "'1' after a key"},
	{"ENC-1 grammar, wrong end", `[1}`, 2, "'}' after an element"},
	{"ENC-1 grammar, wrong end of a map", `{"a":1]`, 6, "']' after a member"},
	{"ENC-1 grammar, leading zero", `01`, 0, "begins with 0"},
	{"ENC-1 grammar, leading plus", `+1`, 0, `"+" where a value must come`},
	{"ENC-1 grammar, leading dot", `.5`, 0, `"." where a value must come`},
	{"ENC-1 grammar, no digit behind the dot", `1.e5`, 2, "'e' after '.'"},
	{"ENC-1 grammar, word", `[nul]`, 1, `"nul" where a value must come`},
	{"ENC-1 grammar, longer word", `truex`, 4, "'x' after the end"},
	{"ENC-1 grammar, single quotes", `['a']`, 1, `"'" where a value must come`},
	{"ENC-1 grammar, control", "\"a\nb\"", 2, "byte 0x0a inside a text"},
	{"ENC-1 grammar, control behind é", "\"é\x1f\"", 3, "byte 0x1f inside a text"},
	{"ENC-1 grammar, escape", `"\x41"`, 1, `"\x" inside a text is no escape`},
	{"ENC-1 grammar, hex", `"\u00g0"`, 1, "four hex digits"},
	{"ENC-1 grammar, other space", "[\v1]", 1, `"\v" where a value must come`},
	{"ENC-1 grammar, comment", `[1/**/]`, 2, "'/' after an element"},
	{"ENC-4 non-text key", `{1:2}`, 1, "'1' where a key must come, and a key is text"},
	{"ENC-4 null key", `{null:2}`, 1, "a key is text"},
	{"ENC-5 depth", strings.Repeat("[", 65) + strings.Repeat("]", 65), 64, "more than 64 open maps and lists"},
	{"ENC-5 depth, maps", strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65), 320, "more than 64 open maps and lists"},
	{"ENC-5 items", "[" + strings.Repeat("0,", 262144) + "0]", 524289, "more than 262144 members and elements"},
	{"ENC-5 integer", decimal(1024, 0), 0, "309 digits; at most 1024 bits"},
	{"ENC-5 negative integer", "-" + decimal(1024, 1), 0, "309 digits; at most 1024 bits"},
	{"ENC-5 integer, many digits", strings.Repeat("9", 1<<20), 0, "1048576 digits; at most 1024 bits"},
}

var faultsCBOR = []fault{
	{"ENC-4 duplicate", "a2 6161 01 6161 02", 4, `duplicate key "a"`},
	{"ENC-4 duplicate, long head", "a2 6161 01 780161 02", 4, `duplicate key "a"`},
	{"ENC-4 duplicate, chunks", "bf 626162 01 7f6161606162ff 02 ff", 5, `duplicate key "ab"`},
	{"ENC-4 duplicate, both in chunks", "a2 7f6161ff 01 7f606161ff 02", 6, `duplicate key "a"`},
	{"ENC-4 duplicate, deep", "81 81 a1 6178 a3 6162 00 6161 81a0 6162 01", 13, `duplicate key "b"`},
	{"ENC-4 duplicate, empty", "a2 60 01 60 02", 3, `duplicate key ""`},
	{"ENC-4 UTF-8", "81 63 61ff62", 3, "byte 0xff inside a text is not UTF-8"},
	{"ENC-4 UTF-8, at the end", "61 ff", 1, "not UTF-8"},
	{"ENC-4 UTF-8, overlong", "62 c0af", 1, "not UTF-8"},
	{"ENC-4 UTF-8, surrogate", "63 eda080", 1, "not UTF-8"},
	{"ENC-4 UTF-8, cut", "62 e282", 1, "not UTF-8"},
	{"ENC-4 UTF-8, long", "6c 616161616161616161616180", 12, "not UTF-8"},
	{"ENC-4 UTF-8, a character in two chunks", "7f 61c3 61a9 ff", 2, "not UTF-8"},
	{"ENC-4 UTF-8, in a key", "a1 62 61ff 01", 3, "not UTF-8"},
	{"ENC-4 NaN, f16", "81 f97e00", 1, "NaN or an infinity"},
	{"ENC-4 NaN, f32", "fa7fc00000", 0, "NaN or an infinity"},
	{"ENC-4 NaN, f64", "fb7ff8000000000001", 0, "NaN or an infinity"},
	{"ENC-4 infinity, f16", "f97c00", 0, "NaN or an infinity"},
	{"ENC-4 infinity, f32", "faff800000", 0, "NaN or an infinity"},
	{"ENC-4 infinity, f64", "fb7ff0000000000000", 0, "NaN or an infinity"},
	{"ENC-4 byte string", "82 01 4101", 2, "a byte string"},
	{"ENC-4 byte string, chunks", "5f4101ff", 0, "a byte string"},
	{"ENC-4 int key", "a1 01 02", 1, "a key is an int and must be text"},
	{"ENC-4 bytes key", "a1 4161 02", 1, "a key is a byte string and must be text"},
	{"ENC-4 list key", "a1 80 02", 1, "a key is a list and must be text"},
	{"ENC-4 map key", "a1 a0 02", 1, "a key is a map and must be text"},
	{"ENC-4 null key", "a1 f6 02", 1, "a key is null and must be text"},
	{"ENC-4 bool key", "a1 f4 02", 1, "a key is a bool and must be text"},
	{"ENC-4 float key", "a1 f93c00 02", 1, "a key is a float and must be text"},
	{"ENC-4 tagged key", "a1 c26101 02", 1, "a key is a tag and must be text"},
	{"ENC-4 undefined", "81 f7", 1, "undefined; send null"},
	{"ENC-4 simple value 0", "e0", 0, "simple value 0"},
	{"ENC-4 simple value 19", "f3", 0, "simple value 19"},
	{"ENC-4 simple value 32", "f820", 0, "simple value 32"},
	{"ENC-4 simple value 20 in two bytes", "f814", 0, "simple value 20"},
	{"ENC-4 tag 0", "c0 60", 0, "tag 0; the only tags taken are 2 and 3"},
	{"ENC-4 tag 1", "81 c1 00", 1, "tag 1"},
	{"ENC-4 tag 4", "c4 82 01 02", 0, "tag 4"},
	{"ENC-4 tag 55799", "d9d9f7 a0", 0, "tag 55799"},
	{"ENC-4 tag of eight bytes", "dbffffffffffffffff 00", 0, "tag 18446744073709551615"},
	{"ENC-4 tag 2 on an int", "c2 01", 1, "an int in tag 2"},
	{"ENC-4 tag 3 on a text", "c3 6161", 1, "a text in tag 3"},
	{"ENC-4 tag 2 on tag 2", "c2 c2 4101", 1, "a tag in tag 2"},
	{"ENC-4 tag 2, chunk of text", "c2 5f 6161 ff", 2, "a text as a chunk of a byte string"},
	{"ENC-4 trailing data", "a0 00", 1, "byte 0x00 after the end"},
	{"ENC-4 trailing newline", "a0 0a", 1, "byte 0x0a after the end"},
	{"ENC-1 no value", "", 0, "the end where a value must come"},
	{"ENC-1 cut list", "82 01", 0, "a list of 2 elements, and 1 bytes are left"},
	{"ENC-1 cut inner list", "82 82 01", 1, "a list of 2 elements, and 1 bytes are left"},
	{"ENC-1 cut list, outer", "82 81 01", 3, "the end where a value must come"},
	{"ENC-1 cut indefinite list", "9f 01", 2, "the end where a value must come"},
	{"ENC-1 cut map", "a1 6161", 3, "the end where a value must come"},
	{"ENC-1 cut map, name", "bf", 1, "the end where a key must come"},
	{"ENC-1 cut text", "63 6161", 0, "a text of 3 bytes, and 2 are left"},
	{"ENC-1 cut chunks", "7f 6161", 3, "the end inside a text of indefinite length"},
	{"ENC-1 cut head of 2", "18", 1, "the end inside a head of 2 bytes"},
	{"ENC-1 cut head of 3", "1900", 2, "the end inside a head of 3 bytes"},
	{"ENC-1 cut head of 5", "1a000000", 4, "the end inside a head of 5 bytes"},
	{"ENC-1 cut head of 9", "1b00000000000000", 8, "the end inside a head of 9 bytes"},
	{"ENC-1 cut float", "f93c", 2, "the end inside a head of 3 bytes"},
	{"ENC-1 cut bignum", "c2 4201", 1, "a byte string of 2 bytes, and 1 are left"},
	{"ENC-1 cut tag", "c2", 1, "the end where the bytes of tag 2 must come"},
	{"ENC-1 reserved 28", "1c", 0, "additional information 28, which is reserved"},
	{"ENC-1 reserved 29", "7d", 0, "additional information 29, which is reserved"},
	{"ENC-1 reserved 30", "be", 0, "additional information 30, which is reserved"},
	{"ENC-1 reserved float", "fc", 0, "additional information 28, which is reserved"},
	{"ENC-1 reserved tag", "dd", 0, "additional information 29, which is reserved"},
	{"ENC-1 reserved in a chunk", "7f 7c ff", 1, "additional information 28, which is reserved"},
	{"ENC-1 break alone", "ff", 0, "a break where a value must come"},
	{"ENC-1 break in a definite list", "82 01 ff", 2, "a break where a value must come"},
	{"ENC-1 break in a definite map", "a1 ff 01", 1, "a key is a break"},
	{"ENC-1 break for a value", "bf 6161 ff", 3, "a break where a value must come"},
	{"ENC-1 break in tag 2", "c2 ff", 1, "a break in tag 2"},
	{"ENC-1 indefinite int", "1f", 0, "gives an int an indefinite length"},
	{"ENC-1 indefinite negative", "3f", 0, "gives an int an indefinite length"},
	{"ENC-1 indefinite tag", "df 00", 0, "gives a tag an indefinite length"},
	{"ENC-1 chunk of bytes in a text", "7f 4161 ff", 1, "a byte string as a chunk of a text"},
	{"ENC-1 chunk of int in a text", "7f 01 ff", 1, "an int as a chunk of a text"},
	{"ENC-1 indefinite in indefinite", "7f 7f 6161 ff ff", 1, "a text of indefinite length inside another"},
	{"ENC-1 indefinite in indefinite bytes", "c2 5f 5f 4101 ff ff", 2, "a byte string of indefinite length inside another"},
	{"LIMIT-2 text of 2^64-1", "7bffffffffffffffff 61", 0, "a text of 18446744073709551615 bytes, and 1 are left"},
	{"LIMIT-2 text of 2^63-1", "7b7fffffffffffffff 61", 0, "and 1 are left"},
	{"LIMIT-2 bytes of 2^64-1", "c2 5bffffffffffffffff 61", 1, "and 1 are left"},
	{"LIMIT-2 list of 2^31-1", "9a7fffffff 01", 0, "a list of 2147483647 elements; at most 262144"},
	{"LIMIT-2 list of 2^64-1", "9bffffffffffffffff 01", 0, "at most 262144"},
	{"LIMIT-2 map of 2^63", "bb8000000000000000 01", 0, "a map of 9223372036854775808 members; at most 262144"},
	{"LIMIT-2 map of 100", "b864 6161 01", 0, "a map of 100 members, and 3 bytes are left"},
	{"ENC-5 depth", strings.Repeat("81", 64) + "80", 64, "more than 64 open maps and lists"},
	{"ENC-5 depth, indefinite", strings.Repeat("9f", 65) + strings.Repeat("ff", 65), 64, "more than 64 open maps and lists"},
	{"ENC-5 depth, maps", strings.Repeat("a16161", 64) + "a0", 192, "more than 64 open maps and lists"},
	{"ENC-5 items", "9a00040001" + strings.Repeat("00", 262145), 0, "a list of 262145 elements; at most 262144"},
	{"ENC-5 items, indefinite", "9f" + strings.Repeat("00", 262145) + "ff", 262145, "more than 262144 members and elements"},
	{"ENC-5 items, in all", "82 9a0003ffff" + strings.Repeat("00", 262143) + "80", 1, "a list of 262143 elements; at most 262144"},
	{"ENC-5 integer", "c2 5881 01" + strings.Repeat("00", 128), 0, "an integer of 1025 bits; at most 1024"},
	{"ENC-5 negative integer", "c3 5881 01" + strings.Repeat("00", 128), 0, "an integer of 1025 bits; at most 1024"},
	{"ENC-5 integer in chunks", "c2 5f 4101" + strings.Repeat("5000112233445566778899aabbccddeeff", 8) + "ff", 0, "an integer of 1025 bits"},
}

func TestFaults(t *testing.T) {
	if len(faultsJSON) == 0 || len(faultsCBOR) == 0 {
		t.Fatal("no faults to test")
	}
	for _, f := range faultsJSON {
		t.Run("json/"+f.rule, func(t *testing.T) { checkFault(t, wire.JSON, []byte(f.bytes), f) })
	}
	for _, f := range faultsCBOR {
		t.Run("cbor/"+f.rule, func(t *testing.T) { checkFault(t, wire.CBOR, fromHex(t, f.bytes), f) })
	}
}

// checkFault wants a fault found in a value alone, and, some bytes further on, deep in a member of a message.
func checkFault(t *testing.T, enc wire.Encoding, b []byte, f fault) {
	kind, n, err := Value(b, enc, standard)
	checkError(t, err, f.offset, f)
	if kind != wire.None || n != 0 {
		t.Errorf("%s: kind %s of %d beside an error", f.rule, kind, n)
	}
	if strings.HasPrefix(f.rule, "ENC-5") || strings.HasPrefix(f.rule, "LIMIT-2") || strings.Contains(f.rule, "cut ") ||
		strings.Contains(f.rule, "trailing") || len(b) == 0 {
		return // what is around the value would change the error
	}
	before, after := `{"call":"x","more":{"deep":[`, `]}}`
	if enc == wire.CBOR {
		before, after = "\xa2\x64call\x61x\x64more\xbf\x64deep\x82", "\x00\xff"
	}
	message := append(append([]byte(before), b...), after...)
	members, err := Envelope(message, enc, standard, nil)
	if f.rule == "ENC-1 grammar, longer word" || f.rule == "ENC-1 grammar, comma last" {
		if err == nil {
			t.Errorf("%s: admitted inside a message", f.rule)
		}
		return
	}
	checkError(t, err, len(before)+f.offset, f)
	if members != nil {
		t.Errorf("%s: %d members beside an error", f.rule, len(members))
	}
}

func checkError(t *testing.T, err error, offset int, f fault) {
	t.Helper()
	var at *Error
	if !errors.As(err, &at) {
		t.Fatalf("%s: admitted %.100s", f.rule, f.bytes)
	}
	if at.Offset != offset || !strings.Contains(at.Text, f.text) {
		t.Errorf("%s: %.100s: error %q, want %q at byte %d", f.rule, f.bytes, err, f.text, offset)
	}
	if len(at.Text) > 300 || !utf8.ValidString(at.Text) {
		t.Errorf("ENC-5: %s: error of %d bytes: %q", f.rule, len(at.Text), at.Text)
	}
	if want := fmt.Sprintf("%s at byte %d", at.Text, at.Offset); err.Error() != want {
		t.Errorf("error reads %q, want %q", err, want)
	}
}

// ENC-4: a byte that is not UTF-8 is found at each place of texts of each length, in keys too, whatever the words it is looked
// at in.
func TestBadByteAnywhere(t *testing.T) {
	for n := 1; n <= 40; n++ {
		for at := range n {
			text := []byte(strings.Repeat("x", n))
			text[at] = 0x80
			for enc := range wire.Encoding(2) {
				value := wire.AppendText(wire.AppendListOpen(nil, enc, 1), enc, text)
				want := len(value) - n + at
				if enc == wire.JSON {
					want-- // its closing quote
				}
				value = wire.AppendListClose(value, enc)
				key := wire.AppendKey(wire.AppendMapOpen(nil, enc, 1), enc, text)
				key = wire.AppendMapClose(wire.AppendNull(key, enc), enc)
				for _, b := range [][]byte{value, key} {
					_, _, err := Value(b, enc, standard)
					if e, ok := err.(*Error); !ok || e.Offset != want || !strings.Contains(e.Text, "not UTF-8") {
						t.Fatalf("ENC-4: %q: %v, want byte %d", b, err, want)
					}
				}
			}
		}
	}
}

// Every prefix of an admitted message is refused, and nothing panics.
func TestPrefixes(t *testing.T) {
	for _, s := range seedsJSON {
		if b := []byte(s); b[0] == '{' && admitted(b, wire.JSON) {
			b = []byte(strings.TrimSpace(s))
			for i := range b {
				if _, err := Envelope(b[:i], wire.JSON, standard, nil); err == nil {
					t.Errorf("the first %d bytes of %s are admitted", i, b)
				}
			}
		}
	}
	for _, s := range seedsCBOR {
		if b := fromHex(t, s); b[0]&0xe0 == wire.MajorMap && admitted(b, wire.CBOR) {
			for i := range b {
				if _, err := Envelope(b[:i], wire.CBOR, standard, nil); err == nil {
					t.Errorf("the first %d bytes of %x are admitted", i, b)
				}
			}
		}
	}
}

func admitted(b []byte, enc wire.Encoding) bool {
	_, _, err := Value(b, enc, standard)
	return err == nil
}
