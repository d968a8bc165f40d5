package plan

import (
	"bytes"
	"reflect"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// structOf is the plan of a struct: a map whose members are its fields. Names match exactly (SHAPE-7).
type structOf struct {
	members []member
	byName  map[string]int
	always  bool // every member is written, whatever it holds
}

func (c *Codec) structPlan(p *plan, t reflect.Type, made map[reflect.Type]*plan) error {
	p.word = wire.Map.String()
	members, err := c.membersOf(t)
	if err != nil {
		return err
	}
	s := &structOf{members: members, byName: make(map[string]int, len(members)), always: true}
	for i := range members {
		m := &members[i]
		field := t.FieldByIndex(m.index)
		if m.plan, err = c.compile(field.Type, made); err != nil {
			return inType("."+field.Name, field.Type, err)
		}
		m.json = wire.AppendKey([]byte{','}, wire.JSON, m.name)
		m.cbor = wire.AppendKey(nil, wire.CBOR, m.name)
		s.byName[m.name] = i
		s.always = s.always && !m.omitEmpty && !m.omitZero && len(m.index) == 1
	}
	p.append, p.decode = s.append, s.decode
	return nil
}

func (s *structOf) append(e *encoder, v reflect.Value) error {
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
		m := &s.members[i]
		field, there := m.value(v)
		if !there {
			continue
		}
		if e.enc == wire.CBOR {
			e.dst = append(e.dst, m.cbor...)
		} else {
			e.dst = append(e.dst, m.json[first:]...)
		}
		first = 0
		if err := m.plan.append(e, field); err != nil {
			return inMember(m.name, err)
		}
	}
	e.dst = wire.AppendMapClose(e.dst, e.enc)
	e.close(hops)
	return nil
}

func (s *structOf) decode(d *decoder, v reflect.Value) error {
	if d.Kind() != wire.Map {
		return taken(d.Cursor, wire.Map.String())
	}
	v.SetZero()
	next := 0 // the member that comes if they come in our order
	for it := d.Open(); d.Next(&it); {
		i := s.member(d, next)
		if i < 0 {
			d.Skip()
			continue
		}
		m := &s.members[i]
		next = i + 1
		if err := m.plan.decode(d, m.field(v)); err != nil {
			return inMember(m.name, err)
		}
	}
	return nil
}

// member moves past a name and returns which member has it, -1 where none does. The next one is told by its bytes.
func (s *structOf) member(d *decoder, next int) int {
	if next < len(s.members) {
		name := s.members[next].cbor
		if d.Enc == wire.JSON {
			name = s.members[next].json[1:]
		}
		if bytes.HasPrefix(d.B, name) {
			d.B = d.B[len(name):]
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
