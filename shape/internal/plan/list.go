package plan

import (
	"reflect"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// listPlan: a slice, nil too, is a list; an array takes as many elements as it has.
func (c *Codec) listPlan(p *plan, t reflect.Type, made map[reflect.Type]*plan) error {
	p.word = wire.List.String()
	elem, err := c.compile(t.Elem(), made)
	if err != nil {
		return inType("[]", t.Elem(), err)
	}
	if t.Elem().Kind() == reflect.Uint8 && elem.word == wire.Int.String() {
		return errorf("cannot cross: binary travels as base64url text")
	}
	p.elem = elem
	p.append = func(e *encoder, v reflect.Value) error { return elem.appendList(e, v, nil) }
	if t.Kind() == reflect.Array {
		p.decode = func(d *decoder, v reflect.Value) error { return decodeArray(elem, d, v) }
		return nil
	}
	none := reflect.MakeSlice(t, 0, 0)
	p.decode = func(d *decoder, v reflect.Value) error { return decodeSlice(elem, d, v, none) }
	return nil
}

// appendList writes a list of elements that cross by p.
func (p *plan) appendList(e *encoder, v reflect.Value, whole List) error {
	n := v.Len()
	hops, err := e.open(n)
	if err != nil {
		return err
	}
	e.dst = wire.AppendListOpen(e.dst, e.enc, n)
	if err := p.appendAll(e, v, whole, n); err != nil {
		return err
	}
	e.dst = wire.AppendListClose(e.dst, e.enc)
	e.close(hops)
	return nil
}

func decodeSlice(elem *plan, d *decoder, v, none reflect.Value) error {
	if d.Kind() != wire.List {
		return taken(d.Cursor, wire.List.String())
	}
	it := d.Open()
	v.SetZero()
	v.Grow(room(it))
	for i := 0; d.Next(&it); i++ {
		if i == v.Cap() {
			v.Grow(max(1, 4-i))
		}
		v.SetLen(i + 1)
		if err := elem.decode(d, v.Index(i)); err != nil {
			return inElement(i, err)
		}
	}
	if v.Len() == 0 {
		v.Set(none)
	}
	return nil
}

func decodeArray(elem *plan, d *decoder, v reflect.Value) error {
	if d.Kind() != wire.List {
		return taken(d.Cursor, wire.List.String())
	}
	it := d.Open()
	n := 0
	for ; d.Next(&it); n++ {
		if n >= v.Len() {
			d.Skip()
		} else if err := elem.decode(d, v.Index(n)); err != nil {
			return inElement(n, err)
		}
	}
	if n != v.Len() {
		return errorf("is a list of %d and one of %d is taken", n, v.Len())
	}
	return nil
}
