package plan

import (
	"reflect"
	"slices"

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
	p.append = func(e *encoder, v reflect.Value) error { return c.append(e, v.Interface()) }
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

// append writes what an any holds. The types that untyped makes are known here: they do without reflection.
func (c *Codec) append(e *encoder, value any) error {
	switch v := value.(type) {
	case nil:
		e.dst = wire.AppendNull(e.dst, e.enc)
	case bool:
		e.dst = wire.AppendBool(e.dst, e.enc, v)
	case string:
		return e.text(v)
	case int:
		e.dst = wire.AppendInt(e.dst, e.enc, int64(v))
	case int64:
		e.dst = wire.AppendInt(e.dst, e.enc, v)
	case float64:
		return e.float(v)
	case []any:
		return c.appendUntypedList(e, v)
	case map[string]any:
		return c.appendUntypedMap(e, v)
	default:
		held := reflect.ValueOf(value)
		p, err := c.of(held.Type())
		if err != nil {
			return cannotHold(err)
		}
		if err := e.hop(); err != nil {
			return err
		}
		err = p.append(e, held)
		e.hops--
		return err
	}
	return nil
}

func (c *Codec) appendUntypedList(e *encoder, list []any) error {
	hops, err := e.open(len(list))
	if err != nil {
		return err
	}
	e.dst = wire.AppendListOpen(e.dst, e.enc, len(list))
	start := len(e.dst)
	for i, v := range list {
		if i%roomStep == roomStep-1 {
			e.expect(start, i, len(list))
		}
		e.dst = wire.AppendSep(e.dst, e.enc, i)
		if err := c.append(e, v); err != nil {
			return inElement(i, err)
		}
	}
	e.dst = wire.AppendListClose(e.dst, e.enc)
	e.close(hops)
	return nil
}

// appendUntypedMap writes a map in the bytewise order of its keys, as any other is.
func (c *Codec) appendUntypedMap(e *encoder, m map[string]any) error {
	hops, err := e.open(len(m))
	if err != nil {
		return err
	}
	names := len(e.names) // behind those of the maps around it
	for name := range m {
		e.names = append(e.names, name)
	}
	slices.Sort(e.names[names:])
	e.dst = wire.AppendMapOpen(e.dst, e.enc, len(m))
	start := len(e.dst)
	for i := range len(m) {
		if i%roomStep == roomStep-1 {
			e.expect(start, i, len(m))
		}
		name := e.names[names+i]
		if err := e.key(i, name); err != nil {
			return err
		}
		if err := c.append(e, m[name]); err != nil {
			return inMember(name, err)
		}
	}
	e.names = e.names[:names]
	e.dst = wire.AppendMapClose(e.dst, e.enc)
	e.close(hops)
	return nil
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
