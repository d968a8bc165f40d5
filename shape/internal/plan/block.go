package plan

import (
	"reflect"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// List is a list whose type is known where it is made: a *[Slice].
type List interface {
	value() reflect.Value
	load(block any, from int) int
	store(block any, at, n int)
}

// Slice is a slice of which many elements move in one copy. To reflection the type of each move is news.
type Slice[T any] []T

func (s *Slice[T]) value() reflect.Value         { return reflect.ValueOf((*[]T)(s)).Elem() }
func (s *Slice[T]) load(block any, from int) int { return copy(block.([]T), (*s)[from:]) }
func (s *Slice[T]) store(block any, at, n int)   { copy((*s)[at:], block.([]T)[:n]) }

// manyRows is from how many structs on a block is worth having.
const manyRows = 4

// A block is as large as the processor has close at hand.
const (
	blockRows  = 16
	blockBytes = 4 << 10
)

// block is some structs on their way from a list or into one, the addresses of whose fields are taken once. To move whole structs
// costs less than to ask reflection for each field of each element.
type block struct {
	slice any // a []T of the rows
	rows  []row
	used  int // rows that may hold something
}

// row is one struct of a block.
type row struct {
	value  reflect.Value // the struct, which is addressable
	fields []field       // one for each member
	texts  []*string     // the same, of those that are text
}

// field is one field of a row: a pointer where its type is one of the plainest, and its value in any case.
type field struct {
	int   *int
	int64 *int64
	value reflect.Value // nothing where it is behind an embedded struct
}

func (s *structOf) newBlock(t reflect.Type) *block {
	n := max(1, min(blockRows, blockBytes/max(1, int(t.Size()))))
	list := reflect.MakeSlice(reflect.SliceOf(t), n, n)
	b := &block{slice: list.Interface(), rows: make([]row, n)}
	fields, texts := make([]field, n*len(s.members)), make([]*string, n*len(s.members))
	for i := range b.rows {
		from := i * len(s.members)
		r := row{list.Index(i), fields[from:][:len(s.members)], texts[from:][:len(s.members)]}
		for j := range s.members {
			if m := &s.members[j]; len(m.index) == 1 {
				r.fields[j], r.texts[j] = fieldOf(r.value.Field(m.index[0]), m.plan)
			}
		}
		b.rows[i] = r
	}
	return b
}

func fieldOf(v reflect.Value, p *plan) (f field, text *string) {
	f.value = v
	if !p.plain {
		return f, nil
	}
	at := v.Addr()
	switch v.Kind() {
	case reflect.String:
		text = at.Convert(reflect.TypeFor[*string]()).Interface().(*string)
	case reflect.Int:
		f.int = at.Convert(reflect.TypeFor[*int]()).Interface().(*int)
	case reflect.Int64:
		f.int64 = at.Convert(reflect.TypeFor[*int64]()).Interface().(*int64)
	}
	return f, text
}

// release gives a block back, empty.
func (s *structOf) release(b *block) {
	for i := range b.rows[:b.used] {
		b.rows[i].value.SetZero()
	}
	b.used = 0
	s.blocks.Put(b)
}

// load takes the elements of a list from one on, as many as there are and the block holds, and says how many.
func (b *block) load(list reflect.Value, whole List, from, n int) int {
	n = min(n-from, len(b.rows))
	b.used = max(b.used, n)
	if whole != nil {
		return whole.load(b.slice, from)
	}
	for i := range n {
		b.rows[i].value.Set(list.Index(from + i))
	}
	return n
}

// store stores the first n rows in a list.
func (b *block) store(list reflect.Value, whole List, at, n int) {
	if whole != nil {
		whole.store(b.slice, at, n)
		return
	}
	for i := range n {
		list.Index(at + i).Set(b.rows[i].value)
	}
}

func (s *structOf) appendAll(e *encoder, list reflect.Value, whole List, n int) (err error) {
	b := s.blocks.Get().(*block)
	start := len(e.dst)
	for i := 0; i < n && err == nil; {
		rows := b.rows[:b.load(list, whole, i, n)]
		for j := range rows {
			e.dst = wire.AppendSep(e.dst, e.enc, i+j)
			is, failed := s.writePlain(e, &rows[j])
			if !is {
				failed = s.write(e, rows[j].value, &rows[j])
			}
			if failed != nil {
				err = inElement(i+j, failed)
				break
			}
		}
		i += len(rows)
		e.expect(start, i, n)
	}
	s.release(b)
	return err
}

func (s *structOf) decodeAll(d *decoder, it *wire.Iter, list reflect.Value, whole List) (err error) {
	n := list.Len()
	b := s.blocks.Get().(*block)
	for i := 0; i < n && err == nil; {
		rows := b.rows[:min(n-i, len(b.rows))]
		b.used = max(b.used, len(rows))
		for j := range rows {
			d.Next(it)
			r := &rows[j]
			is, failed := s.readPlain(d, r)
			if !is {
				r.value.SetZero()
				failed = s.read(d, r.value, r)
			}
			if failed != nil {
				err = inElement(i+j, failed)
				break
			}
		}
		b.store(list, whole, i, len(rows))
		i += len(rows)
	}
	s.release(b)
	return err
}
