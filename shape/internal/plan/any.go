package plan

import (
	"reflect"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// pointerPlan: nil is null, and the other way round.
func (c *Codec) pointerPlan(p *plan, t reflect.Type, made map[reflect.Type]*plan) error {
	end := t
	for seen := map[reflect.Type]bool{}; end.Kind() == reflect.Pointer; end = end.Elem() {
		if seen[end] {
			return errorf("cannot cross: it points to itself and nothing else")
		}
		seen[end] = true
	}
	elem, err := c.compile(t.Elem(), made)
	if err != nil {
		return err
	}
	if last := made[end]; last != nil { // it may be under way, and its word is known first
		p.word = last.word
	} else {
		p.word = elem.word
	}
	p.append = func(e *encoder, v reflect.Value) error {
		if v.IsNil() {
			e.dst = wire.AppendNull(e.dst, e.enc)
			return nil
		}
		if err := e.hop(); err != nil {
			return err
		}
		err := elem.append(e, v.Elem())
		e.hops--
		return err
	}
	p.decode = func(d *decoder, v reflect.Value) error {
		if d.Kind() == wire.Null {
			d.Null()
			v.SetZero()
			return nil
		}
		to := reflect.New(t.Elem())
		v.Set(to)
		return elem.decode(d, to.Elem())
	}
	return nil
}

// rawPlan: admitted bytes are spliced in as they are, and an admitted value is kept as it came.
func (c *Codec) rawPlan(p *plan) {
	p.word = "any"
	p.append = func(e *encoder, v reflect.Value) error {
		at := len(e.dst)
		e.dst = c.cfg.AppendRaw(e.dst, e.enc, v.Interface())
		return e.splice(at)
	}
	p.decode = func(d *decoder, v reflect.Value) error {
		c.cfg.SetRaw(v.Addr().Interface(), d.Skip(), d.Enc)
		return nil
	}
}

// anyPlan: whatever stands there (ENC-6).
func (c *Codec) anyPlan(p *plan) {
	p.word = "any"
	p.append = func(e *encoder, v reflect.Value) error {
		if v.IsNil() {
			e.dst = wire.AppendNull(e.dst, e.enc)
			return nil
		}
		v = v.Elem()
		held, err := c.of(v.Type())
		if err != nil {
			return cannotHold(err)
		}
		if err := e.hop(); err != nil {
			return err
		}
		err = held.append(e, v)
		e.hops--
		return err
	}
	p.decode = func(d *decoder, v reflect.Value) error {
		got := untyped(d)
		if got == nil {
			v.SetZero()
			return nil
		}
		v.Set(reflect.ValueOf(got))
		return nil
	}
}

// untyped reads what comes into the one Go value that means it (ENC-6).
func untyped(d *decoder) any {
	switch d.Kind() {
	case wire.Bool:
		return d.Bool()
	case wire.Text:
		return d.text()
	case wire.Int, wire.Float:
		switch n := d.Number(); {
		case n.IsFloat:
			return n.Float
		case n.Big != nil:
			return n.Big
		default:
			return n.Int
		}
	case wire.List:
		it := d.Open()
		list := make([]any, 0, room(it))
		for d.Next(&it) {
			list = append(list, untyped(d))
		}
		return list
	case wire.Map:
		it := d.Open()
		m := make(map[string]any, room(it))
		for d.Next(&it) {
			name := d.key()
			m[name] = untyped(d)
		}
		return m
	}
	d.Null()
	return nil
}

// room is how many elements or members to make room for before they come: as many as are told, none where JSON tells
// nothing. What was admitted is there, so no one gets more room than was paid for.
func room(it wire.Iter) int { return max(it.N, 0) }
