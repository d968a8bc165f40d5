package shape

import (
	"fmt"
	"iter"
	"unicode/utf8"

	"github.com/kith-wire/kith/shape/internal/plan"
	"github.com/kith-wire/kith/shape/internal/wire"
	"github.com/kith-wire/kith/version"
)

// Rows are the rows of a reply: Go values that are written when the reply is, or a list as it was received, which is good
// as long as its message is. The zero Rows are none.
type Rows struct {
	n       int
	held    int // rows in list; n is fewer where the reply said so (SHAPE-5)
	list    []byte
	bare    bool // list is no list but the one row
	enc     wire.Encoding
	values  any  // a *plan.Slice[T]
	single  bool // values is a *T, of the one row
	listing bool
	surface uint64
	reply   Raw // the whole reply, where Limits.KeepReplies asked for it
}

// RowsOf makes each value a row of its own (SHAPE-4): a listing is RowsOf(notes...).
func RowsOf[T any](rows ...T) Rows {
	switch len(rows) {
	case 0:
		return Rows{}
	case 1: // a pointer costs nothing to hold, and a slice an allocation
		return Rows{n: 1, held: 1, values: &rows[0], single: true}
	}
	list := plan.Slice[T](rows)
	return Rows{n: len(rows), held: len(rows), values: &list}
}

// appendValues writes rows that are Go values as a list.
func (r Rows) appendValues(dst []byte, to wire.Encoding, l Limits) (out []byte, err error) {
	if r.single {
		out, _, err = codec.AppendSingle(dst, to, r.values, l.plan(1))
	} else {
		out, _, err = codec.AppendList(dst, to, r.values, l.plan(1))
	}
	return out, err
}

// Len returns how many rows there are.
func (r Rows) Len() int { return r.n }

// Held returns how many rows the reply held. More than Len is a fault of the peer: its n was short.
func (r Rows) Held() int { return r.held }

// Surface returns the surface that came with the rows of verbs, 0 where none did (VER-2).
func (r Rows) Surface() uint64 { return r.surface }

// Reply returns the whole reply that the rows came in, as it came; the zero Raw unless [Limits].KeepReplies asked for it. It owns
// its bytes.
func (r Rows) Reply() Raw { return r.reply }

// WithReply returns the rows with the whole reply that they came in, for an adapter of another wire.
func (r Rows) WithReply(reply Raw) Rows {
	r.reply = reply
	return r
}

// AsListing returns the rows marked as a list however many they are. Only the daemon wire looks: there one row alone stands for
// itself, and none is null (RPC-6).
func (r Rows) AsListing() Rows {
	r.listing = true
	return r
}

// IsListing reports whether AsListing marked the rows.
func (r Rows) IsListing() bool { return r.listing }

// WithSurface returns the rows with a surface, which only the reply to verbs carries (VER-2).
func (r Rows) WithSurface(surface uint64) Rows {
	r.surface = surface
	return r
}

// Clone returns rows that own their bytes.
func (r Rows) Clone() Rows {
	r.list = append([]byte(nil), r.list...)
	return r
}

// All yields the rows. Rows made of Go values are written for it; one that cannot cross ends it early.
func (r Rows) All() iter.Seq2[int, Raw] {
	return func(yield func(int, Raw) bool) {
		if r.values != nil {
			list, err := r.appendValues(nil, wire.JSON, Limits{})
			if err != nil {
				return
			}
			r.list, r.enc = list, wire.JSON
		}
		if r.bare {
			yield(0, Raw{b: r.list, enc: r.enc})
			return
		}
		if r.n == 0 {
			return
		}
		c := wire.Cursor{B: r.list, Enc: r.enc}
		it := c.Open()
		if r.held == 1 {
			yield(0, Raw{b: c.Sole(it), enc: r.enc})
			return
		}
		for i := 0; i < r.n && c.Next(&it); i++ {
			if !yield(i, Raw{b: c.Skip(), enc: r.enc}) {
				return
			}
		}
	}
}

// Raw returns row i, the zero Raw where there is none. All is the way through many.
func (r Rows) Raw(i int) Raw {
	for at, row := range r.All() {
		if at == i {
			return row
		}
	}
	return Raw{}
}

// Decode reads every row into a T. It reuses the capacity of into; what it returns owns everything it holds. The error is
// Malformed and names the row: the peer sent what the caller's type cannot take.
func Decode[T any](r Rows, into []T) ([]T, error) {
	into = into[:0]
	if r.n == 0 {
		return into, nil
	}
	switch same := r.values.(type) {
	case *plan.Slice[T]:
		if !r.single {
			return append(into, *same...), nil
		}
	case *T:
		if r.single {
			return append(into, *same), nil
		}
	}
	if r.values != nil {
		list, err := r.appendValues(nil, wire.CBOR, Limits{})
		if err != nil {
			return into, Malformed.Errorf("result%w", err)
		}
		r.list, r.enc = list, wire.CBOR
	}
	to := &struct { // one thing to make, with the row where there is one
		rows plan.Slice[T]
		one  [1]T
	}{rows: into}
	if r.n == 1 && cap(into) == 0 {
		to.rows = to.one[:0]
	}
	if r.bare {
		to.rows = append(to.rows, *new(T))
		if codec.Decode(r.list, r.enc, &to.rows[0]) == nil {
			return to.rows, nil
		}
		r = r.listed() // for an error that names the row
	}
	if err := codec.DecodeList(r.list, r.enc, r.n, &to.rows); err != nil {
		return into[:0], Malformed.Errorf("result%w", err)
	}
	return to.rows, nil
}

