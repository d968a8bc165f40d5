package scan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// rowsAlike are lists of maps that come as the first of them did, or almost, in JSON.
var rowsAlike = []string{
	`[{"id":"a","at":"","text":"some text","n":1},{"id":"b","at":"12345678","text":"twelve bytes","n":-20},{"id":"c","at":"é","text":"\u00e9","n":1.5}]`,
	`[{"id":1,"tags":["a","b"],"x":null},{"id":2,"tags":[],"x":true},{"id":3,"tags":["c","long enough to be looked at"],"x":{}},{"id":4,"tags":["d"],"x":[[1]]}]`,
	`[{"a":1},{"a":2},{"a":3,"b":4},{"b":5},{},{"a":6},7,"x",{"a":8,"a":9}]`,
	`{"ok":true,"family":1,"n":3,"result":[{"a key of eleven":1,"another that is longer than that":2},{"a key of eleven":1,"another that is longer than that":2},` +
		`{"a key of eleven":1,"another that is longer than this":2},{"a key of eleven":"` + strings.Repeat("long ", 70) + `","another that is longer than that":2}],"more":"` + strings.Repeat("x", 20) + `"}`,
	`[{"in":[{"a":1},{"a":[{"b":1},{"b":2}]}]},{"in":[{"a":1},{"a":[{"b":1},{"b":2}]}]},{"in":[{"a":1},{"a":[{"b":1},{"b":2,"b":3}]}]}]`,
	`[ {"a" : 1, "b":2} , {"a" : 1, "b":2},{"a" : 1, "b":2} ,{"a" : 1,"b":2},{"a":1, "b":2} ]`,
}

// compareWays holds the fast way over rows against the general one: the same answer, and the same fault at the same place.
func compareWays(t *testing.T, b []byte, enc wire.Encoding, l Limits) {
	t.Helper()
	admit := func(slow bool) string {
		s := start(b, l)
		defer s.release()
		s.slow = slow
		var end, n int
		var kind wire.Kind
		if enc == wire.CBOR {
			end, kind, n = s.valueCBOR(0)
		} else {
			end, kind, n = s.valueJSON(0)
		}
		s.slow = false
		if s.err != nil {
			return s.err.Error()
		}
		return fmt.Sprint(kind, " of ", n, " to ", end, ", ", s.items, " items left, ", len(s.open), " open")
	}
	if fast, slow := admit(false), admit(true); fast != slow {
		t.Fatalf("%q, limits %v: %s, and in the general way %s", b, l, fast, slow)
	}
}

// Whatever is put in the place of a byte, wherever the end is and whichever limit is met, both ways say the same.
func TestWaysOverRows(t *testing.T) {
	for _, text := range rowsAlike {
		for _, enc := range []wire.Encoding{wire.JSON, wire.CBOR} {
			whole := []byte(text)
			others := []byte("\x00 \",:[]{}0-e.\\uatn\x7f\xc3")
			if enc == wire.CBOR {
				if _, _, err := Value([]byte(text), wire.JSON, standard); err != nil {
					continue // it cannot be written in the other encoding
				}
				whole = Append(nil, enc, []byte(text), wire.JSON)
				others = []byte("\x00\x17\x18\x1b\x1f\x20\x3b\x40\x60\x61\x77\x78\x7f\x80\x81\x9f\xa0\xa1\xa2\xbf\xc2\xf4\xf6\xf7\xf9\xff")
			}
			for items := range 60 {
				compareWays(t, whole, enc, Limits{Depth: 64, Items: items, IntBits: 64})
			}
			for depth := range 8 {
				compareWays(t, whole, enc, Limits{Depth: depth, Items: 1000, IntBits: 64})
			}
			b := make([]byte, len(whole))
			for i := range whole {
				compareWays(t, whole[:i:i], enc, standard)
				for _, other := range others {
					copy(b, whole)
					b[i] = other
					compareWays(t, b, enc, standard)
				}
				for _, other := range others {
					compareWays(t, append(append(append(b[:0:0], whole[:i]...), other), whole[i:]...), enc, standard)
				}
			}
		}
	}
}

// FuzzRows is TestWaysOverRows with what nobody thought of.
func FuzzRows(f *testing.F) {
	for _, text := range rowsAlike {
		f.Add([]byte(text), false, uint16(1000), uint8(64))
		if _, _, err := Value([]byte(text), wire.JSON, standard); err == nil {
			f.Add(Append(nil, wire.CBOR, []byte(text), wire.JSON), true, uint16(20), uint8(3))
		}
	}
	f.Add(fromHex(f, "9f a2 6161 01 6162 82 6163 6164 a2 6161 20 6162 80 bf 6161 01 6162 02 ff a2 6161 c24109 6162 7f 6163 ff ff"), true, uint16(9), uint8(9))
	f.Fuzz(func(t *testing.T, b []byte, cbor bool, items uint16, depth uint8) {
		enc := wire.JSON
		if cbor {
			enc = wire.CBOR
		}
		compareWays(t, b, enc, Limits{Depth: int(depth), Items: int(items), IntBits: 1024})
	})
}
