package shape_test

import (
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kith-wire/kith/shape"
)

// admit returns a JSON text as a value of either encoding.
func admit(t *testing.T, text string, enc shape.Encoding) shape.Raw {
	t.Helper()
	r, err := shape.Limits{}.Value([]byte(text), shape.JSON)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	b := r.Append(nil, enc)
	if r, err = (shape.Limits{}).Value(b, enc); err != nil {
		t.Fatalf("%s as %s: %x: %v", text, enc, b, err)
	}
	return r
}

type inner struct {
	Kind string `json:"kind"`
}

type everything struct {
	inner
	B     bool           `json:"b"`
	I     int8           `json:"i"`
	U     uint64         `json:"u"`
	F     float64        `json:"f"`
	S     string         `json:"s"`
	L     []string       `json:"l"`
	A     [2]int         `json:"a"`
	M     map[string]int `json:"m"`
	P     *int           `json:"p"`
	N     *big.Int       `json:"n"`
	T     time.Time      `json:"t"`
	Any   any            `json:"any"`
	Raw   shape.Raw      `json:"raw"`
	Self  *everything    `json:"self,omitempty"`
	Empty string         `json:"empty,omitempty"`
	Skip  chan int       `json:"-"`
}

// A typed value crosses both encodings and comes back, and both say the same.
func TestTypedRoundTrip(t *testing.T) {
	seven := 7
	in := everything{
		inner: inner{"k"}, B: true, I: -128, U: math.MaxUint64, F: 0.1, S: "\u2028<>&\n", L: []string{"x", ""}, A: [2]int{1, 2},
		M: map[string]int{"b": 2, "a": 1}, P: &seven, N: new(big.Int).Lsh(big.NewInt(1), 1000), T: time.Unix(1, 5).UTC(),
		Any: map[string]any{"k": []any{nil, int64(1), 1.0}}, Self: &everything{L: []string{}, M: map[string]int{}},
	}
	in.Raw = admit(t, `[1.0,"x"]`, shape.JSON)
	in.Self.N, in.Self.Raw = new(big.Int), admit(t, "null", shape.JSON)
	var texts []string
	for _, enc := range []shape.Encoding{shape.JSON, shape.CBOR} {
		b := shape.RowsOf(in).AppendReply(nil, enc, shape.Limits{}, nil)
		m, err := shape.Limits{}.Read(b, "")
		if err != nil || m.Refusal != nil {
			t.Fatalf("%q: %v, %v", b, err, m.Refusal)
		}
		texts = append(texts, string(m.Rows.Raw(0).Append(nil, shape.JSON)))
		out, err := shape.Decode[everything](m.Rows, nil)
		if err != nil || len(out) != 1 {
			t.Fatal(err)
		}
		same := cmp.Options{cmp.AllowUnexported(everything{}, inner{}), cmp.Comparer(func(a, b *big.Int) bool {
			return a == b || a != nil && b != nil && a.Cmp(b) == 0
		}), cmp.Comparer(func(a, b shape.Raw) bool {
			return string(a.Append(nil, shape.JSON)) == string(b.Append(nil, shape.JSON))
		})}
		if diff := cmp.Diff(in, out[0], same); diff != "" {
			t.Errorf("%s: %s", enc, diff)
		}
	}
	if texts[0] != texts[1] {
		t.Errorf("JSON says %s\nCBOR says %s", texts[0], texts[1])
	}
	const begins = `{"kind":"k","b":true,"i":-128,"u":18446744073709551615,"f":0.1,"s":"` + "\u2028" + `<>&\n","l":["x",""],"a":[1,2],"m":{"a":1,"b":2},"p":7,`
	if !strings.HasPrefix(texts[0], begins) {
		t.Errorf("got %s", texts[0])
	}
}

// ENC-6: one Go value for one meaning, whichever encoding carried it.
func TestUntyped(t *testing.T) {
	huge, _ := new(big.Int).SetString(strings.Repeat("9", 300), 10)
	for _, c := range []struct {
		text string
		want any
	}{
		{`null`, nil},
		{`true`, true},
		{`"x\u0041"`, "xA"},
		{`1`, int64(1)},
		{`1.0`, 1.0},
		{`1e2`, 100.0},
		{`-0`, math.Copysign(0, -1)},
		{`-0.0`, math.Copysign(0, -1)},
		{`9007199254740993`, int64(9007199254740993)},
		{`9223372036854775808`, new(big.Int).SetUint64(1 << 63)},
		{`-9223372036854775808`, int64(math.MinInt64)},
		{strings.Repeat("9", 300), huge},
		{`[[],{}]`, []any{[]any{}, map[string]any{}}},
		{`{"a":{"b":null}}`, map[string]any{"a": map[string]any{"b": nil}}},
	} {
		for _, enc := range []shape.Encoding{shape.JSON, shape.CBOR} {
			var got any
			if err := admit(t, c.text, enc).Decode(&got); err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s as %s: got %#v, %v", c.text, enc, got, err)
			}
			if f, ok := c.want.(float64); ok && math.Signbit(f) != math.Signbit(got.(float64)) {
				t.Errorf("%s as %s lost its sign", c.text, enc)
			}
		}
	}
}

// ENC-4: a value that is stored in one encoding and answered in the other loses nothing.
func TestLossless(t *testing.T) {
	for _, text := range []string{
		`9007199254740993`, `18446744073709551615`, `-18446744073709551616`, `-0.0`, `1.0`, `1`, `1e300`, `5e-324`, `0.1`,
		"\"\u2028<>&\"", strings.Repeat("9", 300), "-" + strings.Repeat("9", 300), `{"b":1,"a":[true,null]}`, `"\u0000"`,
	} {
		cbor := admit(t, text, shape.CBOR)
		back := string(cbor.Append(nil, shape.JSON))
		want := string(admit(t, text, shape.JSON).Append(nil, shape.JSON))
		if back != want {
			t.Errorf("%s came back as %s", want, back)
		}
	}
}

