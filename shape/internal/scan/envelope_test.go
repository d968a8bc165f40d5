package scan

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/kith-wire/kith/internal/alloctest"
	"github.com/kith-wire/kith/shape/internal/wire"
)

func describe(members []Member) string {
	var b strings.Builder
	for _, m := range members {
		value := string(m.Value)
		if len(value) > 0 && value[0] >= 0x80 {
			value = fmt.Sprintf("%x", value)
		}
		fmt.Fprintf(&b, "%q=%s %s %d;", m.Name, value, m.Kind, m.N)
	}
	return b.String()
}

func TestEnvelopeMembers(t *testing.T) {
	for _, test := range []struct {
		enc   wire.Encoding
		bytes string
		want  string
	}{
		{wire.JSON, `{}`, ``},
		{wire.JSON, "{ } \r\n\t ", ``},
		{wire.JSON, `{"call":"x","args":[1,[2,3],{"a":4}]}`, `"call"="x" text 0;"args"=[1,[2,3],{"a":4}] list 3;`},
		{wire.JSON, "{ \"call\" : \"x\" ,\n\"n\" :\t7\r, \"m\":{ \"a\" : [ ] } , \"o\" : -0 } ",
			`"call"="x" text 0;"n"=7 int 0;"m"={ "a" : [ ] } map 1;"o"=-0 number 0;`},
		{wire.JSON, `{"\u0063all":null,"":true,"é\n":[[]]}`, `"call"=null null 0;""=true bool 0;"é\n"=[[]] list 1;`},
		{wire.CBOR, "\xa0", ``},
		{wire.CBOR, "\xbf\xff", ``},
		{wire.CBOR, "\xa2\x64call\x61x\x64args\x83\x01\x02\xf6", "\"call\"=ax text 0;\"args\"=830102f6 list 3;"},
		{wire.CBOR, "\xbf\x7f\x62ca\x62ll\xff\x61x\x61m\xbf\x61a\x80\xff\xff", "\"call\"=ax text 0;\"m\"=bf616180ff map 1;"},
		{wire.CBOR, "\xa1\x61i\x9f\x01\x02\xff", "\"i\"=9f0102ff list 2;"},
	} {
		members, err := Envelope([]byte(test.bytes), test.enc, standard, nil)
		if got := describe(members); err != nil || got != test.want {
			t.Errorf("%q: %s, %v; want %s", test.bytes, got, err, test.want)
		}
	}
}

// SHAPE-1: a message is one map.
func TestEnvelopeIsAMap(t *testing.T) {
	for _, test := range []struct {
		enc         wire.Encoding
		bytes, want string
	}{
		{wire.JSON, `[{"call":"x"}]`, "this is a list"},
		{wire.JSON, `"call"`, "this is a text"},
		{wire.JSON, `7`, "this is a number"},
		{wire.JSON, `-7`, "this is a number"},
		{wire.JSON, `null`, "this is null"},
		{wire.JSON, `true`, "this is bool"},
		{wire.JSON, `hello`, `this is neither JSON nor CBOR: "hello"`},
		{wire.JSON, "cget", `neither JSON nor CBOR: "cget"`},
		{wire.JSON, "\u00a0{}", `neither JSON nor CBOR`},
		{wire.JSON, strings.Repeat("z", 1000), `neither JSON nor CBOR: "` + strings.Repeat("z", 64) + "…"},
		{wire.JSON, ``, "this is nothing"},
		{wire.CBOR, "\x80", "this is a list"},
		{wire.CBOR, "\x9f\xff", "this is a list"},
		{wire.CBOR, "\x81\xa4call", "this is a list"}, // MessagePack {"call":…}
		{wire.CBOR, "\x01", "this is an int"},
		{wire.CBOR, "\x63get", "this is a text"},
		{wire.CBOR, "", "this is nothing"},
	} {
		_, err := Envelope([]byte(test.bytes), test.enc, standard, nil)
		e, ok := err.(*Error)
		if !ok || e.Offset != 0 || !strings.Contains(e.Text, "a call is an object") || !strings.Contains(e.Text, test.want) {
			t.Errorf("SHAPE-1: %.40q: %v, want %s", test.bytes, err, test.want)
		}
	}
}

// Faults of the message's own map; those inside its members are in TestFaults.
func TestEnvelopeFaults(t *testing.T) {
	for _, f := range []fault{
		{"ENC-4 duplicate", `{"call":"a","n":1,"call":"b"}`, 18, `duplicate key "call"`},
		{"ENC-4 duplicate, unescaped", `{"call":"a","c\u0061ll":"b"}`, 12, `duplicate key "call"`},
		{"ENC-4 trailing data", `{"call":"a"}x`, 12, "'x' after the end"},
		{"ENC-4 trailing data, another message", "{}\n{}", 3, "'{' after the end"},
		{"ENC-1 cut", `{"call":"a"`, 11, "where ',' or '}' must come"},
		{"ENC-1 cut", `{"call":`, 8, "the end where a value must come"},
		{"ENC-1 comma", `{"call":"a",}`, 12, "'}' where a key must come"},
		{"ENC-1 comma", `{,"call":"a"}`, 1, "',' where a key must come"},
	} {
		_, err := Envelope([]byte(f.bytes), wire.JSON, standard, nil)
		checkError(t, err, f.offset, f)
	}
	for _, f := range []fault{
		{"ENC-4 duplicate", "a2 6161 01 6161 02", 4, `duplicate key "a"`},
		{"ENC-4 trailing data", "a0 0a", 1, "byte 0x0a after the end"},
		{"ENC-4 trailing data", "bf ff ff", 2, "byte 0xff after the end"},
		{"ENC-4 key", "a1 01 02", 1, "a key is an int and must be text"},
		{"ENC-1 cut", "a2 6161 01", 0, "a map of 2 members, and 3 bytes are left"},
		{"ENC-1 cut", "a2 6161 820102", 6, "the end where a key must come"},
		{"ENC-1 cut", "bf 6161 01", 4, "the end where a key must come"},
		{"LIMIT-2 members", "ba7fffffff 6161 01", 0, "a map of 2147483647 members; at most 262144"},
	} {
		_, err := Envelope(fromHex(t, f.bytes), wire.CBOR, standard, nil)
		checkError(t, err, f.offset, f)
	}
}

