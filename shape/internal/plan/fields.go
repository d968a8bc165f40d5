package plan

import (
	"cmp"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// member is one field of a struct that crosses.
type member struct {
	name       string
	json, cbor []byte    // the name as it is written; JSON's stands between a comma and a colon
	inJSON     wire.Lead // the name as it is mostly read
	inCBOR     wire.Lead
	index      []int // through embedded structs
	tagged     bool
	omitEmpty  bool
	omitZero   bool
	plan       *plan
}

// membersOf lists the fields of a struct that cross, in the order they stand, one for each name: of fields that embedding
// gives one name, the one that encoding/json chooses.
func (c *Codec) membersOf(t reflect.Type) ([]member, error) {
	all, err := c.fieldsOf(t, nil, nil)
	if err != nil {
		return nil, err
	}
	best := map[string]int{} // the lowest rank of a name
	for _, m := range all {
		if rank, known := best[m.name]; !known || m.rank() < rank {
			best[m.name] = m.rank()
		}
	}
	all = slices.DeleteFunc(all, func(m member) bool { return m.rank() > best[m.name] })
	names := map[string]bool{}
	for _, m := range all {
		if names[m.name] {
			return nil, errorf("cannot cross: it has two members named %s", wire.Quote(m.name))
		}
		names[m.name] = true
	}
	return all, nil
}

// rank orders members of one name: the shallowest is the one, and of those the tagged.
func (m *member) rank() int {
	if m.tagged {
		return 2 * len(m.index)
	}
	return 2*len(m.index) + 1
}

// fieldsOf lists the fields of a struct and of those embedded in it. at is the way to it, through the types of inside.
func (c *Codec) fieldsOf(t reflect.Type, at []int, inside []reflect.Type) (out []member, err error) {
	if slices.Contains(inside, t) {
		return nil, nil
	}
	inside = append(slices.Clone(inside), t)
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		if tag == "-" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		index := append(slices.Clone(at), i)
		if embedded, is := c.embedded(f); is && name == "" {
			if !f.IsExported() && f.Type.Kind() == reflect.Pointer {
				return nil, inType("."+f.Name, f.Type, errorf("cannot cross: a pointer that is embedded and not exported cannot be set"))
			}
			more, err := c.fieldsOf(embedded, index, inside)
			if err != nil {
				return nil, in("."+f.Name, err)
			}
			out = append(out, more...)
			continue
		}
		if !f.IsExported() {
			continue
		}
		m := member{name: cmp.Or(name, f.Name), index: index, tagged: name != ""}
		if err := m.options(options); err != nil {
			return nil, inType("."+f.Name, f.Type, err)
		}
		out = append(out, m)
	}
	return out, nil
}

// embedded returns the struct that a field embeds, whose fields are then those of the struct around it.
func (c *Codec) embedded(f reflect.StructField) (reflect.Type, bool) {
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t, f.Anonymous && t.Kind() == reflect.Struct && t != c.cfg.Raw && t != reflect.TypeFor[big.Int]()
}

// options reads what stands in a tag behind the name. Options that nobody knows are for others.
func (m *member) options(options string) error {
	if !utf8.ValidString(m.name) {
		return errorf("cannot cross: its name is not UTF-8")
	}
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "omitempty":
			m.omitEmpty = true
		case "omitzero":
			m.omitZero = true
		case "string":
			return errorf("cannot cross: it is tagged string, and a number crosses as the number it is")
		}
	}
	return nil
}
