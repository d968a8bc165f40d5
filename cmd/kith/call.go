package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
)

// asking is how a call is made, whichever command makes it.
type asking struct {
	style
	timeout time.Duration // for all of it: dial or spawn, verbs where it must be asked, the call
	limits  shape.Limits
}

func (a *asking) timeFlags() []flag {
	a.timeout = 30 * time.Second
	return []flag{
		durationFlag(&a.timeout, "timeout", "the most that all of it may take; default 30s"),
		bytesFlag(&a.limits.Frame, "cap", "the largest message; default 16 MiB, and 1 MiB on a socket"),
	}
}

// given are the parts of a call as they stand on the command line.
type given struct {
	verb  string
	words []string
	args  *string // --args
	with  *string // --with
}

func (t *tool) callCommand() command {
	var a asking
	var g given
	return command{
		name:  "call",
		words: "TARGET VERB [WORD…]",
		about: "make one call and print its reply",
		more: `
The reply is printed as it came, in one line. Words go to a program that is run (argv) as they are. On a pipe and on a
socket kith first asks verbs, and reads each word as the type its argument is declared with: as text where that is text or
nothing is declared, as JSON everywhere else. A word that is no JSON there is an error before the call is sent: exit 2.
A pipe carries JSON only, so --cbor is for argv and sockets; a command line carries no members, so --with is for pipes and
sockets.`,
		min: 2, max: -1,
		flags: append([]flag{
			textFlag(&g.args, "args", "JSON|-", "the whole list of arguments, - reads it from stdin, in either encoding"),
			textFlag(&g.with, "with", "JSON", "a map of members that the call carries too, such as from and token"),
		}, append(a.style.flags(), a.timeFlags()...)...),
		run: func(ctx context.Context, words []string) int {
			g.verb, g.words = words[1], words[2:]
			return t.call(ctx, words[0], g, a)
		},
	}
}

func (t *tool) verbsCommand() command {
	var a asking
	return command{
		name:  "verbs",
		words: "TARGET",
		about: "ask what a program answers, a row for each verb and door",
		min:   1, max: 1,
		flags: append(a.style.flags(), a.timeFlags()...),
		run: func(ctx context.Context, words []string) int {
			return t.call(ctx, words[0], given{verb: "verbs"}, a)
		},
	}
}

// call makes one call and prints its reply.
func (t *tool) call(ctx context.Context, at string, g given, a asking) int {
	to, err := targetOf(at)
	if err == nil {
		err = a.fits(to, g)
	}
	var call shape.Call
	if err == nil {
		call, err = t.callOf(g, a.limits)
	}
	if err != nil {
		return t.fail(exitUsage, "%v", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, a.timeout, fmt.Errorf("%v have passed (--timeout)", a.timeout))
	defer cancel()
	way, err := to.open(ctx, transport.Config{Limits: a.limits, Encoding: a.encoding(), Timeout: -1})
	if err != nil {
		return t.reply(shape.Rows{}, err, a.style)
	}
	defer way.close()
	if len(g.words) > 0 && way.peer != nil {
		if call.Args, err = typed(ctx, way.peer, g); err != nil {
			return t.reply(shape.Rows{}, err, a.style)
		}
	}
	rows, err := way.Call(ctx, call)
	return t.reply(rows, err, a.style)
}

// fits says whether a way to call can carry what is to be called.
func (a asking) fits(to target, g given) error {
	switch {
	case a.cbor && a.pretty:
		return errors.New("--cbor prints bytes and --pretty prints JSON: one of them")
	case a.cbor && to.door == transport.Pipe:
		return errors.New("--cbor: a pipe carries JSON lines only; CBOR is for the socket and the cli")
	case g.with != nil && to.door == transport.CLI:
		return errors.New("--with: a command line carries no members beside the arguments; a pipe and a socket do")
	}
	return nil
}

// callOf makes the call of what the command line says. Words are text here.
func (t *tool) callOf(g given, l shape.Limits) (shape.Call, error) {
	call := shape.Call{Verb: g.verb, Args: shape.WordArgs(g.words)}
	if g.args != nil {
		if len(g.words) > 0 {
			return call, fmt.Errorf("--args is the whole list of arguments, and %q stands beside it", shape.Quote(g.words[0]))
		}
		args, err := t.argsOf(*g.args, l)
		if err != nil {
			return call, fmt.Errorf("--args: %w", err)
		}
		call.Args = args
	}
	if g.with != nil {
		with, err := l.Value([]byte(*g.with), shape.JSON)
		if err != nil {
			return call, fmt.Errorf("--with: %w", err)
		}
		if with.Kind() != "map" {
			return call, fmt.Errorf("--with is %s and must be a map", with.Kind())
		}
		call.More = with.Members()
		for _, own := range []string{"call", "args", "ok", "event"} {
			if !call.More.Get(own).IsZero() {
				return call, fmt.Errorf("--with: %s is no member beside those of a call", own)
			}
		}
	}
	return call, nil
}

// argsOf reads the value of --args, or stdin where that is -.
func (t *tool) argsOf(value string, l shape.Limits) (shape.Args, error) {
	b, enc := []byte(value), []shape.Encoding{shape.JSON}
	if value == "-" {
		var err error
		if b, err = readAll(t.in, l.Defaults().Frame); err != nil {
			return shape.Args{}, fmt.Errorf("stdin: %w", err)
		}
		enc = nil
	}
	list, err := l.Value(b, enc...)
	if err != nil {
		return shape.Args{}, err
	}
	return list.Args()
}

// declared is a row of verbs, as far as words need it.
type declared struct {
	Verb string `json:"verb"`
	Door string `json:"door"`
	Args []struct {
		Name string `json:"name"`
		Type string `json:"type"`
		Rest bool   `json:"rest"`
	} `json:"args"`
}

// typed asks the peer what its verb takes and reads the words as that. A peer that answers verbs with a refusal declares
// nothing. The error is of the connection, or Refused: a word is not what its argument is declared as.
func typed(ctx context.Context, peer *transport.Peer, g given) (shape.Args, error) {
	rows, err := transport.Call[declared](ctx, peer, "verbs")
	var e *shape.Error
	if err != nil && !(errors.As(err, &e) && e.Said) {
		return shape.Args{}, err
	}
	var args declared
	for _, row := range rows {
		if row.Verb == g.verb && row.Door == peer.Door().String() {
			args = row
		}
	}
	values := make([]any, len(g.words))
	for i, word := range g.words {
		values[i] = word
		at := i
		if last := len(args.Args) - 1; i > last && last >= 0 && args.Args[last].Rest {
			at = last
		}
		if at >= len(args.Args) || args.Args[at].Type == "text" {
			continue
		}
		value, err := shape.Limits{}.Value([]byte(word), shape.JSON)
		if err != nil {
			return shape.Args{}, shape.Refused.Errorf("%s: %s is declared as %s, and %q is not JSON: %w",
				g.verb, args.Args[at].Name, args.Args[at].Type, shape.Quote(word), err)
		}
		values[i] = value
	}
	return shape.ListArgs(values...), nil
}
