package scan

import (
	"strings"
	"testing"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// Maps of a list whose keys come as in the first are admitted by a shorter way. It finds the same duplicates (ENC-4).
func TestKeysThatComeAgain(t *testing.T) {
	for _, c := range []struct {
		json string
		dup  string // the key that is there twice
	}{
		{`[{"a":1,"b":2},{"a":1,"b":2}]`, ""},
		{`[{"a":1,"b":2},{"b":1,"a":2},{"a":1},{"a":1,"b":2,"c":3},{},{"a":0}]`, ""},
		{`[{},{"a":1},{"a":1}]`, ""},
		{`[{"a":1,"b":2},{"a":1,"a":2}]`, "a"},
		{`[{"a":1,"b":2},{"a":1,"b":2,"a":3}]`, "a"},
		{`[{"a":1,"b":2},{"a":1,"b":2,"c":3,"b":4}]`, "b"},
		{`[{"a":1,"b":2},{"b":1,"a":2,"b":3}]`, "b"},
		{`[{"a":[{"x":1},{"x":2}],"b":2},{"a":[{"x":1,"b":1},{"a":2}],"b":3},{"a":[{"y":1}],"a":1}]`, "a"},
		{`[{"a":{"a":{"a":1}}},{"a":{"a":{"a":1,"b":1,"a":2}}}]`, "a"},
		{`[[{"a":1}],[{"a":1,"a":2}]]`, "a"},
		{`[{"a":1,"a":2}]`, "a"},
		{`[1,{"a":1},"x",{"a":1},[{"b":1},{"b":1,"b":1}]]`, "b"},
		{"[{" + numberedKeys(40) + "},{" + numberedKeys(40) + `,"k39":1}]`, "k39"},
		{"[{" + numberedKeys(16) + "},{" + numberedKeys(16) + `,"k0":1}]`, "k0"},
		{"[{" + numberedKeys(16) + "},{" + numberedKeys(16) + `,"x":1,"k15":1}]`, "k15"},
		{`[{"a":1,"long enough a key":2},{"a":1,"long enough a key":2,"long enough a key":3}]`, "long enough a key"},
	} {
		checkKeys(t, wire.JSON, []byte(c.json), c.dup)
		spaced := strings.NewReplacer(":", " : ", ",", " , ", "{", "{ ").Replace(c.json)
		checkKeys(t, wire.JSON, []byte(spaced), c.dup)
		if c.dup != "" {
			continue
		}
		checkKeys(t, wire.CBOR, Append(nil, wire.CBOR, []byte(c.json), wire.JSON), "")
	}
	checkKeys(t, wire.JSON, []byte(`[{"a":1,"b":2},{"a":1,"\u0061":2}]`), "a")
	checkKeys(t, wire.JSON, []byte(`[{"\u0061":1,"b":2},{"\u0061":1,"b":2},{"a":1,"\u0061":2}]`), "a")
	for cbor, dup := range map[string]string{
		"\x82\xa2\x61a\x01\x61b\x02\xa2\x61a\x01\x61a\x02":                   "a",
		"\x82\xa1\x61a\x01\xa3\x61a\x01\x61b\x02\x61a\x03":                   "a",
		"\x82\xa1\x61a\x01\xa2\x61a\x01\x7f\x61a\xff\x02":                    "a", // the same in chunks
		"\x82\xa1\x7f\x61a\xff\x01\xa2\x7f\x61a\xff\x01\x61a\x02":            "a",
		"\x82\xa1\x78\x01a\x01\xa2\x78\x01a\x01\x61a\x02":                    "a", // the same with a long head
		"\x9f\xbf\x61a\x01\xff\xbf\x61a\x01\x61b\x01\xff\xff":                "",
		"\x9f\xbf\x61a\x01\xff\xbf\x61a\x01\x61b\x01\x61b\x01\xff\xff":       "b",
		"\x82\xa2\x61a\x81\xa1\x61b\x01\x61b\x02\xa2\x61a\x80\x61b\x02":      "",
		"\x82\xa2\x61a\x81\xa1\x61b\x01\x61b\x02\xa2\x61a\x80\x61a\x02":      "a",
		"\x83\xa1\x61a\x01\xa0\xa3\x61a\x01\x61b\x02\x61b\x03":               "b",
		"\x82\xa1\x6aabcdefghij\x01\xa2\x6aabcdefghij\x01\x6aabcdefghij\x02": "abcdefghij",
	} {
		checkKeys(t, wire.CBOR, []byte(cbor), dup)
	}
}

func numberedKeys(n int) string {
	var keys []string
	for i := range n {
		keys = append(keys, `"k`+string(appendInt(nil, i))+`":1`)
	}
	return strings.Join(keys, ",")
}

func appendInt(dst []byte, n int) []byte { return wire.AppendInt(dst, wire.JSON, int64(n)) }

func checkKeys(t *testing.T, enc wire.Encoding, b []byte, dup string) {
	t.Helper()
	_, _, err := Value(b, enc, Limits{Depth: 64, Items: 1000, IntBits: 64})
	switch {
	case dup == "" && err != nil:
		t.Errorf("%q: %v", b, err)
	case dup != "" && (err == nil || !strings.Contains(err.Error(), `duplicate key "`+dup+`"`)):
		t.Errorf("%q: %v, and %s is there twice", b, err, dup)
	}
}
