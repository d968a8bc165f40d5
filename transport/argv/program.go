package argv

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/internal/child"
)

// Program is a [transport.Caller] that runs a program once for each call. It is safe for use from many goroutines.
//
// Words of a command line (shape.WordArgs) are given as the words they are; any other arguments as a list through stdin, so that
// text stays text whatever it looks like. A command line carries no other members: a call that has some, within apart, is refused
// before anything is run.
//
// The program runs in a process group of its own, which has ended when Call returns.
type Program struct {
	Path     string         // looked up in PATH unless it holds a slash
	Args     []string       // stand before the verb
	Dir      string         // its working directory; empty: ours
	Env      []string       // nil: ours
	Name     string         // as errors name it; default: Path
	Encoding shape.Encoding // of the reply
	Limits   shape.Limits   // of what is sent and of the reply; Frame defaults to 16 MiB (LIMIT-1)
	Timeout  time.Duration  // of a call whose context has no deadline; default 30 s, below 0 none (CLIENT-4)
	Stderr   io.Writer      // also gets what the program writes to stderr, and must not block; nil: only its tail is kept
}

const (
	defaultTimeout = 30 * time.Second
	grace          = 2 * time.Second // for a program that has printed its reply to end, and again after SIGTERM
)

var _ transport.Caller = Program{}

// Call runs the program for one call. The error is a [*shape.Error]: Refused and not Said where nothing was run; Unavailable
// where it could not be started, printed nothing, in which case the text has its exit status and the end of its stderr, or did
// not end in time, in which case its group was killed; Malformed where what it printed is not one reply, or over the cap.
func (p Program) Call(ctx context.Context, call shape.Call) (shape.Rows, error) {
	rows, err := p.call(ctx, call)
	if err == nil {
		return rows, nil
	}
	var e *shape.Error
	if !errors.As(err, &e) {
		e = shape.Unavailable.Errorf("%w", err)
	}
	named := *e
	named.Verb, named.Peer = call.Verb, p.name()
	return shape.Rows{}, &named
}

func (p Program) name() string {
	if p.Name != "" {
		return p.Name
	}
	return p.Path
}

func (p Program) call(ctx context.Context, call shape.Call) (shape.Rows, error) {
	line, stdin, err := p.line(call)
	if err != nil {
		return shape.Rows{}, err
	}
	if _, has := ctx.Deadline(); !has && p.Timeout >= 0 {
		limit := p.Timeout
		if limit == 0 {
			limit = defaultTimeout
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	if ctx.Err() != nil {
		return shape.Rows{}, unanswered(ctx)
	}
	proc, err := child.Start(child.Spec{
		Path: p.Path, Args: line, Dir: p.Dir, Env: p.Env, Stdin: stdin != nil, Stderr: p.Stderr,
	})
	if err != nil {
		return shape.Rows{}, shape.Unavailable.Errorf("it cannot be started: %w", err)
	}
	defer proc.Out.Close()
	if stdin != nil {
		defer proc.In.Close()
		go func() {
			proc.In.Write(stdin)
			proc.In.Close()
		}()
	}
	out, err := p.output(ctx, proc)
	if err != nil {
		return shape.Rows{}, err
	}
	return p.reply(out, proc)
}

func unanswered(ctx context.Context) error {
	return shape.Unavailable.Errorf("no reply: %w", context.Cause(ctx))
}

// line makes the command line of a call, and what goes to its stdin, nil where it needs none.
func (p Program) line(call shape.Call) (line []string, stdin []byte, err error) {
	for name := range call.More.All() {
		if name != "within" { // a program that is run has no way back, so it cannot wait for itself (CLIENT-6)
			return nil, nil, shape.Refused.Errorf("a command line carries no member beside verb and arguments, and the call has %s",
				shape.Quote(name))
		}
	}
	words, are := call.Args.Words()
	words = append([]string{call.Verb}, words...)
	switch {
	case call.Verb == "":
		return nil, nil, shape.Refused.Errorf("a call must name a verb")
	case call.Verb == "serve" || call.Verb == "pipe":
		return nil, nil, shape.Refused.Errorf("its answer is a stream and not a reply, and this call cannot hold one")
	case slices.ContainsFunc(words, func(w string) bool { return strings.IndexByte(w, 0) >= 0 }):
		return nil, nil, shape.Refused.Errorf("a command line holds no NUL, and a word of the call does")
	}
	var flags []string
	if !are {
		if stdin, err = call.Args.Append(nil, shape.JSON, p.Limits); err != nil {
			return nil, nil, err
		}
		if limit := p.Limits.Defaults().Frame; len(stdin) > limit {
			return nil, nil, shape.Refused.Errorf("the arguments are %d bytes and the cap is %d", len(stdin), limit)
		}
		flags = []string{"--args", "-"}
	}
	if p.Encoding == shape.CBOR {
		flags = append(flags, "--cbor")
	} else if call.Verb == "client" { // which is bare where no encoding is named (VERBS-1)
		flags = append(flags, "--json")
	}
	if slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "-") }) {
		return slices.Concat(p.Args, flags, []string{"--"}, words), stdin, nil
	}
	return slices.Concat(p.Args, words, flags), stdin, nil
}

// output reads what the program prints until it has ended, whoever else holds its stdout open. It has ended on return.
func (p Program) output(ctx context.Context, proc *child.Process) (out []byte, err error) {
	limit := p.Limits.Defaults().Frame
	read := make(chan struct{})
	go func() {
		out, err = io.ReadAll(io.LimitReader(proc.Out, int64(limit)+2)) // one for the newline, one that is too many
		close(read)
	}()
	select {
	case <-ctx.Done():
		proc.Kill()
		proc.Out.Close()
		<-read
		return nil, unanswered(ctx)
	case <-proc.Exited():
		proc.Out.SetReadDeadline(time.Unix(1, 0))
		<-read
		out = append(out, child.Rest(proc.Out, limit+2-len(out))...)
	case <-read:
	}
	if len(bytes.TrimSuffix(out, []byte("\n"))) > limit {
		proc.Kill()
		return nil, shape.Malformed.Errorf("it printed more than %d bytes, which is the cap", limit)
	}
	patience := grace
	if end, has := ctx.Deadline(); has {
		patience = max(0, min(patience, time.Until(end)))
	}
	proc.Stop(patience)
	return out, nil
}

// reply reads the one message that a program has printed.
func (p Program) reply(out []byte, proc *child.Process) (shape.Rows, error) {
	if len(out) == 0 {
		return shape.Rows{}, shape.Unavailable.Errorf("it ended without a reply: %s", ending(proc))
	}
	msg, err := p.Limits.Read(out, p.name())
	switch {
	case err != nil:
		return shape.Rows{}, shape.Malformed.Errorf("what it printed is no reply: %w", err)
	case !msg.IsReply():
		return shape.Rows{}, shape.Malformed.Errorf("what it printed is a message and no reply: %s", shape.Quote(string(out)))
	case msg.Refusal != nil:
		return shape.Rows{}, msg.Refusal
	}
	return msg.Rows, nil
}

// ending says how the program ended; one that SIGKILL did not end still runs.
func ending(proc *child.Process) string {
	select {
	case <-proc.Exited():
		return proc.Ending()
	default:
		return "it was killed and has not ended"
	}
}
