package plan

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fxamacker/cbor/v2"

	"github.com/kith-wire/kith/shape/internal/scan"
	"github.com/kith-wire/kith/shape/internal/wire"
)

var limits = Limits{Depth: 64, Items: 1 << 18, IntBits: 1024}

type nested struct {
	On   bool              `json:"on"`
	Keys map[string]string `json:"keys"`
	Next *nested           `json:"next"`
}

type sample struct {
	Text  string   `json:"text"`
	Whole int64    `json:"whole"`
	Small uint8    `json:"small,omitempty"`
	Real  float64  `json:"real"`
	List  []string `json:"list"`
	In    nested   `json:"in"`
}

var samples = []sample{
	{},
	{Text: "\u2028<>&\"\\\n\x00", Whole: math.MinInt64, Small: 255, Real: math.Copysign(0, -1), List: []string{"", "é"}},
	{Text: "x", Whole: 1<<53 + 1, Real: 5e-324, In: nested{On: true, Keys: map[string]string{"b": "2", "a": "1"}, Next: &nested{}}},
	{Real: 1, Whole: 24}, {Real: 65504, Whole: -25}, {Real: 65505}, {Real: 0.1}, {Real: 1e21}, {Real: 1e-7}, {Real: 5.960464477539063e-8},
}

// oracle is the library that says what the bytes of a Go value mean, told to do as the plans do.
func oracle(t testing.TB) (cbor.EncMode, cbor.DecMode) {
	enc, err := cbor.EncOptions{ShortestFloat: cbor.ShortestFloat16, NilContainers: cbor.NilContainerAsEmpty}.EncMode()
	if err != nil {
		t.Fatal(err)
	}
	dec, err := cbor.DecOptions{DupMapKey: cbor.DupMapKeyEnforcedAPF, FieldNameMatching: cbor.FieldNameMatchingCaseSensitive}.DecMode()
	if err != nil {
		t.Fatal(err)
	}
	return enc, dec
}

// agree checks that plan and libraries read each other, and themselves.
func agree(t *testing.T, in sample) {
	codec := New(Config{})
	enc, dec := oracle(t)
	want := plain(in)

	ours, _, err := codec.Append(nil, wire.CBOR, in, limits)
	if err != nil {
		t.Fatal(err)
	}
	var theirs sample
	if err := dec.Unmarshal(ours, &theirs); err != nil || !reflect.DeepEqual(plain(theirs), want) {
		t.Errorf("the library reads %x as %+v, %v", ours, theirs, err)
	}
	written, err := enc.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if len(in.In.Keys) < 2 && string(written) != string(ours) { // of more, the library chooses another order
		t.Errorf("the library writes %x, the plan %x", written, ours)
	}
	text, _, err := codec.Append(nil, wire.JSON, in, limits)
	if err != nil {
		t.Fatal(err)
	}
	theirs = sample{}
	if err := json.Unmarshal(text, &theirs); err != nil || !reflect.DeepEqual(plain(theirs), want) {
		t.Errorf("encoding/json reads %s as %+v, %v", text, theirs, err)
	}
	for b, as := range map[string]wire.Encoding{string(ours): wire.CBOR, string(written): wire.CBOR, string(text): wire.JSON} {
		if _, _, err := scan.Value([]byte(b), as, scan.Limits(limits)); err != nil {
			t.Fatalf("%q is not admitted: %v", b, err)
		}
		var back sample
		if err := codec.Decode([]byte(b), as, &back); err != nil || !reflect.DeepEqual(plain(back), want) {
			t.Errorf("the plan reads %q as %+v, %v", b, back, err)
		}
	}
}

// plain makes nil and empty the same, as the wire does.
func plain(s sample) sample {
	if len(s.List) == 0 {
		s.List = nil
	}
	for n := &s.In; n != nil; n = n.Next {
		if len(n.Keys) == 0 {
			n.Keys = nil
		}
	}
	return s
}

func TestAgree(t *testing.T) {
	for _, s := range samples {
		agree(t, s)
	}
}

