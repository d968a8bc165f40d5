package plan

import (
	"errors"
	"math"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// half says how it is written and not how it is read.
type half struct{}

func (half) MarshalText() ([]byte, error) { return nil, nil }

type selfish *selfish

type hidden struct{ X int }

type octet uint8

// A type that cannot cross is told when it is registered, with the way to it.
func TestRefusedTypes(t *testing.T) {
	for _, c := range []struct {
		of   reflect.Type
		want string
	}{
		{reflect.TypeFor[chan int](), "chan int cannot cross: neither encoding holds a chan"},
		{reflect.TypeFor[func()](), "func() cannot cross: neither encoding holds a func"},
		{reflect.TypeFor[complex64](), "complex64 cannot cross: neither encoding holds a complex64"},
		{reflect.TypeFor[uintptr](), "uintptr cannot cross: neither encoding holds a uintptr"},
		{reflect.TypeFor[[]byte](), "[]uint8 cannot cross: binary travels as base64url text"},
		{reflect.TypeFor[[4]octet](), "[4]plan.octet cannot cross: binary travels as base64url text"},
		{reflect.TypeFor[map[int]string](), "map[int]string cannot cross: the keys of a map are text"},
		{reflect.TypeFor[error](), "error cannot cross: it has methods, and what comes does not say which type it is"},
		{reflect.TypeFor[half](), "half cannot cross: it has MarshalText and not UnmarshalText, and what is written must be read"},
		{reflect.TypeFor[selfish](), "selfish cannot cross: it points to itself and nothing else"},
		{reflect.TypeFor[*[]chan int](), "*[]chan int[] chan int cannot cross: neither encoding holds a chan"},
		{reflect.TypeFor[map[string]func()](), "map[string]func(){} func() cannot cross: neither encoding holds a func"},
		{reflect.TypeFor[struct{ N []struct{ Data []byte } }](), ".N[].Data []uint8 cannot cross: binary travels as base64url text"},
		{reflect.TypeFor[struct {
			N int `json:"n,string"`
		}](), ".N int cannot cross: it is tagged string, and a number crosses as the number it is"},
		{reflect.StructOf([]reflect.StructField{
			{Name: "A", Type: reflect.TypeFor[int](), Tag: `json:"x"`},
			{Name: "B", Type: reflect.TypeFor[int](), Tag: `json:"x"`},
		}), " cannot cross: it has two members named x"},
		{reflect.StructOf([]reflect.StructField{
			{Name: "A", Type: reflect.TypeFor[int](), Tag: `json:"\xff"`},
		}), ".A int cannot cross: its name is not UTF-8"},
		{reflect.TypeFor[struct{ *hidden }](), ".hidden *plan.hidden cannot cross: a pointer that is embedded and not exported cannot be set"},
		{nil, "nil cannot cross: it is no type"},
	} {
		codec := New(Config{})
		for range 2 { // a refusal leaves nothing behind
			word, err := codec.Type(c.of)
			if word != "" || err == nil || !strings.HasSuffix(err.Error(), c.want) {
				t.Errorf("%v: got %q, %v, want %q", c.of, word, err, c.want)
			}
		}
		if c.of == nil {
			continue
		}
		v := reflect.Zero(c.of).Interface()
		if _, _, err := codec.Append(nil, wire.JSON, []any{v}, limits); v != nil && err == nil {
			t.Errorf("%v was written", c.of)
		}
		if err := codec.Decode([]byte("null"), wire.JSON, reflect.New(c.of).Interface()); err == nil {
			t.Errorf("%v was read", c.of)
		}
	}
}

// ENC-7: what cannot be written is an error that names the member, and nothing is written.
func TestCannotBeWritten(t *testing.T) {
	type row struct {
		Text string             `json:"text"`
		Any  any                `json:"any"`
		Map  map[string]float64 `json:"map"`
	}
	type knot struct{ K any }
	ring := new(knot)
	ring.K = ring
	list := []any{nil}
	list[0] = list
	var self any
	self = &self
	few := Limits{Depth: 4, Items: 10, IntBits: 16}
	for _, c := range []struct {
		v    any
		want string
	}{
		{[]row{{}, {Text: "a\xff"}}, `[1].text is not UTF-8: "a\xff"`},
		{[]row{{Map: map[string]float64{"x": math.NaN()}}}, `[0].map.x is NaN, and a number is finite`},
		{[]any{math.Inf(-1)}, `[0] is -Inf, and a number is finite`},
		{[]float32{float32(math.Inf(1))}, `[0] is +Inf, and a number is finite`},
		{map[string]any{"a\xff": 1}, ` has a key that is not UTF-8: "a\xff"`},
		{ring, `.K.K.K.K nests deeper than the limit of open maps and lists allows`},
		{list, `[0][0][0][0] nests deeper than the limit of open maps and lists allows`},
		{self, ` is behind more than 100 pointers, which may be a ring`},
		{[]int{10: 0}, ` holds more members and elements than the limit of 10 leaves`},
		{[][]int{{5: 0}, {3: 0}}, `[1] holds more members and elements than the limit of 2 leaves`},
		{[]*big.Int{big.NewInt(1<<16 - 1), big.NewInt(1 << 16)}, `[1] is an integer of 17 bits and the limit is 16`},
		{big.NewInt(-1<<16 - 1), ` is an integer of 17 bits and the limit is 16`},
		{[]any{make(chan int)}, `[0] cannot be written or read: chan int cannot cross: neither encoding holds a chan`},
		{[]any{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}, `[0] cannot be written: Time.MarshalText: year outside of range [0,9999]`},
		{[]shout{"\xff"}, "[0] writes itself as what cannot cross: byte 0xff inside a text is not UTF-8 at byte 12"},
		{[][][][]custom{{{{{1}}}}}, `[0][0][0][0] nests deeper than the limit of open maps and lists allows`},
		{[]custom{4: {1}, 5: {1}}, ` holds 12 members and elements, more than the limit of 10`},
		{[]any{raw{[]byte(`[[[[]]]]`), wire.JSON}}, `[0] nests deeper than the limit of open maps and lists allows`},
		{[]any{raw{[]byte(`[0,0,0,0,0]`), wire.JSON}, raw{[]byte(`[0,0,0,0]`), wire.JSON}}, ` holds 11 members and elements, more than the limit of 10`},
	} {
		for name, enc := range encodings {
			got, _, err := withRaw().Append([]byte("kept"), enc, c.v, few)
			var its *Error
			if err == nil || err.Error() != c.want || !errors.As(err, &its) || string(got) != "kept" {
				t.Errorf("%s: got %q, %v, want %q", name, got, err, c.want)
			}
		}
	}
	for _, v := range []any{ // each at its limit
		[]any{[]any{[]any{[]any{}}}}, []int{9: 0}, big.NewInt(1<<16 - 1), big.NewInt(-1 << 16),
		[]any{raw{[]byte(`[[[]]]`), wire.JSON}}, []any{raw{[]byte(`[0,0,0,0]`), wire.JSON}, raw{[]byte(`[0,0,0,0]`), wire.JSON}},
	} {
		for name, enc := range encodings {
			if _, _, err := withRaw().Append(nil, enc, v, few); err != nil {
				t.Errorf("%s: %v: %v", name, v, err)
			}
		}
	}
}

// What does not fit is refused with what came and what is taken, whichever encoding carried it (ENC-6, SHAPE-7).
func TestNotTaken(t *testing.T) {
	for _, c := range []struct {
		text string
		into any
		want string // "" is taken
	}{
		{`1.0`, new(int), ""}, {`1e2`, new(uint8), ""}, {`-0.0`, new(int), ""}, {`9223372036854775807`, new(int64), ""},
		{`1e18`, new(int64), ""}, {`18446744073709551615`, new(uint64), ""}, {`1e19`, new(uint64), ""}, {`1e22`, new(big.Int), ""},
		{`9223372036854775808`, new(int64), " is 9223372036854775808 and an int of 64 bits is taken"},
		{`9223372036854775808.0`, new(int64), " is 9223372036854776000.0 and an int of 64 bits is taken"},
		{`18446744073709551616`, new(uint64), " is 18446744073709551616 and an int from 0 of 64 bits is taken"},
		{`-129`, new(int8), " is -129 and an int of 8 bits is taken"},
		{`-1`, new(uint16), " is -1 and an int from 0 of 16 bits is taken"},
		{`1.5`, new(big.Int), " is 1.5 and int is taken"},
		{`9007199254740992`, new(float64), ""}, {`9007199254740993`, new(float64), " is 9007199254740993 and a number that a float of 64 bits holds is taken"},
		{`9223372036854775807`, new(float64), " is 9223372036854775807 and a number that a float of 64 bits holds is taken"},
		{`36893488147419103232`, new(float64), ""}, {`0.1`, new(float32), ""}, {`16777217`, new(float32), ""},
		{`3.5e38`, new(float32), " is 3.5e+38 and a number that a float of 32 bits holds is taken"},
		{`null`, new(string), " is null and text is taken"}, {`null`, new(base), " is null and map is taken"},
		{`null`, new([]int), " is null and list is taken"}, {`null`, new(map[string]int), " is null and map is taken"},
		{`null`, new(time.Time), " is null and text is taken"}, {`null`, new(big.Int), " is null and int is taken"},
		{`null`, new(*int), ""}, {`null`, new(any), ""}, {`null`, new(raw), ""},
		{`"1"`, new(int), ` is "1" and int is taken`}, {`1`, new(bool), " is 1 and bool is taken"}, {`true`, new(float64), " is true and number is taken"},
		{`["x"]`, new([1]int), `[0] is "x" and int is taken`}, {`[1,2]`, new([1]int), " is a list of 2 and one of 1 is taken"},
		{`{"id":1,"ID":"x","iD":[],"name":5}`, new(base), ""}, {`{"more":{"id":"x"}}`, new(base), ""},
		{`[{"k":{"id":[]}}]`, new([]map[string]base), "[0].k.id is [] and int is taken"},
		{`{"Kids":[{"Kids":[{"Kids":5}]}]}`, new(tree), ".Kids[0].Kids[0].Kids is 5 and list is taken"},
		{`"never"`, new(time.Time), ` is "never", which is not taken as time.Time`},
		{`{"` + strings.Repeat("k", 100) + `":1}`, new(map[string]bool), "." + strings.Repeat("k", 63) + "… is 1 and bool is taken"},
		{`"` + strings.Repeat("v", 100) + `"`, new(int), ` is "` + strings.Repeat("v", 64) + `…" and int is taken`},
		{`[` + strings.Repeat("1,", 2000) + `1]`, new(int), " is a list and int is taken"},
	} {
		for name, enc := range encodings {
			err := withRaw().Decode(admitted(t, c.text, enc), enc, c.into)
			if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
				t.Errorf("%s: %s into %T: got %v, want %q", name, c.text, c.into, err, c.want)
			}
		}
	}
	if err := withRaw().Decode([]byte("1"), wire.JSON, 5); err == nil {
		t.Error("a number was decoded into a number, not a pointer")
	}
}
