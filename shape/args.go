package shape

import (
	"iter"
	"unicode/utf8"

	"github.com/kith-wire/kith/shape/internal/plan"
	"github.com/kith-wire/kith/shape/internal/wire"
)

// Args are the arguments of a call: an admitted list, the words of a command line, or Go values not yet written.
type Args struct {
	list   []byte // an admitted list
	enc    wire.Encoding
	n      int
	words  []string
	values []any
	named  bool // list is no list but a map of the arguments by their names
}

// ListArgs are Go values, each an argument. They are written when the call is, and an argument that cannot cross is that
// call's error.
func ListArgs(values ...any) Args { return Args{values: values, n: len(values)} }

// WordArgs are the words of a command line, each text until its parameter says otherwise (ARGV-3).
func WordArgs(words []string) Args { return Args{words: words, n: len(words)} }

// NamedArgs are arguments by their names, the members of a map. To whoever does not know the names the map is the one argument;
// the zero Raw is none (RPC-6).
func NamedArgs(params Raw) Args {
	a := Args{list: params.b, enc: params.enc, named: true}
	if !params.IsZero() {
		a.n = 1
	}
	return a
}

// Named returns the map of arguments that are given by name, and whether they are.
func (a Args) Named() (params Raw, are bool) {
	if !a.named {
		return Raw{}, false
	}
	return a.At(0), true
}

// Args makes the arguments of a call from an admitted list.
func (r Raw) Args() (Args, error) {
	if r.IsZero() {
		return Args{}, nil
	}
	c := r.cursor()
	if r.word || c.Kind() != wire.List {
		return Args{}, Malformed.Errorf("args is %s and must be a list", r.Kind())
	}
	n := 0
	for it := c.Open(); c.Next(&it); n++ {
		c.Skip()
	}
	return Args{list: r.b, enc: r.enc, n: n}, nil
}

// Words returns the words of a command line, where the arguments are those.
func (a Args) Words() (words []string, are bool) {
	return a.words, a.list == nil && a.values == nil && !a.named
}

// Len returns how many there are.
func (a Args) Len() int { return a.n }

// At returns argument i, the zero Raw where there is none. All is the way through many.
func (a Args) At(i int) Raw {
	for at, r := range a.All() {
		if at == i {
			return r
		}
	}
	return Raw{}
}

// All yields the arguments in order.
func (a Args) All() iter.Seq2[int, Raw] {
	return func(yield func(int, Raw) bool) {
		c := a.cursor()
		for i := range a.n {
			if !yield(i, c.next()) {
				return
			}
		}
	}
}

// cursor starts a walk through the arguments that makes nothing.
func (a Args) cursor() argCursor {
	if a.values != nil {
		list, err := a.Append(nil, JSON, Limits{})
		if err != nil {
			return argCursor{}
		}
		a = Args{list: list, n: a.n}
	}
	c := argCursor{args: a}
	if a.list != nil && !a.named {
		c.in = wire.Cursor{B: a.list, Enc: a.enc}
		c.it = c.in.Open()
	}
	return c
}

// argCursor is a place in a list of arguments.
type argCursor struct {
	args Args
	in   wire.Cursor
	it   wire.Iter
	at   int
}

// next returns the next argument, the zero Raw at the end.
func (c *argCursor) next() Raw {
	if c.at >= c.args.n {
		return Raw{}
	}
	c.at++
	if c.args.named {
		return Raw{b: c.args.list, enc: c.args.enc}
	}
	if c.args.list == nil {
		return Raw{b: []byte(c.args.words[c.at-1]), word: true}
	}
	c.in.Next(&c.it)
	return Raw{b: c.in.Skip(), enc: c.args.enc}
}

// Append writes the arguments as one list.
func (a Args) Append(dst []byte, enc Encoding, l Limits) ([]byte, error) {
	to := wire.Encoding(enc)
	switch {
	case a.named && a.n > 0:
		dst = wire.AppendListOpen(dst, to, 1)
		return wire.AppendListClose(Raw{b: a.list, enc: a.enc}.Append(dst, enc), to), nil
	case a.list != nil:
		return Raw{b: a.list, enc: a.enc}.Append(dst, enc), nil
	case a.values != nil:
		out, _, err := codec.AppendValues(dst, to, a.values, l.plan(1))
		if err != nil {
			return dst, Refused.Errorf("args%w", err)
		}
		return out, nil
	}
	dst = wire.AppendListOpen(dst, to, a.n)
	for i, word := range a.words {
		if !utf8.ValidString(word) {
			return dst, Refused.Errorf("args[%d] is not UTF-8: %s", i, Quote(word))
		}
		dst = wire.AppendText(wire.AppendSep(dst, to, i), to, word)
	}
	return wire.AppendListClose(dst, to), nil
}

// plan returns the limits for a value that stands inside depth open maps.
func (l Limits) plan(depth int) plan.Limits {
	l = l.Defaults()
	return plan.Limits{Depth: l.Depth - depth, Items: l.Items, IntBits: l.IntBits}
}
