package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/rpc"
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
sockets. On the daemon wire VERB is a method, namespace.verb, and the one WORD is its params, a map in JSON; --args is the same.
A request that fails exits with what --exit-map says of its code.`,
		min: 2, max: -1,
		flags: append([]flag{
			textFlag(&g.args, "args", "JSON|-", "the whole list of arguments, - reads it from stdin, in either encoding"),
			exitsFlag(&a.exits),
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
			if to, err := targetOf(words[0]); err == nil && to.daemon {
				return t.fail(exitUsage, "verbs: on the daemon wire each namespace has its own: kith call %s NAMESPACE.verbs", words[0])
			}
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
		call, err = t.callOf(to, g, a.limits)
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
	case a.cbor && to.daemon:
		return errors.New("--cbor: the daemon wire carries JSON only")
	case g.with != nil && to.daemon:
		return errors.New("--with: a request of the daemon wire carries no members beside its params")
	case a.exits != nil && !to.daemon:
		return errors.New("--exit-map: codes are for daemon:PATH; elsewhere --fail tells the fault")
	case g.with != nil && to.door == transport.CLI:
		return errors.New("--with: a command line carries no members beside the arguments; a pipe and a socket do")
	}
	return nil
}

// callOf makes the call of what the command line says. Words are text here.
func (t *tool) callOf(to target, g given, l shape.Limits) (shape.Call, error) {
	call := shape.Call{Verb: g.verb, Args: shape.WordArgs(g.words)}
	if g.args != nil && len(g.words) > 0 {
		return call, fmt.Errorf("--args is the whole list of arguments, and %q stands beside it", shape.Quote(g.words[0]))
	}
	var err error
	switch {
	case to.daemon:
		call.Args, err = t.paramsOf(g, l)
	case g.args != nil:
		if call.Args, err = t.argsOf(*g.args, l); err != nil {
			err = fmt.Errorf("--args: %w", err)
		}
	}
	if err != nil {
		return call, err
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

// argsOf reads the value of --args.
func (t *tool) argsOf(value string, l shape.Limits) (shape.Args, error) {
	list, err := t.valueOf(value, l)
	if err != nil {
		return shape.Args{}, err
	}
	return list.Args()
}

// paramsOf reads the params of a request: the one word, or the value of --args.
func (t *tool) paramsOf(g given, l shape.Limits) (shape.Args, error) {
	var text string
	switch {
	case g.args != nil:
		text = *g.args
	case len(g.words) == 0:
		return shape.Args{}, nil
	case len(g.words) > 1:
		return shape.Args{}, fmt.Errorf("the params of a request are one map, and %q is a word too many", shape.Quote(g.words[1]))
	default:
		text = g.words[0]
	}
	params, err := t.valueOf(text, l)
	if err == nil && params.Kind() != "map" {
		err = fmt.Errorf("it is %s and must be a map", params.Kind())
	}
	if err != nil {
		return shape.Args{}, fmt.Errorf("params: %w", err)
	}
	return shape.NamedArgs(params), nil
}

// valueOf reads JSON, or stdin in either encoding where the text is -.
func (t *tool) valueOf(text string, l shape.Limits) (shape.Raw, error) {
	if text != "-" {
		return l.Value([]byte(text), shape.JSON)
	}
	b, err := readAll(t.in, l.Defaults().Frame)
	if err != nil {
		return shape.Raw{}, fmt.Errorf("stdin: %w", err)
	}
	return l.Value(b)
}

// exitsFlag reads what codes of the daemon wire exit with.
func exitsFlag(to *map[rpc.Code]int) flag {
	return flag{name: "exit-map", value: "CODE=N,…", about: "on the daemon wire, what a request that fails with a code exits with, 0 to 255",
		set: func(s string) error {
			if *to == nil {
				*to = map[rpc.Code]int{}
			}
			for _, one := range strings.Split(s, ",") {
				code, status, _ := strings.Cut(one, "=")
				n, err := strconv.Atoi(status)
				if code == "" || err != nil || n < 0 || n > 255 {
					return fmt.Errorf("%q is not CODE=N with N from 0 to 255", shape.Quote(one))
				}
				(*to)[rpc.Code(code)] = n
			}
			return nil
		}}
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
