package shape

import (
	"bytes"
	"iter"
	"reflect"
	"unicode/utf8"

	"github.com/kith-wire/kith/shape/internal/plan"
	"github.com/kith-wire/kith/shape/internal/scan"
	"github.com/kith-wire/kith/shape/internal/wire"
)

// Encoding says how a message is written: two ways to write one shape (ENC-1).
type Encoding uint8

const (
	JSON = Encoding(wire.JSON)
	CBOR = Encoding(wire.CBOR)
)

func (e Encoding) String() string {
	if e == CBOR {
		return "cbor"
	}
	return "json"
}

// Raw is one value that has been admitted and not decoded: a part of the message it came in, and good as long as that is.
// A word of a command line is one too: it is text until somebody asks for something else (ARGV-3).
type Raw struct {
	b    []byte
	enc  wire.Encoding
	word bool
}

// IsZero reports whether there is no value.
func (r Raw) IsZero() bool { return r.b == nil }

// Encoding tells how the value's bytes are written.
func (r Raw) Encoding() Encoding { return Encoding(r.enc) }

// Clone returns a value that owns its bytes.
func (r Raw) Clone() Raw {
	r.b = bytes.Clone(r.b)
	return r
}

// Kind returns the WIRE word for what the value is: null, bool, text, int, number, list or map.
func (r Raw) Kind() string {
	if r.word {
		return wire.Text.String()
	}
	c := r.cursor()
	return c.Kind().String()
}

// Quote returns the value as JSON, cut to what an error text may quote (ENC-5).
func (r Raw) Quote() string {
	if len(r.b) > 1<<10 && !r.word { // enough for 64 bytes in either encoding, and no copy of a large value
		return r.Kind()
	}
	return wire.Quote(r.Append(nil, JSON))
}

// Append writes the value in an encoding: compact, members in the order they came. It loses nothing (ENC-4).
func (r Raw) Append(dst []byte, enc Encoding) []byte {
	if r.word {
		return wire.AppendText(dst, wire.Encoding(enc), r.b)
	}
	if r.b == nil {
		return wire.AppendNull(dst, wire.Encoding(enc))
	}
	return scan.Append(dst, wire.Encoding(enc), r.b, r.enc)
}

// Text returns the bytes of a text; false for any other value, and for a word that is not UTF-8. Where the text stands in its message as
// it is, they are a part of it, good as long as the message is and not to be written to; a JSON text with an escape, or a
// CBOR text in chunks, is put together in memory of its own.
func (r Raw) Text() (text []byte, is bool) {
	if r.word {
		return r.b, utf8.Valid(r.b)
	}
	c := r.cursor()
	if c.Kind() != wire.Text {
		return nil, false
	}
	text, _ = c.Text(nil)
	return text, true
}

// Decode stores the value where into, a pointer, points. A word is text for a text type and is read as JSON for any other.
// The error is Refused and says what came and what is taken; its text is made to stand right behind the name of what it is
// for, which the caller knows.
func (r Raw) Decode(into any) error {
	if !r.word {
		return refusedValue(codec.Decode(r.b, r.enc, into))
	}
	taken, err := codec.Type(reflect.TypeOf(into).Elem())
	if err != nil {
		return refusedValue(err)
	}
	if taken == wire.Text.String() {
		if !utf8.Valid(r.b) {
			return Refused.Errorf(" is not UTF-8: %s", wire.Quote(r.b))
		}
		return refusedValue(codec.Decode(wire.AppendText(nil, wire.JSON, r.b), wire.JSON, into))
	}
	value, err := Limits{}.Value(r.b, JSON)
	if err != nil {
		return Refused.Errorf(" is \"%s\" and %s is taken, as JSON: %v", wire.Quote(r.b), taken, err)
	}
	return value.Decode(into)
}

func refusedValue(err error) error {
	if err == nil {
		return nil
	}
	return Refused.Errorf("%w", err)
}

// Members returns the members of a map, and none of any other value.
func (r Raw) Members() Members {
	if c := r.cursor(); r.word || c.Kind() != wire.Map {
		return Members{}
	}
	return Members{b: r.b, enc: r.enc}
}

// Rows are the rows that a value is where no list of rows was sent: none for null, the elements of a list, and any other value
// itself (RPC-6). They are parts of its bytes.
func (r Raw) Rows() Rows {
	switch r.Kind() {
	case "null", "":
		return Rows{}
	case "list":
		args, _ := r.Args()
		return Rows{n: args.n, held: args.n, list: args.list, enc: args.enc}
	}
	return Rows{n: 1, held: 1, list: r.b, bare: true, enc: r.enc}
}

// All yields the elements of a list, and none of any other value.
func (r Raw) All() iter.Seq[Raw] {
	return func(yield func(Raw) bool) {
		c := r.cursor()
		if r.word || c.Kind() != wire.List {
			return
		}
		for it := c.Open(); c.Next(&it); {
			if !yield(Raw{b: c.Skip(), enc: r.enc}) {
				return
			}
		}
	}
}

func (r Raw) cursor() wire.Cursor { return wire.Cursor{B: r.b, Enc: r.enc} }

// Value admits one value that stands alone in b. The encoding is read off the first byte unless it is given (ENC-1). The
// value is a part of b.
func (l Limits) Value(b []byte, enc ...Encoding) (Raw, error) {
	start, as := 0, wire.JSON
	if len(enc) > 0 {
		as = wire.Encoding(enc[0])
	} else {
		var err error
		if as, start, err = scan.Detect(b); err != nil {
			return Raw{}, malformed(err, 0)
		}
	}
	if _, _, err := scan.Value(b[start:], as, l.scan()); err != nil {
		return Raw{}, malformed(err, start)
	}
	return Raw{b: b[start:], enc: as}, nil
}

// codec carries Go values across both encodings; a Raw among them is spliced in as it is.
var codec = plan.New(plan.Config{
	Raw:       reflect.TypeFor[Raw](),
	AppendRaw: func(dst []byte, enc wire.Encoding, v any) []byte { return v.(Raw).Append(dst, Encoding(enc)) },
	SetRaw: func(into any, b []byte, enc wire.Encoding) {
		*into.(*Raw) = Raw{b: bytes.Clone(b), enc: enc}
	},
})

// TypeOf returns the WIRE word for what a Go type takes and gives: text, bool, int, number, list, map or any. A type that
// cannot cross both encodings (a chan, a func, []byte, a map without text keys) is an error that says why.
func TypeOf(t reflect.Type) (string, error) { return codec.Type(t) }
