package shape

import (
	"iter"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// Members are the members of a message that its shape does not name, in the order they came. They never change routing
// (SHAPE-2).
type Members struct {
	b    []byte // an admitted map
	enc  wire.Encoding
	drop [2]string // names that are the shape's own
}

// Get returns the member of that name, the zero Raw where there is none.
func (m Members) Get(name string) Raw {
	value, _ := m.find(name)
	return value
}

// find looks a member up without making anything.
func (m Members) find(name string) (value Raw, is bool) {
	if name == m.drop[0] || name == m.drop[1] {
		return Raw{}, false
	}
	var buf [64]byte
	for c, it := m.open(); m.b != nil && c.Next(&it); {
		key, _ := c.Key(buf[:0])
		same := string(key) == name
		if b := c.Skip(); same {
			return Raw{b: b, enc: m.enc}, true
		}
	}
	return Raw{}, false
}

// All yields each member's name and value.
func (m Members) All() iter.Seq2[string, Raw] {
	return func(yield func(string, Raw) bool) {
		var buf [64]byte
		for c, it := m.open(); m.b != nil && c.Next(&it); {
			name, _ := c.Key(buf[:0])
			value := c.Skip()
			if m.drops(name) {
				continue
			}
			if !yield(string(name), Raw{b: value, enc: m.enc}) {
				return
			}
		}
	}
}

// drops reports whether a name is the shape's own.
func (m Members) drops(name []byte) bool {
	return string(name) == m.drop[0] || string(name) == m.drop[1]
}

func (m Members) open() (wire.Cursor, wire.Iter) {
	c := wire.Cursor{B: m.b, Enc: m.enc}
	if m.b == nil {
		return c, wire.Iter{}
	}
	return c, c.Open()
}

// has reports whether there is a member of that name.
func (m Members) has(name string) bool {
	_, is := m.find(name)
	return is
}

// Len counts the members, and makes nothing.
func (m Members) Len() (n int) {
	var buf [64]byte
	for c, it := m.open(); m.b != nil && c.Next(&it); c.Skip() {
		if name, _ := c.Key(buf[:0]); !m.drops(name) {
			n++
		}
	}
	return n
}

// Clone returns members that own their bytes.
func (m Members) Clone() Members {
	m.b = append([]byte(nil), m.b...)
	if len(m.b) == 0 {
		m.b = nil
	}
	return m
}

// With returns the members with one more, or with that one in the place of the one of its name. They own their bytes.
func (m Members) With(name string, value Raw) Members {
	out := []byte{'{'}
	n := 0
	add := func(name string, value Raw) {
		out = wire.AppendKey(wire.AppendSep(out, wire.JSON, n), wire.JSON, name)
		out = value.Append(out, JSON)
		n++
	}
	for have, v := range m.All() {
		if have != name {
			add(have, v)
		}
	}
	add(name, value)
	return Members{b: append(out, '}'), enc: wire.JSON}
}