// What a type takes of what comes, and what it says where it does not.
func TestTaken(t *testing.T) {
	for _, c := range []struct {
		text string
		into any
		err  string // "" is taken
	}{
		{`1.0`, new(int), ""},
		{`1e2`, new(uint8), ""},
		{`1.5`, new(int), " is 1.5 and int is taken"},
		{`300`, new(uint8), " is 300 and an int from 0 of 8 bits is taken"},
		{`-1`, new(uint), " is -1 and an int from 0 of 64 bits is taken"},
		{`1e300`, new(int64), "an int of 64 bits is taken"},
		{`"1"`, new(int), ` is "1" and int is taken`},
		{`null`, new(int), " is null and int is taken"},
		{`null`, new(*int), ""},
		{`null`, new(any), ""},
		{`9007199254740992`, new(float64), ""},
		{`9007199254740993`, new(float64), "a number that a float of 64 bits holds is taken"},
		{`1e39`, new(float32), "a number that a float of 32 bits holds is taken"},
		{`true`, new(string), " is true and text is taken"},
		{`["x"]`, new([]string), ""},
		{`["x",1]`, new([]string), "[1] is 1 and text is taken"},
		{`[1,2,3]`, new([2]int), " is a list of 3 and one of 2 is taken"},
		{`[1]`, new([2]int), " is a list of 1 and one of 2 is taken"},
		{`{"a":1}`, new(map[string]int), ""},
		{`{"a":"x"}`, new(map[string]int), `.a is "x" and int is taken`},
		{`{"kind":"x","KIND":1,"other":{}}`, new(inner), ""},
		{`{"kind":1}`, new(inner), ".kind is 1 and text is taken"},
		{`"2026-12-01T00:00:00Z"`, new(time.Time), ""},
		{`"yesterday"`, new(time.Time), `is "yesterday", which is not taken`},
		{`1`, new(time.Time), " is 1 and text is taken"},
	} {
		for _, enc := range []shape.Encoding{shape.JSON, shape.CBOR} {
			err := admit(t, c.text, enc).Decode(c.into)
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s as %s into %T: got %v, want %q", c.text, enc, c.into, err, c.err)
			}
		}
	}
}

// Types that cannot cross both encodings are told from those that can.
func TestTypeOf(t *testing.T) {
	for _, c := range []struct {
		of   any
		word string // "" cannot cross
	}{
		{true, "bool"}, {int8(1), "int"}, {uint(1), "int"}, {1.5, "number"}, {"", "text"}, {[]string{}, "list"}, {[2]int{}, "list"},
		{map[string]int{}, "map"}, {inner{}, "map"}, {new(string), "text"}, {new(everything), "map"}, {big.Int{}, "int"}, {time.Time{}, "text"},
		{shape.Raw{}, "any"}, {[]any{}, "list"},
		{make(chan int), ""}, {func() {}, ""}, {complex(1, 1), ""}, {[]byte{}, ""}, {[3]byte{}, ""}, {map[int]string{}, ""}, {uintptr(1), ""},
		{struct{ E error }{}, ""}, {[]chan int{}, ""}, {struct {
			N int `json:",string"`
		}{}, ""},
	} {
		word, err := shape.TypeOf(reflect.TypeOf(c.of))
		if word != c.word || (err == nil) != (c.word != "") {
			t.Errorf("%T: got %q, %v", c.of, word, err)
		}
	}
}

// Decode uses its slice again, and what it returns owns everything it holds.
func TestDecodeReuses(t *testing.T) {
	frame := []byte(`{"ok":true,"result":[{"kind":"one"},{"kind":"two"}]}`)
	m, err := shape.Limits{}.Read(frame, "")
	if err != nil {
		t.Fatal(err)
	}
	into := make([]inner, 5)
	got, err := shape.Decode(m.Rows, into)
	if err != nil || &got[0] != &into[0] {
		t.Fatalf("%v, %v", got, err)
	}
	clear(frame)
	if got[0].Kind != "one" || got[1].Kind != "two" {
		t.Errorf("got %v", got)
	}
}

func ExampleRowsOf() {
	type note struct {
		ID   int    `json:"id"`
		Text string `json:"text"`
	}
	notes := []note{{1, "milk"}, {2, "bread"}}
	reply := shape.RowsOf(notes...).AppendReply(nil, shape.JSON, shape.Limits{}, nil)
	fmt.Println(string(reply))
	// Output: {"ok":true,"family":1,"n":2,"result":[{"id":1,"text":"milk"},{"id":2,"text":"bread"}]}
}

func ExampleLimits_Read() {
	m, err := shape.Limits{}.Read([]byte(`{"call":"note","args":["milk",3],"from":"kitchen"}`), "")
	fmt.Println(m.Call.Verb, m.Call.Args.Len(), m.Call.More.Get("from").Quote(), err)
	var text string
	fmt.Println(m.Call.Args.At(1).Decode(&text))
	// Output:
	// note 2 "kitchen" <nil>
	//  is 3 and text is taken
}

func ExampleFault() {
	err := fmt.Errorf("today: %w", shape.Refused.Errorf("no more notes"))
	reply := shape.Rows{}.AppendReply(nil, shape.JSON, shape.Limits{}, err)
	fmt.Println(string(reply))
	// Output: {"ok":false,"family":1,"n":0,"result":[],"error":"today: no more notes","fault":"refused"}
}
