// Package value reads and writes what both encodings of the wire can hold. It is what the checker looks at programs with and
// what its peers are made of: small, strict, by WIRE §3 alone, and no part of the code it is used to check.
package value

import (
	"fmt"
	"math/big"
	"slices"
)

// Encoding is JSON or CBOR.
type Encoding uint8

const (
	JSON Encoding = iota
	CBOR
)

func (e Encoding) String() string { return [...]string{"JSON", "CBOR"}[e] }

// Kind says what a value is.
type Kind uint8

const (
	Null Kind = iota
	Bool
	Int
	Float
	Text
	List
	Map
)

func (k Kind) String() string {
	return [...]string{"null", "a bool", "an integer", "a number", "text", "a list", "a map"}[k]
}

// Value is one value. Only the field of its Kind is set.
type Value struct {
	Kind  Kind
	Bool  bool
	Int   *big.Int
	Float float64
	Text  string
	List  []Value
	Map   []Member // in the order they came
}

// Member is one member of a map.
type Member struct {
	Name  string
	Value Value
}

// The values that replies are made of.
func OfBool(b bool) Value        { return Value{Kind: Bool, Bool: b} }
func OfInt(n int) Value          { return Value{Kind: Int, Int: big.NewInt(int64(n))} }
func OfText(s string) Value      { return Value{Kind: Text, Text: s} }
func OfList(of ...Value) Value   { return Value{Kind: List, List: of} }
func OfMap(of ...Member) Value   { return Value{Kind: Map, Map: of} }
func M(n string, v Value) Member { return Member{Name: n, Value: v} }

// Get returns a member of a map.
func (v Value) Get(name string) (Value, bool) {
	for _, m := range v.Map {
		if m.Name == name {
			return m.Value, true
		}
	}
	return Value{}, false
}

// Is reports whether the value is that whole number.
func (v Value) Is(n int) bool { return v.Kind == Int && v.Int.IsInt64() && v.Int.Int64() == int64(n) }

// Equal reports whether two values mean the same. The members of maps stand in the same order.
func Equal(a, b Value) bool {
	switch {
	case a.Kind != b.Kind || a.Bool != b.Bool || a.Float != b.Float || a.Text != b.Text:
		return false
	case a.Kind == Int:
		return a.Int.Cmp(b.Int) == 0
	}
	return slices.EqualFunc(a.List, b.List, Equal) && slices.EqualFunc(a.Map, b.Map, func(x, y Member) bool {
		return x.Name == y.Name && Equal(x.Value, y.Value)
	})
}

// Limits are those of ENC-5.
type Limits struct{ Depth, Items, IntBits int }

// Default are the limits of the wire.
var Default = Limits{Depth: 64, Items: 262144, IntBits: 1024}

// Error says what was wrong with the bytes and where.
type Error struct {
	Offset int
	Text   string
}

func (e *Error) Error() string { return fmt.Sprintf("%s at byte %d", e.Text, e.Offset) }

// Doc is what was read.
type Doc struct {
	Value Value
	Loose []string // what a reader takes and no writer may write: space, long heads, indefinite lengths
	First string   // the name of the first member, known even where the rest could not be read
}

// Detect finds out the encoding by the first byte that is no space, and where that byte is (ENC-1).
func Detect(b []byte) (enc Encoding, start int) {
	for start < len(b) && isSpace(b[start]) {
		start++
	}
	if start < len(b) && b[start] >= 0x80 && b[start] <= 0xbf {
		return CBOR, start
	}
	return JSON, start
}

// Read reads the one value that b holds. The error is an [*Error].
func Read(b []byte, enc Encoding, l Limits) (Doc, error) {
	r := &reader{b: b, limit: l}
	var v Value
	if enc == CBOR {
		v = r.cbor(0)
	} else {
		r.space(true)
		v = r.json(0)
		r.space(true)
	}
	if r.err == nil && r.at < len(b) {
		r.fail(r.at, "data after the end of the value")
	}
	doc := Doc{Value: v, Loose: r.loose, First: r.first}
	if r.err != nil {
		return doc, r.err
	}
	return doc, nil
}

// reader is at one place of b. Once err is set its methods do nothing and return nothing of worth.
type reader struct {
	b     []byte
	at    int
	limit Limits
	items int
	loose []string
	first string
	named bool // first is set
	err   *Error
}

func (r *reader) fail(at int, format string, a ...any) {
	if r.err == nil {
		r.err = &Error{Offset: at, Text: fmt.Sprintf(format, a...)}
		r.at = len(r.b)
	}
}

// noted is how many loose things are told.
const noted = 4

func (r *reader) note(at int, what string) {
	if len(r.loose) < noted {
		r.loose = append(r.loose, fmt.Sprintf("%s at byte %d", what, at))
	}
}

// deeper reports whether one more list or map may be open.
func (r *reader) deeper(depth int) bool {
	if depth >= r.limit.Depth {
		r.fail(r.at, "more than %d open maps and lists, the limit", r.limit.Depth)
	}
	return r.err == nil
}

// item counts one member or element.
func (r *reader) item() {
	if r.items++; r.items > r.limit.Items {
		r.fail(r.at, "more than %d members and elements, the limit", r.limit.Items)
	}
}

// name takes the name of a member, which no other member of its map may have.
func (r *reader) name(at int, name string, seen map[string]bool) {
	if !r.named {
		r.first, r.named = name, true
	}
	if seen[name] {
		r.fail(at, "a key that the map has already")
	}
	seen[name] = true
}

// integer checks a whole number of any size.
func (r *reader) integer(at int, n *big.Int) Value {
	if n.BitLen() > r.limit.IntBits {
		r.fail(at, "an integer of more than %d bits, the limit", r.limit.IntBits)
	}
	return Value{Kind: Int, Int: n}
}
