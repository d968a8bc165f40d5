package plan

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/kith-wire/kith/shape/internal/scan"
	"github.com/kith-wire/kith/shape/internal/wire"
)

// Error says which part of a value cannot cross and why. Its text is made to stand right behind a name: what was decoded or
// written is "args" or "result", and the whole then reads "args[0].text is 5 and text is taken".
type Error struct {
	Path string // "" is the value itself
	Text string
	Err  error // the cause, where a type's own method said no
}

func (e *Error) Error() string { return wire.Quote(e.Path) + " " + e.Text }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func errorf(format string, a ...any) *Error { return &Error{Text: fmt.Sprintf(format, a...)} }

// cannotHold is the error of a type that turns out only now to be one that cannot cross: the type of what an any holds.
func cannotHold(err error) error { return errorf("cannot be written or read: %v", err) }

// in puts what holds the faulty part before its path. Nobody but the caller has the error, so it is changed and not copied.
func in(path string, err error) error {
	e, ok := err.(*Error)
	if !ok {
		return &Error{Path: path, Text: "cannot cross: " + err.Error(), Err: err}
	}
	e.Path = path + e.Path
	return e
}

func inMember(name string, err error) error { return in("."+wire.Quote(name), err) }

// inElement is in for an element; nil stays nil.
func inElement(i int, err error) error {
	if err == nil {
		return nil
	}
	return in("["+strconv.Itoa(i)+"]", err)
}

// taken is the error of a value that is not what is taken. The cursor stands before the value.
func taken(c wire.Cursor, want string) error {
	return errorf("is %s and %s is taken", Quote(c), want)
}

// quoteMost is how many bytes of a list or map are looked at for a quotation; 64 of its JSON are shown.
const quoteMost = 1 << 10

// Quote returns the value a cursor stands before as JSON, cut to what an error text may quote (ENC-5).
func Quote(c wire.Cursor) string {
	switch kind := c.Kind(); kind {
	case wire.List, wire.Map:
		b := c.Skip()
		if len(b) > quoteMost {
			return "a " + kind.String()
		}
		return wire.Quote(scan.Append(nil, wire.JSON, b, c.Enc))
	case wire.Text:
		text, _ := c.Text(nil)
		return `"` + wire.Quote(text) + `"`
	case wire.Bool:
		return strconv.FormatBool(c.Bool())
	case wire.Int, wire.Float:
		return wire.Quote(scan.Append(nil, wire.JSON, c.Skip(), c.Enc))
	}
	return "null"
}

// inType is in for the error of a type, and names the type at fault.
func inType(path string, t reflect.Type, err error) error {
	if e, ok := err.(*Error); ok && e.Path == "" {
		path += " " + t.String()
	}
	return in(path, err)
}
