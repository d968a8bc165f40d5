package plan

import (
	"reflect"
	"sync"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// structOf is the plan of a struct: a map whose members are its fields. Names match exactly (SHAPE-7).
type structOf struct {
	members []member
	byName  map[string]int
	flat    bool      // there are members, and each is a field of the struct itself
	always  bool      // and each is written, whatever it holds
	blocks  sync.Pool // of *block
	leads   leads
}

func (c *Codec) structPlan(p *plan, t reflect.Type, made map[reflect.Type]*plan) error {
	p.word = wire.Map.String()
	members, err := c.membersOf(t)
	if err != nil {
		return err
	}
	s := &structOf{members: members, byName: make(map[string]int, len(members)), flat: len(members) > 0, always: true}
	for i := range members {
		m := &members[i]
		field := t.FieldByIndex(m.index)
		if m.plan, err = c.compile(field.Type, made); err != nil {
			return inType("."+field.Name, field.Type, err)
		}
		m.json = wire.AppendKey([]byte{','}, wire.JSON, m.name)
		m.cbor = wire.AppendKey(nil, wire.CBOR, m.name)
		m.inJSON, m.inCBOR = wire.LeadOf(m.json[1:]), wire.LeadOf(m.cbor)
		s.byName[m.name] = i
		s.flat = s.flat && len(m.index) == 1
		s.always = s.always && !m.omitEmpty && !m.omitZero && len(m.index) == 1
	}
	s.makeLeads(t)
	s.blocks.New = func() any { return s.newBlock(t) }
	p.rows = s
	p.append = func(e *encoder, v reflect.Value) error { return s.write(e, v, nil) }
	p.decode = func(d *decoder, v reflect.Value) error {
		v.SetZero()
		return s.read(d, v, nil)
	}
	return nil
}

// write writes a struct; of a row, where there is one.
func (s *structOf) write(e *encoder, v reflect.Value, r *row) error {
	n := len(s.members)
	if !s.always {
		n = 0
		for i := range s.members {
			if _, there := s.members[i].value(v); there {
				n++
			}
		}
	}
	hops, err := e.open(n)
	if err != nil {
		return err
	}
	e.dst = wire.AppendMapOpen(e.dst, e.enc, n)
	first := 1 // the comma of the first name is left out
	for i := range s.members {
		m, f := &s.members[i], &field{}
		if r != nil {
			f = &r.fields[i]
		}
		value := f.value
		if r == nil || !s.always {
			var there bool
			if value, there = m.value(v); !there {
				continue
			}
		}
		if e.enc == wire.CBOR {
			e.dst = append(e.dst, m.cbor...)
		} else {
			e.dst = append(e.dst, m.json[first:]...)
		}
		first = 0
		if r != nil && r.texts[i] != nil {
			err = e.text(*r.texts[i])
		} else {
			err = f.write(e, m, value)
		}
		if err != nil {
			return inMember(m.name, err)
		}
	}
	e.dst = wire.AppendMapClose(e.dst, e.enc)
	e.close(hops)
	return nil
}

func (f *field) write(e *encoder, m *member, value reflect.Value) error {
	switch {
	case f.int != nil:
		e.dst = wire.AppendInt(e.dst, e.enc, int64(*f.int))
		return nil
	case f.int64 != nil:
		e.dst = wire.AppendInt(e.dst, e.enc, *f.int64)
		return nil
	}
	return m.plan.append(e, value)
}

// read reads into a struct, which is empty; into a row, where there is one.
func (s *structOf) read(d *decoder, v reflect.Value, r *row) error {
	if d.Kind() != wire.Map {
		return taken(d.Cursor, wire.Map.String())
	}
	next := 0 // the member that comes if they come in our order
	for it := d.Open(); d.Next(&it); {
		i := s.member(d, next)
		if i < 0 {
			d.Skip()
			continue
		}
		m := &s.members[i]
		next = i + 1
		if r != nil && r.texts[i] != nil {
			if text, is := d.Plain(); is {
				*r.texts[i] = d.plain(text)
				continue
			}
		}
		if err := m.plan.decode(d, m.field(v)); err != nil {
			return inMember(m.name, err)
		}
	}
	return nil
}

// member moves past a name and returns which member has it, -1 where none does. The next one is told by its bytes.
func (s *structOf) member(d *decoder, next int) int {
	if next < len(s.members) {
		name := &s.members[next].inCBOR
		if d.Enc == wire.JSON {
			name = &s.members[next].inJSON
		}
		if name.Begins(d.B) {
			d.B = d.B[len(name.Text):]
			return next
		}
	}
	var buf [64]byte
	name, _ := d.Key(buf[:0])
	if i, known := s.byName[string(name)]; known {
		return i
	}
	return -1
}

// value returns the field, and whether it is written.
func (m *member) value(v reflect.Value) (reflect.Value, bool) {
	for i, at := range m.index {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return v, false
			}
			v = v.Elem()
		}
		v = v.Field(at)
	}
	return v, !(m.omitEmpty && isEmpty(v) || m.omitZero && isZero(v))
}

// isEmpty is what omitempty of encoding/json means.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Map, reflect.Slice, reflect.String, reflect.Array:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

// isZero is what omitzero of encoding/json means: a type may say itself what its zero is, as time.Time does.
func isZero(v reflect.Value) bool {
	var its any
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return true
		}
		its = v.Interface()
	default:
		its = addressed(v)
	}
	if z, ok := its.(interface{ IsZero() bool }); ok {
		return z.IsZero()
	}
	return v.IsZero()
}

// field returns the field to set, making the embedded structs on the way to it.
func (m *member) field(v reflect.Value) reflect.Value {
	for i, at := range m.index {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(at)
	}
	return v
}
