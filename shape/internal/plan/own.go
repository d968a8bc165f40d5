package plan

import (
	"encoding"
	"reflect"

	"github.com/kith-wire/kith/shape/internal/scan"
	"github.com/kith-wire/kith/shape/internal/wire"
)

// A type may say itself how it crosses: as CBOR, as text or as JSON, the first of these that it has. It must have both ways,
// or what is written could not be read. What it writes as CBOR or JSON goes through the scanner like anything that comes from
// outside, so that it fits both encodings.
type (
	cborMarshaler   interface{ MarshalCBOR() ([]byte, error) }
	cborUnmarshaler interface{ UnmarshalCBOR([]byte) error }
	jsonMarshaler   interface{ MarshalJSON() ([]byte, error) }
	jsonUnmarshaler interface{ UnmarshalJSON([]byte) error }
)

// The types are asked for by the first plan and not before: a program pays at every start for a table of them.
var ownWays = [...]struct {
	name    string
	out, in func() reflect.Type
	fill    func(p *plan, t reflect.Type)
}{
	{"CBOR", reflect.TypeFor[cborMarshaler], reflect.TypeFor[cborUnmarshaler], func(p *plan, t reflect.Type) {
		ownPlan(p, t, wire.CBOR,
			func(v any) ([]byte, error) { return v.(cborMarshaler).MarshalCBOR() },
			func(v any, b []byte) error { return v.(cborUnmarshaler).UnmarshalCBOR(b) })
	}},
	{"Text", reflect.TypeFor[encoding.TextMarshaler], reflect.TypeFor[encoding.TextUnmarshaler], textPlan},
	{"JSON", reflect.TypeFor[jsonMarshaler], reflect.TypeFor[jsonUnmarshaler], func(p *plan, t reflect.Type) {
		ownPlan(p, t, wire.JSON,
			func(v any) ([]byte, error) { return v.(jsonMarshaler).MarshalJSON() },
			func(v any, b []byte) error { return v.(jsonUnmarshaler).UnmarshalJSON(b) })
	}},
}

// own makes the plan of a type that says itself how it crosses, and says whether it does.
func own(p *plan, t reflect.Type) (bool, error) {
	if t.PkgPath() == "" && t.Kind() != reflect.Struct { // predeclared or without a name, and embedding nothing: it has no methods
		return false, nil
	}
	at := reflect.PointerTo(t)
	for i := range ownWays {
		way := &ownWays[i]
		switch out, in := at.Implements(way.out()), at.Implements(way.in()); {
		case out && in:
			way.fill(p, t)
			return true, nil
		case out:
			return true, errorf("cannot cross: it has Marshal%s and not Unmarshal%[1]s, and what is written must be read", way.name)
		case in:
			return true, errorf("cannot cross: it has Unmarshal%s and not Marshal%[1]s, and what is read must be written", way.name)
		}
	}
	return false, nil
}

// textPlan: a type that says itself how it is text, as time.Time does.
func textPlan(p *plan, t reflect.Type) {
	p.word = wire.Text.String()
	p.append = func(e *encoder, v reflect.Value) error {
		text, err := addressed(v).(encoding.TextMarshaler).MarshalText()
		if err != nil {
			return &Error{Text: "cannot be written: " + err.Error(), Err: err}
		}
		return e.text(string(text))
	}
	p.decode = func(d *decoder, v reflect.Value) error {
		before := d.Cursor
		if d.Kind() != wire.Text {
			return taken(before, p.word)
		}
		text, alias := d.Text(nil)
		if alias {
			text = append([]byte(nil), text...) // the method may write to it, and the message is not its
		}
		v.SetZero()
		if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText(text); err != nil {
			return refusedBy(t, before, err)
		}
		return nil
	}
}

// refusedBy is the error of a value that a type's own method does not take. What the method says of it may quote any
// amount of what came, so it is only the cause.
func refusedBy(t reflect.Type, before wire.Cursor, err error) error {
	return &Error{Text: "is " + Quote(before) + ", which is not taken as " + t.String(), Err: err}
}

// ownPlan: a type that says itself how it is CBOR or JSON.
func ownPlan(p *plan, t reflect.Type, its wire.Encoding, marshal func(any) ([]byte, error), unmarshal func(any, []byte) error) {
	p.word = "any"
	p.append = func(e *encoder, v reflect.Value) error {
		b, err := marshal(addressed(v))
		if err != nil {
			return &Error{Text: "cannot be written: " + err.Error(), Err: err}
		}
		limits := scan.Limits{Depth: max(1, e.left.Depth), Items: max(1, e.left.Items), IntBits: e.left.IntBits}
		if _, _, err := scan.Value(b, its, limits); err != nil {
			return &Error{Text: "writes itself as what cannot cross: " + err.Error(), Err: err}
		}
		at := len(e.dst)
		e.dst = scan.Append(e.dst, e.enc, b, its)
		return e.splice(at)
	}
	p.decode = func(d *decoder, v reflect.Value) error {
		before := d.Cursor
		v.SetZero()
		if err := unmarshal(v.Addr().Interface(), scan.Append(nil, its, d.Skip(), d.Enc)); err != nil {
			return refusedBy(t, before, err)
		}
		return nil
	}
}
