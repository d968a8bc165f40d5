package verbs

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
)

// Set is a program: a name and the verbs and events it answers. It is a [transport.Handler], safe for use from many
// goroutines once everything is registered; registering after the first call or event panics.
type Set struct {
	name    string
	surface uint64
	opts    options
	verbs   map[string]*entry
	order   []*entry // as registered
	own     []*entry // those every program answers
	events  map[string]func(context.Context, shape.Event) error

	frozen atomic.Bool // a call or an event has come
}

// entry is one verb.
type entry struct {
	verb    string
	about   string
	doors   doorSet
	params  []param
	listing bool
	run     func(context.Context, shape.Call) (shape.Rows, error)
}

// New makes the set of a program. The name is also that of its directory of sockets (SOCK-2). surface is the revision an
// extension of the program is written against, from 1; the reply to verbs carries it (VER-2). Options: [Doors], [Client],
// [Log]. It panics where one of them is wrong.
func New(name string, surface uint64, opts ...Option) *Set {
	s := &Set{
		name:    name,
		surface: surface,
		verbs:   map[string]*entry{},
		events:  map[string]func(context.Context, shape.Event) error{},
	}
	switch {
	case name == "" || name[0] == '.' || name[0] == '-' || strings.ContainsAny(name, "/\x00") || !utf8.ValidString(name):
		panic(fmt.Sprintf("verbs: the program is named %q, and a name is the text of a file name that begins with neither . nor -", name))
	case surface == 0:
		s.fault("surface is 0 and counts from 1")
	}
	s.opts = options{doors: allDoors, client: clientSource, log: s.stderr}
	for _, opt := range opts {
		opt(&s.opts)
	}
	switch {
	case s.opts.ofVerb != "":
		s.fault("%s is an option of a verb", s.opts.ofVerb)
	case !s.opts.doors.has(transport.CLI):
		s.fault("its doors are without the cli, which every program has: serve and pipe are words of it")
	case s.opts.client != clientSource && !utf8.ValidString(s.opts.client):
		s.fault("its client is not UTF-8")
	}
	s.addOwn()
	return s
}

// Name returns the program's name.
func (s *Set) Name() string { return s.name }

// Call answers one call. A verb that is unknown, or not for the door of the call, is refused (FAULT-3).
func (s *Set) Call(ctx context.Context, call shape.Call) (shape.Rows, error) {
	s.freeze()
	e := s.verbs[call.Verb]
	if e == nil || !e.doors.has(doorOf(ctx)) {
		unknown := shape.Refused.Errorf("no such call: %s", shape.Quote(call.Verb))
		unknown.Code = "unknown_method" // RPC-4
		return shape.Rows{}, unknown
	}
	return e.run(ctx, call)
}

// Event takes one event. It never answers: an event without a function, or with a payload that does not fit, is dropped
// (SHAPE-6); the second is logged.
func (s *Set) Event(ctx context.Context, event shape.Event) {
	s.freeze()
	if take := s.events[event.Name]; take != nil {
		if err := take(ctx, event); err != nil {
			s.opts.log(fmt.Sprintf("event %s dropped: %v", event.Name, err))
		}
	}
}

// doorOf tells the door of a call; one that nobody's connection brought is the cli's.
func doorOf(ctx context.Context) transport.Door {
	if peer := transport.PeerFrom(ctx); peer != nil {
		return peer.Door()
	}
	return transport.CLI
}

// freeze ends registration. It stores once: calls on many cores only read.
func (s *Set) freeze() {
	if !s.frozen.Load() {
		s.frozen.Store(true)
	}
}

// put registers a verb.
func (s *Set) put(e *entry) {
	s.verbs[e.verb] = e
	s.order = append(s.order, e)
}

// stderr is where a program logs unless it says otherwise.
func (s *Set) stderr(text string) { fmt.Fprintf(os.Stderr, "%s: %s\n", s.name, text) }

// fault ends a wrong registration.
func (s *Set) fault(format string, a ...any) {
	panic(fmt.Sprintf("verbs: %s: %s", s.name, fmt.Sprintf(format, a...)))
}