// listed returns rows whose list is one.
func (r Rows) listed() Rows {
	list := wire.AppendListOpen(make([]byte, 0, len(r.list)+2), r.enc, 1)
	r.list, r.bare = wire.AppendListClose(append(list, r.list...), r.enc), false
	return r
}

// AppendReply writes the one reply of a call: the rows, or the refusal that err is. It always writes one: rows that cannot
// be written, are too many or are over the cap become a failed refusal that says so (ENC-7, LIMIT-3).
func (r Rows) AppendReply(dst []byte, enc Encoding, l Limits, err error) []byte {
	l = l.Defaults()
	if err == nil {
		var out []byte
		if out, err = r.append(dst, wire.Encoding(enc), l); err == nil {
			if size := len(out) - len(dst); size <= l.Frame {
				return out
			} else {
				err = Failed.Errorf("the reply is %d bytes and the cap is %d", size, l.Frame)
			}
		}
	}
	text, fault := refusal(err)
	out := appendRefusal(dst, wire.Encoding(enc), text, fault)
	if size := len(out) - len(dst); size > l.Frame {
		text = fmt.Sprintf("the refusal is %d bytes and the cap is %d", size, l.Frame)
		out = appendRefusal(dst, wire.Encoding(enc), text, Failed)
	}
	return out
}

func (r Rows) append(dst []byte, to wire.Encoding, l Limits) ([]byte, error) {
	members := 4
	if r.surface != 0 {
		members++
	}
	dst = appendReplyHead(dst, to, members, true)
	if r.surface != 0 {
		dst = wire.AppendKey(wire.AppendSep(dst, to, 2), to, "surface")
		dst = wire.AppendUint(dst, to, r.surface)
	}
	dst = wire.AppendKey(wire.AppendSep(dst, to, 2), to, "n")
	dst = wire.AppendInt(dst, to, int64(r.n))
	dst = wire.AppendKey(wire.AppendSep(dst, to, 3), to, "result")
	l.Items = max(l.Items-members, 1)
	out, err := r.Append(dst, Encoding(to), l)
	if err != nil {
		return nil, err
	}
	return wire.AppendMapClose(out, to), nil
}

// Append writes the rows as one list, for a message in which it stands as a member. The error is Failed and names the row that
// cannot be written.
func (r Rows) Append(dst []byte, enc Encoding, l Limits) ([]byte, error) {
	to := wire.Encoding(enc)
	switch {
	case r.n == 0:
		return wire.AppendListClose(wire.AppendListOpen(dst, to, 0), to), nil
	case r.bare:
		dst = wire.AppendListOpen(dst, to, 1)
		return wire.AppendListClose(Raw{b: r.list, enc: r.enc}.Append(dst, enc), to), nil
	case r.values == nil && r.n == r.held:
		return Raw{b: r.list, enc: r.enc}.Append(dst, enc), nil
	case r.values == nil:
		dst = wire.AppendListOpen(dst, to, r.n)
		for i, row := range r.All() {
			dst = row.Append(wire.AppendSep(dst, to, i), enc)
		}
		return wire.AppendListClose(dst, to), nil
	}
	out, err := r.appendValues(dst, to, l)
	if err != nil {
		return dst, Failed.Errorf("result%w", err)
	}
	return out, nil
}

// appendReplyHead opens a reply of so many members and writes ok and family.
func appendReplyHead(dst []byte, to wire.Encoding, members int, ok bool) []byte {
	dst = wire.AppendMapOpen(dst, to, members)
	dst = wire.AppendBool(wire.AppendKey(dst, to, "ok"), to, ok)
	dst = wire.AppendKey(wire.AppendSep(dst, to, 1), to, "family")
	return wire.AppendUint(dst, to, version.Family)
}

func appendRefusal(dst []byte, to wire.Encoding, text string, fault Fault) []byte {
	dst = appendReplyHead(dst, to, 6, false)
	dst = wire.AppendInt(wire.AppendKey(wire.AppendSep(dst, to, 2), to, "n"), to, 0)
	dst = wire.AppendListOpen(wire.AppendKey(wire.AppendSep(dst, to, 3), to, "result"), to, 0)
	dst = wire.AppendListClose(dst, to)
	dst = wire.AppendText(wire.AppendKey(wire.AppendSep(dst, to, 4), to, "error"), to, text)
	dst = wire.AppendText(wire.AppendKey(wire.AppendSep(dst, to, 5), to, "fault"), to, string(fault))
	return wire.AppendMapClose(dst, to)
}

// appendText writes a member that is text, and refuses what is not UTF-8.
func appendText(dst []byte, to wire.Encoding, name, text string) ([]byte, error) {
	if !utf8.ValidString(text) {
		return dst, Refused.Errorf("%s is not UTF-8: %s", name, Quote(text))
	}
	return wire.AppendText(wire.AppendKey(dst, to, name), to, text), nil
}
