package plan

import (
	"reflect"
	"slices"
	"strings"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// mapPlan: a map with text keys, written in the bytewise order of its keys so that one value has one text.
func (c *Codec) mapPlan(p *plan, t reflect.Type, made map[reflect.Type]*plan) error {
	p.word = wire.Map.String()
	if t.Key().Kind() != reflect.String {
		return errorf("cannot cross: the keys of a map are text")
	}
	elem, err := c.compile(t.Elem(), made)
	if err != nil {
		return inType("{}", t.Elem(), err)
	}
	p.append = func(e *encoder, v reflect.Value) error { return appendMap(elem, e, v) }
	p.decode = func(d *decoder, v reflect.Value) error {
		if d.Kind() != wire.Map {
			return taken(d.Cursor, p.word)
		}
		it := d.Open()
		m := reflect.MakeMapWithSize(t, room(it))
		var name, value reflect.Value
		for d.Next(&it) {
			if !name.IsValid() {
				name, value = reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
			}
			name.SetString(d.key())
			if err := elem.decode(d, value); err != nil {
				return inMember(name.String(), err)
			}
			m.SetMapIndex(name, value)
		}
		v.Set(m)
		return nil
	}
	return nil
}

// entry is one member of a map: its name and which of the values is its own.
type entry struct {
	name string
	at   int
}

func appendMap(elem *plan, e *encoder, v reflect.Value) error {
	n := v.Len()
	hops, err := e.open(n)
	if err != nil {
		return err
	}
	if n == 0 {
		e.dst = wire.AppendMapClose(wire.AppendMapOpen(e.dst, e.enc, 0), e.enc)
		e.close(hops)
		return nil
	}
	entries := make([]entry, 0, n)
	values := reflect.MakeSlice(reflect.SliceOf(v.Type().Elem()), n, n)
	name := reflect.New(v.Type().Key()).Elem()
	for it := v.MapRange(); it.Next(); {
		name.SetIterKey(it)
		values.Index(len(entries)).SetIterValue(it)
		entries = append(entries, entry{name.String(), len(entries)})
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	e.dst = wire.AppendMapOpen(e.dst, e.enc, n)
	start := len(e.dst)
	for i, entry := range entries {
		if i%roomStep == roomStep-1 {
			e.expect(start, i, n)
		}
		if err := e.key(i, entry.name); err != nil {
			return err
		}
		if err := elem.append(e, values.Index(entry.at)); err != nil {
			return inMember(entry.name, err)
		}
	}
	e.dst = wire.AppendMapClose(e.dst, e.enc)
	e.close(hops)
	return nil
}
