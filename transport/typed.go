package transport

import (
	"context"

	"github.com/kith-wire/kith/shape"
)

// Holder is what a [Caller] may have besides Call, so that [Call] and [Lend] read a reply where it stands and copy nothing: a [Peer]
// has it, and so have the clients of the other doors and wires. A Caller without it works as well.
type Holder interface {
	// CallHeld does what c.Call does, but the rows are parts of what is held, and good until that is released. Where it returns
	// nothing at all it has done nothing: c is not what CallHeld is a method of but something around it, which embeds
	// it and may have a Call of its own.
	CallHeld(ctx context.Context, c Caller, call shape.Call) (shape.Rows, Held, error)
}

// Held is what the rows of a reply are parts of. It is released once.
type Held interface{ Release() }

// Call calls a verb with Go values as its arguments and reads each row of the reply into a Row. The error is a
// [*shape.Error].
func Call[Row any](ctx context.Context, c Caller, verb string, args ...any) ([]Row, error) {
	rows, held, err := callHeld(ctx, c, shape.Call{Verb: verb, Args: shape.ListArgs(args...)})
	if err != nil {
		return nil, err
	}
	if held != nil {
		defer held.Release()
	}
	out, err := shape.Decode[Row](rows, nil)
	if err != nil {
		return out, decodeError(c, verb, err)
	}
	return out, nil
}

// Lend calls a verb and lends the rows of its reply to use, as they came and not copied: they, and what [shape.Raw.Text] returns of
// them, are good until use returns. It is the way to take large texts, or listings that are decoded into the same slice again and
// again. What use returns is returned as it is; any other error is a [*shape.Error].
func Lend(ctx context.Context, c Caller, call shape.Call, use func(shape.Rows) error) error {
	rows, held, err := callHeld(ctx, c, call)
	if err != nil {
		return err
	}
	if held != nil {
		defer held.Release()
	}
	return use(rows)
}

func callHeld(ctx context.Context, c Caller, call shape.Call) (shape.Rows, Held, error) {
	if h, is := c.(Holder); is {
		if rows, held, err := h.CallHeld(ctx, c, call); held != nil || err != nil {
			return rows, held, err
		}
	}
	rows, err := c.Call(ctx, call)
	return rows, nil, err
}

// decodeError says whose row cannot be read.
func decodeError(c Caller, verb string, err error) error {
	e := *asError(err)
	e.Verb = verb
	if named, is := c.(interface{ Name() string }); is {
		e.Peer = named.Name()
	}
	return &e
}
