package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
)

func (t *tool) watchCommand() command {
	var a asking
	return command{
		name:  "watch",
		words: "TARGET [VERB…]",
		about: "call watch, or VERB, and print the events that come, each in a line",
		more: `
It ends when the program closes the door, and exits 0 then and when it is interrupted. A call that is refused ends it too:
nothing would come. --timeout is for those calls; events may take as long as they like.`,
		min: 1, max: -1,
		flags: a.timeFlags(),
		run: func(ctx context.Context, words []string) int {
			verbs := words[1:]
			if len(verbs) == 0 {
				verbs = []string{"watch"}
			}
			return t.watch(ctx, words[0], verbs, a)
		},
	}
}

// eventFunc takes the events that come, and answers no call.
type eventFunc func(shape.Event)

// Event takes one event.
func (f eventFunc) Event(_ context.Context, e shape.Event) { f(e) }

// Call refuses it.
func (eventFunc) Call(_ context.Context, call shape.Call) (shape.Rows, error) {
	return shape.Rows{}, shape.Refused.Errorf("no such call: %s", shape.Quote(call.Verb))
}

// printing prints each event as a line, until one cannot be: then failed is closed.
func (t *tool) printing(failed chan struct{}) eventFunc {
	return func(e shape.Event) {
		b, err := e.Append(nil, shape.JSON, shape.Limits{})
		if err != nil {
			t.fail(exitMalformed, "an event cannot be printed: %v", err)
			return
		}
		select {
		case <-failed:
		default:
			if t.print(append(b, '\n')) != exitOK {
				close(failed)
			}
		}
	}
}

func (t *tool) watch(ctx context.Context, at string, verbs []string, a asking) int {
	to, err := targetOf(at)
	if err != nil {
		return t.fail(exitUsage, "%v", err)
	}
	if to.door == transport.CLI {
		return t.fail(exitUsage, "watch: %s is run once for a call and has no way to send events; a pipe and a socket have", to.at)
	}
	if to.daemon {
		return t.fail(exitUsage, "watch: the daemon wire carries no events")
	}
	failed := make(chan struct{})
	open, cancel := context.WithTimeoutCause(ctx, a.timeout, fmt.Errorf("%v have passed (--timeout)", a.timeout))
	defer cancel()
	way, err := to.open(open, transport.Config{Limits: a.limits, Timeout: -1, Handler: t.printing(failed)})
	if err != nil {
		return t.reply(shape.Rows{}, err, style{})
	}
	defer way.close()
	for _, verb := range verbs {
		if _, err := way.Call(open, shape.Call{Verb: verb}); err != nil {
			return t.notWatching(ctx, err)
		}
	}
	select {
	case <-ctx.Done():
		return exitOK
	case <-failed:
		return exitOutput
	case <-way.peer.Done():
	}
	if err := way.peer.Err(); err != nil && ctx.Err() == nil {
		return t.reply(shape.Rows{}, err, style{})
	}
	return exitOK
}

// notWatching is the end of a watch whose call has no rows.
func (t *tool) notWatching(ctx context.Context, err error) int {
	var e *shape.Error
	switch {
	case ctx.Err() != nil:
		return exitOK
	case errors.As(err, &e) && e.Said:
		return t.fail(exitOf(e.Fault), "watch: %s", e.Text)
	}
	return t.reply(shape.Rows{}, err, style{})
}
