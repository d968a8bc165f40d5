package shape

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// Fault says what a refusal costs the caller (FAULT-1). It is itself an error, so that errors.Is(err, shape.Refused) asks
// the question.
type Fault string

const (
	Refused     Fault = "refused"     // a feature: carry on
	Unavailable Fault = "unavailable" // the program: carry on without it
	Failed      Fault = "failed"      // the write: do not assume it was recorded
	Malformed   Fault = "malformed"   // nothing yet, but it is a bug to report
)

func (f Fault) Error() string { return string(f) }

// Errorf makes an [*Error] of this fault. A %w operand is its cause.
func (f Fault) Errorf(format string, a ...any) *Error {
	err := fmt.Errorf(format, a...)
	return &Error{Fault: f, Text: err.Error(), Err: errors.Unwrap(err)}
}

// Error is why a call has no rows: what the peer said (Said), or what this side concluded about it.
type Error struct {
	Fault Fault
	Sent  string // the fault as the peer wrote it, where it is none of the four
	Code  string // the code of the daemon wire, where there is one
	Verb  string // the verb that was called, where one was
	Peer  string // who was called, as the caller knows it
	Text  string // why: what came, what was expected, the limit met
	Said  bool   // the peer said it; false: this side inferred it
	Err   error  // the cause, for errors.Is and errors.As
	Reply Raw    // the whole reply, as it came, where the peer said it and [Limits].KeepReplies asked for it
}

func (e *Error) Error() string {
	var b strings.Builder
	for _, part := range []string{e.Peer, e.Verb} {
		if part != "" {
			b.WriteString(part)
			b.WriteString(": ")
		}
	}
	b.WriteString(e.Text)
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is this error's [Fault].
func (e *Error) Is(target error) bool {
	f, ok := target.(Fault)
	return ok && f == e.Fault
}

// refusal turns an error into what the reply says of it: its own fault, failed where it has none, and never unavailable:
// that word is for the caller's side (FAULT-1, FAULT-3).
func refusal(err error) (text string, fault Fault) {
	text, fault = err.Error(), Failed
	var e *Error
	var f Fault
	switch {
	case errors.As(err, &e):
		fault = e.Fault
		if err == error(e) {
			text = e.Text
		}
	case errors.As(err, &f):
		fault = f
	}
	switch fault {
	case Failed, Malformed:
	case Unavailable:
		fault = Failed
	default:
		fault = Refused
	}
	return strings.ToValidUTF8(text, "\uFFFD"), fault
}

// Quote makes text that came from outside fit for an error: at most 64 bytes of it, whole runes, controls escaped (ENC-5).
func Quote(s string) string { return wire.Quote(s) }
