// Package plan carries Go values across both encodings: one plan per Go type, compiled once and used by both, so that two
// callers of one verb can never differ.
package plan

import (
	"math/big"
	"reflect"
	"sync"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// Limits bound what is written. Depth counts the lists and maps that may still open.
type Limits struct {
	Depth, Items, IntBits int
}

// Config tells of the one type that holds admitted bytes itself.
type Config struct {
	Raw       reflect.Type
	AppendRaw func(dst []byte, enc wire.Encoding, v any) []byte // v is a Raw
	SetRaw    func(into any, b []byte, enc wire.Encoding)       // into is a *Raw
}

// Codec compiles and keeps plans. It is safe for use from many goroutines.
type Codec struct {
	cfg   Config
	plans sync.Map // reflect.Type to *plan
}

// New returns a codec.
func New(cfg Config) *Codec { return &Codec{cfg: cfg} }

// plan is how one Go type crosses.
type plan struct {
	word   string // the WIRE word for it
	append func(e *encoder, v reflect.Value) error
	decode func(d *decoder, v reflect.Value) error // v can be set, and nothing of what it was is left
	elem   *plan                                   // of a list: how its elements do
	rows   *structOf                               // of a struct: what moves many of it
	plain  bool                                    // its kind alone says how it crosses
}

// appendAll writes the n elements of a list, each behind its separator. whole is the list again, where its type was known.
func (p *plan) appendAll(e *encoder, list reflect.Value, whole List, n int) (err error) {
	if p.rows != nil && n >= manyRows {
		return p.rows.appendAll(e, list, whole, n)
	}
	start := len(e.dst)
	for i := 0; i < n && err == nil; i++ {
		if i%roomStep == roomStep-1 {
			e.expect(start, i, n)
		}
		e.dst = wire.AppendSep(e.dst, e.enc, i)
		err = inElement(i, p.append(e, list.Index(i)))
	}
	return err
}

// decodeAll stores the elements that come in those of a list, as many as it has. whole is the list again, where its type was
// known.
func (p *plan) decodeAll(d *decoder, it *wire.Iter, list reflect.Value, whole List) (err error) {
	n := list.Len()
	if p.rows != nil && n >= manyRows {
		return p.rows.decodeAll(d, it, list, whole)
	}
	for i := 0; i < n && err == nil && d.Next(it); i++ {
		err = inElement(i, p.decode(d, list.Index(i)))
	}
	return err
}

// Type returns the WIRE word for what a type takes and gives, or why it cannot cross: "Note.Data []uint8 cannot cross: …".
func (c *Codec) Type(t reflect.Type) (string, error) {
	p, err := c.of(t)
	if err != nil {
		return "", err
	}
	return p.word, nil
}

// of returns the plan of a type.
func (c *Codec) of(t reflect.Type) (*plan, error) {
	if p, ok := c.plans.Load(t); ok {
		return p.(*plan), nil
	}
	if t == nil {
		return nil, &Error{Path: "nil", Text: "cannot cross: it is no type"}
	}
	made := map[reflect.Type]*plan{}
	p, err := c.compile(t, made)
	if err != nil {
		name := t.Name()
		if name == "" {
			name = t.String()
		}
		return nil, in(name, err)
	}
	for t, p := range made { // only now: none of them leads to one that is not whole
		c.plans.LoadOrStore(t, p)
	}
	return p, nil
}

// compile makes the plan of a type; made holds those under way, so that a type may hold itself.
func (c *Codec) compile(t reflect.Type, made map[reflect.Type]*plan) (*plan, error) {
	if p, ok := c.plans.Load(t); ok {
		return p.(*plan), nil
	}
	if p := made[t]; p != nil {
		return p, nil
	}
	p := new(plan)
	made[t] = p
	return p, c.fill(p, t, made)
}

func (c *Codec) fill(p *plan, t reflect.Type, made map[reflect.Type]*plan) error {
	switch {
	case t == c.cfg.Raw:
		c.rawPlan(p)
		return nil
	case t == reflect.TypeFor[big.Int]():
		bigPlan(p)
		return nil
	case t.Kind() == reflect.Pointer:
		return c.pointerPlan(p, t, made)
	}
	if its, err := own(p, t); its || err != nil {
		return err
	}
	switch t.Kind() {
	case reflect.Bool:
		boolPlan(p)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		intPlan(p)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		uintPlan(p)
	case reflect.Float32, reflect.Float64:
		floatPlan(p)
	case reflect.String:
		stringPlan(p)
	case reflect.Slice, reflect.Array:
		return c.listPlan(p, t, made)
	case reflect.Map:
		return c.mapPlan(p, t, made)
	case reflect.Struct:
		return c.structPlan(p, t, made)
	case reflect.Interface:
		if t.NumMethod() > 0 {
			return errorf("cannot cross: it has methods, and what comes does not say which type it is")
		}
		c.anyPlan(p)
	default:
		return errorf("cannot cross: neither encoding holds a %s", t.Kind())
	}
	return nil
}

// Append writes one Go value, and says how many members and elements it has at every depth, those of a Raw apart.
func (c *Codec) Append(dst []byte, enc wire.Encoding, v any, l Limits) (out []byte, items int, err error) {
	e := encoders.Get().(*encoder)
	e.dst, e.enc, e.left = dst, enc, l
	return e.finish(c.append(e, v), dst, l)
}

// AppendList writes a slice as a list, each element a row. It is a []T or, which is faster, a *Slice[T].
func (c *Codec) AppendList(dst []byte, enc wire.Encoding, slice any, l Limits) (out []byte, items int, err error) {
	list, is := slice.(List)
	if !is {
		return c.Append(dst, enc, slice, l)
	}
	v := list.value()
	p, err := c.of(v.Type())
	if err != nil {
		return dst, 0, cannotHold(err)
	}
	e := encoders.Get().(*encoder)
	e.dst, e.enc, e.left = dst, enc, l
	return e.finish(p.elem.appendList(e, v, list), dst, l)
}

// AppendValues writes a list of values.
func (c *Codec) AppendValues(dst []byte, enc wire.Encoding, values []any, l Limits) (out []byte, items int, err error) {
	e := encoders.Get().(*encoder)
	e.dst, e.enc, e.left = wire.AppendListOpen(dst, enc, len(values)), enc, l
	_, err = e.open(len(values))
	for i := 0; i < len(values) && err == nil; i++ {
		e.dst = wire.AppendSep(e.dst, enc, i)
		err = inElement(i, c.append(e, values[i]))
	}
	e.dst = wire.AppendListClose(e.dst, enc)
	return e.finish(err, dst, l)
}

// AppendSingle writes a list of the one value that to points to.
func (c *Codec) AppendSingle(dst []byte, enc wire.Encoding, to any, l Limits) (out []byte, items int, err error) {
	v := reflect.ValueOf(to).Elem()
	p, err := c.of(v.Type())
	if err != nil {
		return dst, 0, cannotHold(err)
	}
	e := encoders.Get().(*encoder)
	e.dst, e.enc, e.left = wire.AppendListOpen(dst, enc, 1), enc, l
	if _, err = e.open(1); err == nil {
		err = inElement(0, p.append(e, v))
	}
	e.dst = wire.AppendListClose(e.dst, enc)
	return e.finish(err, dst, l)
}

// finish gives the encoder back and returns what it wrote behind dst.
func (e *encoder) finish(err error, dst []byte, l Limits) ([]byte, int, error) {
	if err == nil && e.spliced {
		err = weighed(e.dst[len(dst):], e.enc, l.Items)
	}
	out, items := e.dst, l.Items-e.left.Items
	*e = encoder{names: e.names[:0]}
	encoders.Put(e)
	if err != nil {
		return dst, 0, err
	}
	return out, items, nil
}

// Decode stores one admitted value where into, a pointer, points. What stands there afterwards is as if it had been zero
// before, and shares nothing with b; after an error it is of no use.
func (c *Codec) Decode(b []byte, enc wire.Encoding, into any) error {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return errorf("cannot be stored in a %T: a pointer is taken", into)
	}
	v = v.Elem()
	p, err := c.of(v.Type())
	if err != nil {
		return cannotHold(err)
	}
	d := decoders.Get().(*decoder)
	d.start(b, enc)
	err = p.decode(d, v)
	d.release()
	return err
}

// DecodeList stores the first n elements of an admitted list in the slice that into points to, whose capacity it uses again. It is
// a *[]T or, which is faster, a *Slice[T].
func (c *Codec) DecodeList(b []byte, enc wire.Encoding, n int, into any) error {
	v := reflect.ValueOf(into).Elem()
	p, err := c.of(v.Type().Elem())
	if err != nil {
		return cannotHold(err)
	}
	v.SetLen(0)
	v.Grow(n)
	v.SetLen(n)
	d := decoders.Get().(*decoder)
	d.start(b, enc)
	it := d.Open()
	whole, _ := into.(List)
	err = p.decodeAll(d, &it, v, whole)
	d.release()
	return err
}