// Depth and items count from the message itself, the first (ENC-5).
func TestEnvelopeLimits(t *testing.T) {
	nest := func(n int) []byte { return []byte(`{"a":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + "}") }
	for enc := range wire.Encoding(2) {
		for depth, want := range map[int]bool{63: true, 64: true, 65: false} {
			b := Append(nil, enc, nest(depth), wire.JSON)
			if _, err := Envelope(b, enc, standard, nil); (err == nil) != want {
				t.Errorf("ENC-5: depth %d in encoding %d: %v", depth, enc, err)
			}
		}
		b := Append(nil, enc, []byte(`{"a":[1,2,3],"b":4}`), wire.JSON)
		for items, want := range map[int]bool{4: false, 5: true, 6: true} {
			l := standard
			l.Items = items
			if _, err := Envelope(b, enc, l, nil); (err == nil) != want {
				t.Errorf("ENC-5: 5 items at a limit of %d in encoding %d: %v", items, enc, err)
			}
		}
	}
}

// A message is split without making anything, and its parts are parts of it.
func TestEnvelopeAllocatesNothing(t *testing.T) {
	texts := []string{
		`{"call":"note","args":["some text",["a","b"],{"x":1.5,"y":[{"a":1},{"a":2}]}],"from":"me"}`,
		`{"ok":true,"family":1,"n":2,"result":[{"id":1,"text":"é\n\"x\""},{"id":18446744073709551616,"text":""}]}`,
	}
	for _, text := range texts {
		for enc := range wire.Encoding(2) {
			b := Append(nil, enc, []byte(text), wire.JSON)
			if n := testing.AllocsPerRun(200, func() {
				var buf [12]Member
				if _, err := Envelope(b, enc, standard, buf[:0]); err != nil {
					t.Fatal(err)
				}
			}); n >= 1 && !raceEnabled { // under the race detector a sync.Pool drops things on purpose
				t.Errorf("encoding %d: %v allocations for %s", enc, n, text)
			}
			members, _ := Envelope(b, enc, standard, nil)
			for _, m := range members {
				if at := bytes.Index(b, m.Value); at < 0 || &b[at] != &m.Value[0] && bytes.Count(b, m.Value) == 1 {
					t.Errorf("%s is a copy", m.Name)
				}
				if cap(m.Value) != len(m.Value) || cap(m.Name) != len(m.Name) {
					t.Errorf("appending to %s would write into the message", m.Name)
				}
			}
		}
	}
}

// LIMIT-2: a head that promises much makes nothing.
func TestPromisesAllocateNothing(t *testing.T) {
	for _, s := range []string{"9a0003ffff01", "9bffffffffffffffff01", "bb7fffffffffffffff", "7b7fffffffffffffff", "5affffffff", "c25b00000000ffffffff01"} {
		b := fromHex(t, s)
		const most = 2 << 10 // the error and its text
		if got := alloctest.Bytes(t, 100, func() error {
			if _, _, err := Value(b, wire.CBOR, standard); err == nil {
				return fmt.Errorf("LIMIT-2: %s is admitted", s)
			}
			return nil
		}); got > most {
			t.Errorf("LIMIT-2: %s makes %d bytes", s, got)
		}
	}
}

func TestEnvelopeKeepsWhatIsInInto(t *testing.T) {
	into := []Member{{Name: []byte("before")}}
	members, err := Envelope([]byte(`{"a":1}`), wire.JSON, standard, into)
	if err != nil || describe(members) != `"before"= nothing 0;"a"=1 int 0;` {
		t.Errorf("%s, %v", describe(members), err)
	}
}

// The names of members are the caller's: the next message does not write over them.
func TestNamesOutliveTheScanner(t *testing.T) {
	for enc, messages := range [][2]string{
		wire.JSON: {`{"\u0061bc":1,"d\n":2}`, `{"\u0078yz":1,"w\t":2}`},
		wire.CBOR: {"\xa1\x7f\x61a\x62bc\xff\x01", "\xa1\x7f\x61x\x62yz\xff\x01"},
	} {
		first, err := Envelope([]byte(messages[0]), wire.Encoding(enc), standard, nil)
		if err != nil {
			t.Fatal(err)
		}
		before := describe(first)
		for range 20 {
			if _, err := Envelope([]byte(messages[1]), wire.Encoding(enc), standard, nil); err != nil {
				t.Fatal(err)
			}
		}
		if after := describe(first); after != before {
			t.Errorf("%s has become %s", before, after)
		}
	}
}
