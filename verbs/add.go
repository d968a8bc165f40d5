package verbs

import (
	"context"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
)

// Add registers a verb: fn is called with the arguments in the fields of A, and each value it returns is a row of the reply.
// Its error is the refusal of the call. fn may run many times at once, and the A it is given is its own.
//
// A verb is named [a-z][a-z-]*, and not verbs, client, serve, pipe or help. about is the line a reader of `verbs` sees.
// Options: [Doors], [ListRows], [Listing], [RunsCode]. Add panics where the verb cannot be answered as it is declared: its name is
// wrong or taken, A is no struct, an optional field stands before a required one, or a type cannot cross both encodings.
func Add[A, R any](s *Set, verb, about string, fn func(context.Context, A) ([]R, error), opts ...Option) {
	e := s.declare(verb, about, opts, reflect.TypeFor[A](), reflect.TypeFor[R]())
	if fn == nil {
		s.fault("%s: its function is nil", verb)
	}
	e.run = runner(e, fn)
	s.put(e)
}

// runner is a verb's way from a call to its rows.
func runner[A, R any](e *entry, fn func(context.Context, A) ([]R, error)) func(context.Context, shape.Call) (shape.Rows, error) {
	into := newBinder[A](e.params)
	return func(ctx context.Context, call shape.Call) (shape.Rows, error) {
		args, err := into.args(call)
		if err != nil {
			return shape.Rows{}, err
		}
		rows, err := fn(ctx, args)
		if err != nil {
			return shape.Rows{}, err
		}
		if e.listing {
			return shape.RowsOf(rows...).AsListing(), nil
		}
		return shape.RowsOf(rows...), nil
	}
}

// On registers what takes an event: its members fill the fields of E by their names, and members without a field are
// ignored. fn may run many times at once, for different connections. On panics where the event cannot be taken as it is
// declared.
func On[E any](s *Set, event string, fn func(context.Context, E)) {
	switch {
	case s.frozen.Load():
		s.fault("event %q: registered after the first call", event)
	case event == "" || !utf8.ValidString(event):
		s.fault("event %q: a name is text and not empty", event)
	case s.events[event] != nil:
		s.fault("event %s: registered twice", event)
	case fn == nil:
		s.fault("event %s: its function is nil", event)
	}
	params, err := paramsOf(reflect.TypeFor[E](), "member")
	if err != nil {
		s.fault("event %s: %v", event, err)
	}
	into := newBinder[E](params)
	s.events[event] = func(ctx context.Context, event shape.Event) error {
		payload, err := into.members(event.More)
		if err == nil {
			fn(ctx, payload)
		}
		return err
	}
}

// reserved are the verbs every program has, and the word of the cli that is no call.
var reserved = []string{"verbs", "client", "serve", "pipe", "help"}

// codeNames are the verbs that are on no socket by accident (VERBS-2).
var codeNames = []string{"run", "exec", "shell", "eval", "spawn"}

// declare makes an entry of what a verb says of itself.
func (s *Set) declare(verb, about string, opts []Option, args, row reflect.Type) *entry {
	o := options{doors: s.opts.doors}
	for _, opt := range opts {
		opt(&o)
	}
	switch {
	case s.frozen.Load():
		s.fault("%s: registered after the first call", verb)
	case !isVerb(verb):
		s.fault("%q: a verb is [a-z][a-z-]*", verb)
	case slices.Contains(reserved, verb):
		s.fault("%s: every program has that word by itself", verb)
	case s.verbs[verb] != nil:
		s.fault("%s: registered twice", verb)
	case about == "" || !utf8.ValidString(about):
		s.fault("%s: about is %q and must be text that says what the verb does", verb, about)
	case o.ofSet != "":
		s.fault("%s: %s is an option of New", verb, o.ofSet)
	case o.doors == 0:
		s.fault("%s: it has no door", verb)
	case o.doors&^s.opts.doors != 0:
		s.fault("%s: it has a door that the program has not", verb)
	case slices.Contains(codeNames, verb) && o.doors.has(transport.Socket) && !o.runsCode:
		s.fault("%s: a verb of that name is on the socket only with RunsCode", verb)
	}
	params, err := paramsOf(args, "argument")
	if err != nil {
		s.fault("%s: %v", verb, err)
	}
	switch kind, err := shape.TypeOf(row); {
	case err != nil:
		s.fault("%s: a row: %v", verb, err)
	case kind == "list" && !o.listRows:
		s.fault("%s: a row is %s, and a listing has each thing in its own row; ListRows where a list is meant", verb, row)
	}
	return &entry{verb: verb, about: about, doors: o.doors, params: params, listing: o.listing}
}

func isVerb(verb string) bool {
	for i, c := range []byte(verb) {
		if (c < 'a' || c > 'z') && (c != '-' || i == 0) {
			return false
		}
	}
	return verb != ""
}
