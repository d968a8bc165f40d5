package verbs

import "github.com/kith-wire/kith/transport"

// Option changes a program ([New]) or one verb of it ([Add]).
type Option func(*options)

// options are what options change: those of a set, and those of one verb.
type options struct {
	doors    doorSet
	client   string
	log      func(string)
	listRows bool
	listing  bool
	runsCode bool

	ofVerb, ofSet string // an option that was given and is only for a verb, only for a set
}

// Doors says where a verb is answered, or, as an option of [New], which doors the program has. The default is every door of
// the program, which is all three. A program always has its cli. Elsewhere the verb is unknown: `no such call`.
func Doors(doors ...transport.Door) Option {
	return func(o *options) {
		o.doors = 0
		for _, door := range doors {
			o.doors |= 1 << door
		}
	}
}

// Client is an option of [New]: the source the verb `client` answers with, in place of the Python client this package holds.
// Where it is empty the program has none, and `client` is refused (VERBS-1).
func Client(source string) Option {
	return func(o *options) { o.client, o.ofSet = source, "Client" }
}

// Log is an option of [New]: what is told of the events that were dropped because they do not fit. The default is a line on
// stderr. It may be called from many goroutines at once.
func Log(log func(text string)) Option {
	return func(o *options) { o.log, o.ofSet = log, "Log" }
}

// ListRows is an option of [Add]: each row of the verb is a list and means to be. Without it a verb that returns [][]T is
// taken for a listing wrapped by mistake, and refused (SHAPE-4).
func ListRows() Option {
	return func(o *options) { o.listRows, o.ofVerb = true, "ListRows" }
}

// Listing is an option of [Add]: what the verb answers is a list, also where it has one row or none. Only the daemon wire, on which
// one row alone stands for itself, makes the difference (RPC-6).
func Listing() Option {
	return func(o *options) { o.listing, o.ofVerb = true, "Listing" }
}

// RunsCode is an option of [Add]: the verb is on the socket and is named run, exec, shell, eval or spawn, and the author says
// so (VERBS-2).
func RunsCode() Option {
	return func(o *options) { o.runsCode, o.ofVerb = true, "RunsCode" }
}

// doorSet is a set of doors, a bit each.
type doorSet uint8

const allDoors = doorSet(1<<transport.CLI | 1<<transport.Pipe | 1<<transport.Socket)

func (d doorSet) has(door transport.Door) bool { return d&(1<<door) != 0 }
