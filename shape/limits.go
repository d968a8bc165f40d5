package shape

import "github.com/kith-wire/kith/shape/internal/scan"

// Limits bound what is taken in one message, and what is written (ENC-5, LIMIT-1). A zero field means its default.
type Limits struct {
	Frame   int // bytes of one message; default 16 MiB, and 1 MiB on a socket
	Depth   int // open maps and lists, the message itself the first; default 64
	Items   int // members and elements of the whole message; default 262,144
	IntBits int // bits of an integer (of -1-n when negative); default 1,024

	// KeepReplies keeps a reply that is read whole, for who shows it to people: [Rows.Reply], [Error].Reply.
	KeepReplies bool
}

const (
	defaultFrame   = 16 << 20
	defaultDepth   = 64
	defaultItems   = 1 << 18
	defaultIntBits = 1024
)

// Defaults returns l with every zero field replaced by its default.
func (l Limits) Defaults() Limits {
	set := func(field *int, value int) {
		if *field <= 0 {
			*field = value
		}
	}
	set(&l.Frame, defaultFrame)
	set(&l.Depth, defaultDepth)
	set(&l.Items, defaultItems)
	set(&l.IntBits, defaultIntBits)
	return l
}

func (l Limits) scan() scan.Limits {
	l = l.Defaults()
	return scan.Limits{Depth: l.Depth, Items: l.Items, IntBits: l.IntBits}
}
