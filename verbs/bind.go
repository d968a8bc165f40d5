package verbs

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/kith-wire/kith/shape"
)

// param is one argument as verbs tells of it. Its members stand in this order (VERBS-1).
type param struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Optional bool   `json:"optional,omitempty"`
	Rest     bool   `json:"rest,omitempty"`

	field int // of the struct
}

// paramsOf reads the parameters off a struct. what is the word for one of them: argument or member.
func paramsOf(t reflect.Type, what string) ([]param, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%s is no struct, and a struct has a field for each %s", t, what)
	}
	var params []param
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Tag.Get("json") == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		p, err := paramOf(f)
		if err == nil && len(params) > 0 && what == "argument" {
			err = follows(params[len(params)-1], p)
		}
		if err == nil && p.Rest && what != "argument" {
			err = fmt.Errorf("rest is for arguments, and a %s has a name", what)
		}
		for _, other := range params {
			if err == nil && other.Name == p.Name {
				err = errors.New("another one has this name")
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s %s of %s: %w", what, f.Name, t, err)
		}
		p.field = i
		params = append(params, p)
	}
	return params, nil
}

// follows says whether an argument may stand behind another.
func follows(before, p param) error {
	switch {
	case before.Rest:
		return fmt.Errorf("it stands behind %s, which takes all that is left", before.Name)
	case before.Optional && !p.Optional && !p.Rest:
		return fmt.Errorf("it is required and stands behind %s, which is optional", before.Name)
	}
	return nil
}

func paramOf(f reflect.StructField) (p param, err error) {
	if f.Anonymous {
		return p, errors.New("it is embedded, and each one is a field of its own")
	}
	p.Name, _, _ = strings.Cut(f.Tag.Get("json"), ",")
	if p.Name == "" {
		p.Name = strings.ToLower(f.Name)
	}
	t := f.Type
	switch tag := f.Tag.Get("kith"); tag {
	case "":
		p.Optional = t.Kind() == reflect.Pointer
	case "optional":
		p.Optional = true
	case "rest":
		if t.Kind() != reflect.Slice {
			return p, fmt.Errorf("it is tagged rest and is %s, not a slice", t)
		}
		p.Rest, t = true, t.Elem()
	default:
		return p, fmt.Errorf("its tag kith is %q, and optional and rest are known", tag)
	}
	if p.Optional && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	p.Type, err = shape.TypeOf(t)
	return p, err
}

// binder fills a T, whose fields are params.
type binder[T any] struct {
	params []param
	pool   sync.Pool // of *slots[T]
}

// slots is a T to fill and the addresses of its fields, which are taken once and not for every call.
type slots[T any] struct {
	value T
	fields
}

// fields are the addresses of the fields of a struct, one for each parameter.
type fields struct {
	params []param
	at     []any
	rest   reflect.Value // the slice that takes what is left
}

func newBinder[T any](params []param) *binder[T] {
	b := &binder[T]{params: params}
	b.pool.New = func() any {
		s := &slots[T]{fields: fields{params: params}}
		v := reflect.ValueOf(&s.value).Elem()
		for _, p := range params {
			field := v.Field(p.field)
			s.at = append(s.at, field.Addr().Interface())
			if p.Rest {
				s.rest = field
			}
		}
		return s
	}
	return b
}

// args returns the arguments of a call. The error is Refused and names verb, argument, what came and what is taken (FAULT-3).
func (b *binder[T]) args(call shape.Call) (value T, err error) {
	s := b.pool.Get().(*slots[T])
	if params, named := call.Args.Named(); named {
		err = s.fillParams(params)
	} else {
		err = s.fill(call.Args)
	}
	if err == nil {
		value = s.value
	} else {
		refused := shape.Refused.Errorf("%s: %w", call.Verb, err)
		refused.Code = "invalid_params" // RPC-4
		err = refused
	}
	b.put(s)
	return value, err
}

// members returns the payload of an event.
func (b *binder[T]) members(m shape.Members) (value T, err error) {
	s := b.pool.Get().(*slots[T])
	if err = s.fillNamed(m); err == nil {
		value = s.value
	}
	b.put(s)
	return value, err
}

// put gives the slots back, empty: whatever they held is its handler's now.
func (b *binder[T]) put(s *slots[T]) {
	var zero T
	s.value = zero
	b.pool.Put(s)
}

// fill stores the arguments in their fields.
func (f *fields) fill(args shape.Args) error {
	if n := args.Len() - len(f.at) + 1; f.rest.IsValid() && n > 0 {
		f.rest.Grow(n)
		f.rest.SetLen(n)
	}
	for i, raw := range args.All() {
		if err := f.store(i, raw); err != nil {
			return err
		}
	}
	if args.Len() < len(f.params) {
		if p := f.params[args.Len()]; !p.Optional && !p.Rest {
			return fmt.Errorf("%s is missing and %s is taken", p.Name, p.Type)
		}
	}
	return nil
}

// store decodes argument i.
func (f *fields) store(i int, raw shape.Raw) error {
	last := len(f.params) - 1
	switch {
	case f.rest.IsValid() && i >= last:
		return f.params[last].decode(raw, f.rest.Index(i-last).Addr().Interface())
	case i <= last:
		return f.params[i].decode(raw, f.at[i])
	case last < 0:
		return fmt.Errorf("argument 1 is %s and none is taken", raw.Quote())
	}
	return fmt.Errorf("argument %d is %s and at most %d are taken", i+1, raw.Quote(), last+1)
}

// fillParams stores arguments that are given by name (RPC-6). null is none of them.
func (f *fields) fillParams(params shape.Raw) error {
	if kind := params.Kind(); !params.IsZero() && kind != "map" && kind != "null" {
		return fmt.Errorf("params is %s and must be a map", kind)
	}
	members := params.Members()
	known := 0
	for _, p := range f.params {
		if !members.Get(p.Name).IsZero() {
			known++
		}
	}
	if known < members.Len() {
		if err := f.unknown(members); err != nil {
			return err
		}
	}
	return f.fillNamed(members)
}

// unknown names one that is no argument.
func (f *fields) unknown(members shape.Members) error {
	for name := range members.All() {
		if !slices.ContainsFunc(f.params, func(p param) bool { return p.Name == name }) {
			return fmt.Errorf("%s is no argument, and %s", shape.Quote(name), f.taken())
		}
	}
	return nil
}

// taken names the arguments there are.
func (f *fields) taken() string {
	if len(f.params) == 0 {
		return "none is taken"
	}
	var names []string
	for _, p := range f.params {
		names = append(names, p.Name)
	}
	return "taken are " + strings.Join(names, ", ")
}

// fillNamed stores members in the fields of their names.
func (f *fields) fillNamed(m shape.Members) error {
	for i, p := range f.params {
		raw := m.Get(p.Name)
		switch {
		case !raw.IsZero():
			if err := p.decode(raw, f.at[i]); err != nil {
				return err
			}
		case !p.Optional && !p.Rest:
			return fmt.Errorf("%s is missing and %s is taken", p.Name, p.Type)
		}
	}
	return nil
}

// decode stores one value. null leaves an optional one out.
func (p param) decode(raw shape.Raw, into any) error {
	err := raw.Decode(into)
	if err == nil || p.Optional && isNull(raw) {
		return nil
	}
	return fmt.Errorf("%s%w", p.Name, err)
}

// isNull reports whether a value is null; a word is where it is the JSON null.
func isNull(raw shape.Raw) bool {
	var v any
	return raw.Decode(&v) == nil && v == nil
}
