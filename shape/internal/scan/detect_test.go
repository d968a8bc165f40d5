package scan

import (
	"strings"
	"testing"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// ENC-1: skip space, look at one byte, name what it probably is.
func TestDetect(t *testing.T) {
	for _, test := range []struct {
		bytes string
		enc   wire.Encoding
		start int
		want  string // of the error
	}{
		{`{"call":"x"}`, wire.JSON, 0, ""},
		{"\t\n\r {", wire.JSON, 4, ""},
		{`[1]`, wire.JSON, 0, ""},
		{"\xa0", wire.CBOR, 0, ""},
		{"\n\xbf\xff", wire.CBOR, 1, ""},
		{"\x80", wire.CBOR, 0, ""},
		{"\x93", wire.CBOR, 0, ""},
		{"7", wire.JSON, 0, ""},
		{"null", wire.JSON, 0, ""},
		{"\x63get", wire.JSON, 0, ""},
		{"\x00", wire.JSON, 0, ""},
		{"\v{}", wire.JSON, 0, ""},
		{"{", wire.JSON, 0, ""},
		{"\xc2\xa0{}", wire.JSON, 0, ""},        // a no-break space
		{"\xc3\xa9t\xc3\xa9", wire.JSON, 0, ""}, // été
		{"\xd8\xb3", wire.JSON, 0, ""},          // an Arabic letter
		{"\xe2\x80\x9c", wire.JSON, 0, ""},
		{"\xf6", wire.JSON, 0, ""},
		{"Content-Lengt", wire.JSON, 0, ""},
		{"", wire.JSON, 0, "empty message"},
		{" \r\n\t", wire.JSON, 4, "empty message"},
		{"\xef\xbb\xbf{}", wire.JSON, 0, "byte order mark"},
		{"\n\xef\xbb\xbf{}", wire.JSON, 1, "byte order mark"},
		{"\xff\xfe{\x00", wire.JSON, 0, "UTF-16"},
		{"\xfe\xff\x00{", wire.JSON, 0, "UTF-16"},
		{"{\x00\"\x00", wire.JSON, 0, "UTF-16"},
		{"\x00{\x00\"", wire.JSON, 0, "UTF-16"},
		{"[\x00", wire.JSON, 0, "UTF-16"},
		{"\x1f\x8b\x08", wire.JSON, 0, "gzip"},
		{"\xd9\xd9\xf7\xa0", wire.JSON, 0, "55799"},
		{" \xd9\xd9\xf7\xa0", wire.JSON, 1, "55799"},
		{"\xc1\x1a\x00", wire.JSON, 0, "byte 0xc1 opens a CBOR tag"},
		{"\xc2\x41\x05", wire.JSON, 0, "byte 0xc2 opens a CBOR tag"},
		{"\xd8\x18\x41", wire.JSON, 0, "byte 0xd8 opens a CBOR tag"},
		{"\xda\x00\x00", wire.JSON, 0, "byte 0xda opens a CBOR tag"},
		{"\xdb", wire.JSON, 0, "byte 0xdb opens a CBOR tag"},
		{"Content-Length: 5\r\n\r\n{}", wire.JSON, 0, "carry no headers"},
		{"\ncontent-LENGTH:5", wire.JSON, 1, "carry no headers"},
	} {
		enc, start, err := Detect([]byte(test.bytes))
		if enc != test.enc || start != test.start || (err == nil) != (test.want == "") {
			t.Errorf("ENC-1: %q: encoding %d from %d, %v", test.bytes, enc, start, err)
		}
		if err == nil {
			continue
		}
		if e, ok := err.(*Error); !ok || e.Offset != start || !strings.Contains(e.Text, test.want) {
			t.Errorf("ENC-1: %q: %v, want %s at byte %d", test.bytes, err, test.want, start)
		}
	}
}

// No JSON text begins with a byte that opens CBOR, and every first byte has one answer (ENC-1).
func TestDetectEveryByte(t *testing.T) {
	for c := range 256 {
		if strings.ContainsRune(" \t\r\n", rune(c)) {
			continue
		}
		enc, start, _ := Detect([]byte{byte(c)})
		if (enc == wire.CBOR) != (c >= 0x80 && c <= 0xbf) || start != 0 {
			t.Errorf("ENC-1: byte %#x is encoding %d from %d", c, enc, start)
		}
	}
}

// firstNames says of bytes whether they open a map whose first member is named event.
var firstNames = map[string]bool{
	`{"event":`:                        true,
	` { "event" `:                      true,
	`{"event"`:                         true,
	`{"\u0065vent":1}`:                 true,
	`{"\u0065\u0076e\u006Et": garbage`: true,
	"\xef\xbb\xbf{\"event\":1}":        true,
	"{\"event\"\xff\xff":               true,
	`{"event`:                          false,
	`{"eventx":1}`:                     false,
	`{"even":1}`:                       false,
	`{"Event":1}`:                      false,
	`{"call":1,"event":2}`:             false,
	`{"":1}`:                           false,
	`{}`:                               false,
	`{`:                                false,
	`["event"]`:                        false,
	`{event:1}`:                        false,
	`{"\u006`:                          false,
	`{"\`:                              false,
	`{"event\u0000":1}`:                false,
	`{"\u0165vent":1}`:                 false,
	``:                                 false,
	" ":                                false,
	"\xa1\x65event":                    true,
	"\xa1\x65event\xff\xff":            true,
	"\xbf\x65event":                    true,
	"\xb8\x01\x65event":                true,
	"\xb9\x00\x01\x65event":            true,
	"\xba\x00\x00\x00\x01\x65event":    true,
	"\xbb\xff\xff\xff\xff\xff\xff\xff\xff\x65event":  true,
	"\xa1\x78\x05event":                              true,
	"\xa1\x7b\x00\x00\x00\x00\x00\x00\x00\x05event":  true,
	"\xa1\x7f\x62ev\x60\x63ent\xff":                  true,
	"\xa1\x7f\x78\x05event\xff":                      true,
	"\xd9\xd9\xf7\xa1\x65event":                      true,
	"\xa1\x7f\x62ev\x63ent":                          false,
	"\xa1\x7f\x62ev\x63ent\x61s\xff":                 false,
	"\xa1\x7f\x65event\x7f":                          false,
	"\xa1\x7f\x45event\xff":                          false,
	"\xa1\x7f\x62ev\xff":                             false,
	"\xa1\x65even":                                   false,
	"\xa1\x66events":                                 false,
	"\xa1\x45event":                                  false,
	"\xa0\x65event":                                  false,
	"\xb8\x00\x65event":                              false,
	"\xbc\x65event":                                  false,
	"\xa1\x7c\x65event":                              false,
	"\xa1\x7b\xff\xff\xff\xff\xff\xff\xff\xffevent":  false,
	"\xa1\x7f\x7b\xff\xff\xff\xff\xff\xff\xff\xffev": false,
	"\x81\x65event":                                  false,
	"\xa1":                                           false,
	"\xb8":                                           false,
	"\xbf\xff":                                       false,
}

// SHAPE-6: the first member's name, readable or not what follows, in either encoding.
func TestFirstNameIs(t *testing.T) {
	for s, want := range firstNames {
		if got := FirstNameIs([]byte(s), "event"); got != want {
			t.Errorf("SHAPE-6: %q: %t", s, got)
		}
	}
	for _, s := range []string{`{"":1`, `{"" garbage`, "\xa1\x60", "\xbf\x7f\xff", "\xa1\x7f\x60\xff"} {
		if !FirstNameIs([]byte(s), "") {
			t.Errorf("SHAPE-6: %q has an empty first name", s)
		}
	}
}