func FuzzPlan(f *testing.F) {
	for _, s := range samples {
		f.Add(s.Text, s.Whole, s.Small, s.Real, strings.Join(s.List, ","), s.In.On)
	}
	f.Fuzz(func(t *testing.T, text string, whole int64, small uint8, real float64, list string, on bool) {
		if !utf8.ValidString(text) || !utf8.ValidString(list) || math.IsNaN(real) || math.IsInf(real, 0) {
			t.Skip("no value of both encodings")
		}
		keys := map[string]string{text: list}
		agree(t, sample{text, whole, small, real, strings.Split(list, ","), nested{on, keys, &nested{Keys: keys}}})
	})
}

// custom says itself how it is CBOR; shout says itself how it is JSON.
type custom struct{ n int }

func (c custom) MarshalCBOR() ([]byte, error) { return cbor.Marshal([]int{c.n}) }
func (c *custom) UnmarshalCBOR(b []byte) error {
	l := []int{}
	err := cbor.Unmarshal(b, &l)
	c.n = l[0]
	return err
}

type shout string

func (s shout) MarshalJSON() ([]byte, error)  { return []byte(` {"shout": "` + string(s) + `"} `), nil }
func (s *shout) UnmarshalJSON(b []byte) error { *s = shout(b); return nil }

type ownBytes struct{}

func (ownBytes) MarshalCBOR() ([]byte, error)  { return []byte{0x41, 0x00}, nil }
func (*ownBytes) UnmarshalCBOR(b []byte) error { return nil }

// A type with a marshaler of its own crosses in both encodings, and what it writes is admitted like anything else.
func TestCustomMarshalers(t *testing.T) {
	codec := New(Config{})
	for _, c := range []struct {
		in, json string
		v        any
	}{
		{"cbor", `[7]`, custom{7}},
		{"json", `{"shout":"x"}`, shout("x")},
	} {
		text, _, err := codec.Append(nil, wire.JSON, c.v, limits)
		if err != nil || string(text) != c.json {
			t.Errorf("%s: got %s, %v", c.in, text, err)
		}
		b, _, err := codec.Append(nil, wire.CBOR, c.v, limits)
		if err != nil || string(scan.Append(nil, wire.JSON, b, wire.CBOR)) != c.json {
			t.Errorf("%s: got %x, %v", c.in, b, err)
		}
		for _, r := range []struct {
			b   []byte
			enc wire.Encoding
		}{{text, wire.JSON}, {b, wire.CBOR}} {
			var back custom
			var loud shout
			if c.in == "cbor" {
				err = codec.Decode(r.b, r.enc, &back)
			} else {
				err = codec.Decode(r.b, r.enc, &loud)
			}
			if err != nil || c.in == "cbor" && back.n != 7 || c.in == "json" && string(loud) != c.json {
				t.Errorf("%s came back as %v, %q, %v", c.in, back, loud, err)
			}
		}
	}
	if b, _, err := codec.Append(nil, wire.JSON, []any{ownBytes{}}, limits); err == nil || !strings.Contains(err.Error(), "[0] writes itself as what cannot cross") {
		t.Errorf("a byte string was written as %q, %v", b, err)
	}
}

type level struct {
	Deep string
	Same int `json:"same"`
}

// Members of embedded structs are the struct's own, by Go's rules.
func TestEmbedded(t *testing.T) {
	type other struct {
		Own int `json:"own"`
	}
	type both struct {
		level
		other
		Deep int
	}
	text, _, err := New(Config{}).Append(nil, wire.JSON, both{level{"x", 1}, other{3}, 4}, limits)
	if want, _ := json.Marshal(both{level{"x", 1}, other{3}, 4}); err != nil || string(text) != string(want) {
		t.Errorf("got %s, %v, want %s", text, err, want)
	}
}

// ENC-5, ENC-7: depth and items are bounded where they are written, at their exact numbers.
func TestWriteLimits(t *testing.T) {
	codec := New(Config{})
	deep := func(n int) any {
		v := any([]any{})
		for range n - 1 {
			v = []any{v}
		}
		return v
	}
	for _, c := range []struct {
		v    any
		fits bool
	}{{deep(64), true}, {deep(65), false}, {make([]int, 100), true}, {make([]int, 101), false}, {[][]int{make([]int, 99)}, true}, {[][]int{make([]int, 100)}, false}} {
		_, _, err := codec.Append(nil, wire.CBOR, c.v, Limits{Depth: 64, Items: 100, IntBits: 64})
		if (err == nil) != c.fits {
			t.Errorf("%.60v: %v", c.v, err)
		}
	}
}
