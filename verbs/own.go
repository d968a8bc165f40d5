package verbs

import (
	"context"
	_ "embed"
	"slices"
	"sync"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
)

// clientSource is the client library a program serves: one Python file without dependencies, for all three doors.
//
//go:embed client.py
var clientSource string

// row is one row of the reply to verbs. Its members stand in this order (VERBS-1).
type row struct {
	Verb  string  `json:"verb"`
	About string  `json:"about"`
	Door  string  `json:"door"`
	Args  []param `json:"args,omitempty"`
}

// addOwn makes the entries every program has (VERBS-1, VERBS-2).
func (s *Set) addOwn() {
	type none = struct{}
	verbs := &entry{verb: "verbs", about: "what this program answers, a row for each verb and door", doors: s.opts.doors}
	into := newBinder[none](nil)
	listed := sync.OnceValue(s.describe) // by the first who asks: a program that is run for one call seldom is
	verbs.run = func(_ context.Context, call shape.Call) (shape.Rows, error) {
		if _, err := into.args(call); err != nil {
			return shape.Rows{}, err
		}
		return listed(), nil
	}
	client := &entry{verb: "client", about: "a client library for this program, as source", doors: s.opts.doors}
	client.run = runner(client, func(context.Context, none) ([]string, error) {
		if s.opts.client == "" {
			return nil, shape.Refused.Errorf("client: %s has no client library: it was built without one", s.name)
		}
		return []string{s.opts.client}, nil
	})
	s.own = []*entry{verbs, client}
	if s.opts.doors.has(transport.Socket) {
		s.own = append(s.own, s.stream("serve", "answer on a socket until told to stop"))
	}
	if s.opts.doors.has(transport.Pipe) {
		s.own = append(s.own, s.stream("pipe", "answer on stdin and stdout until stdin ends"))
	}
	for _, e := range s.own {
		s.verbs[e.verb] = e
	}
}

// stream is a word of the cli whose answer is a door that opens and not a reply. Package doors takes the word before it can
// be a call, so a call of that name came by a way that opens no door.
func (s *Set) stream(word, about string) *entry {
	return &entry{verb: word, about: about, doors: 1 << transport.CLI,
		run: func(context.Context, shape.Call) (shape.Rows, error) {
			return shape.Rows{}, shape.Refused.Errorf("%s: its answer is a stream and not a reply, and this call cannot hold one", word)
		}}
}

// describe makes the rows of verbs: for each door, its verbs in the order they were registered, those every program has
// behind them.
func (s *Set) describe() shape.Rows {
	var rows []row
	for _, door := range []transport.Door{transport.CLI, transport.Pipe, transport.Socket} {
		for _, e := range slices.Concat(s.order, s.own) {
			if e.doors.has(door) {
				rows = append(rows, row{Verb: e.verb, About: e.about, Door: door.String(), Args: e.params})
			}
		}
	}
	return shape.RowsOf(rows...).AsListing().WithSurface(s.surface)
}
