package argv

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/internal/stdio"
)

// Options are where [Run] finds the call and leaves the reply. The zero value is the process's own command line and
// descriptors.
type Options struct {
	Name   string       // the program's, for people; default: the last element of os.Args[0]
	Args   []string     // the command line without the program's name; nil: os.Args[1:]
	Limits shape.Limits // of the arguments and of the reply; Frame defaults to 16 MiB (LIMIT-1)

	Stdin  io.Reader // read where --args - asks for it, and only then (ARGV-4)
	Stdout io.Writer // what is written here, and nowhere else, is the reply; one that is given is not guarded
	Stderr io.Writer // what people read
	// Log is told what no caller can be answered, such as a handler's stack. Default: a line on Stderr.
	Log func(text string)
}

// Exit statuses (ARGV-2).
const (
	exitReplied   = 0 // a reply was written, a refusal is one; or help
	exitUnwritten = 1 // it could not be written
	exitNoCall    = 2 // there was none to answer
)

// Run answers the one call that stands on a command line, and returns what the process is to exit with: 0 where a reply was
// written, refusals and unknown verbs included; 1 where it could not be; 2 where there was no call to answer, and then stdout is
// empty and stderr says why (ARGV-2). Help is text on stdout and 0.
//
// It is the last thing a process does: from then on descriptor 1 is stderr, so that no stray print, not even that of a goroutine
// which is left, gets into the reply (ARGV-5). ctx is the handler's; Run ends when the handler does.
func Run(ctx context.Context, h transport.Handler, o Options) int {
	o, err := o.withDefaults()
	if err != nil {
		fmt.Fprintf(o.Stderr, "%s: stdout cannot be kept for the reply: %v\n", o.Name, err)
		return exitUnwritten
	}
	r := runner{o, transport.Config{Name: "the command line", Handler: h, Door: transport.CLI, Limits: o.Limits, Log: o.Log}}
	c := parse(o.Args, o.Limits)
	if c.help {
		return r.write([]byte(r.help(ctx, c)))
	}
	call, nothing := r.callOf(&c)
	if nothing != "" {
		fmt.Fprintf(o.Stderr, "%s: %s\n", o.Name, nothing)
		if len(o.Args) == 0 {
			io.WriteString(o.Stderr, r.help(ctx, c))
		}
		return exitNoCall
	}
	return r.reply(ctx, &c, call)
}

func (o Options) withDefaults() (_ Options, err error) {
	if o.Name == "" && len(os.Args) > 0 {
		o.Name = filepath.Base(os.Args[0])
	}
	if o.Args == nil && len(os.Args) > 0 {
		o.Args = os.Args[1:]
	}
	o.Limits = o.Limits.Defaults()
	if o.Stdin == nil {
		o.Stdin = stdio.Stdin
	}
	if o.Stderr == nil {
		o.Stderr = os.Stderr
	}
	if o.Log == nil {
		to := o.Stderr
		o.Log = func(text string) { fmt.Fprintln(to, text) }
	}
	if o.Stdout == nil {
		o.Stdout, err = stdio.Guard()
	}
	return o, err
}

// runner is one run.
type runner struct {
	Options
	cfg transport.Config
}

// callOf makes the call, or says why there is none.
func (r *runner) callOf(c *line) (call shape.Call, nothing string) {
	if c.nothing != "" {
		return call, c.nothing
	}
	call = shape.Call{Verb: c.words[0], Args: shape.WordArgs(c.words[1:])}
	if c.list == nil {
		return call, ""
	}
	args, err := r.list(*c.list)
	if err != nil {
		return call, "--args: " + err.Error()
	}
	call.Args = args
	return call, ""
}

// list reads the value of --args, which is stdin where it is -.
func (r *runner) list(value string) (shape.Args, error) {
	b, enc := []byte(value), []shape.Encoding{shape.JSON}
	if value == "-" {
		var err error
		if b, err = io.ReadAll(io.LimitReader(r.Stdin, int64(r.Limits.Frame)+1)); err != nil {
			return shape.Args{}, fmt.Errorf("stdin: %w", err)
		}
		enc = nil
	}
	if len(b) > r.Limits.Frame {
		return shape.Args{}, fmt.Errorf("the list is more than %d bytes, which is the cap", r.Limits.Frame)
	}
	l := r.Limits
	l.Depth-- // the list of a call stands inside its message, whichever door it comes through
	list, err := l.Value(b, enc...)
	if err != nil {
		return shape.Args{}, err
	}
	return list.Args()
}

// reply answers the call with the one reply there is (ARGV-1), and returns the exit status.
func (r *runner) reply(ctx context.Context, c *line, call shape.Call) int {
	if c.wrong != nil {
		return r.write(ended(shape.Rows{}.AppendReply(nil, c.enc, r.Limits, c.wrong), c.enc))
	}
	peer := transport.Alone(ctx, r.cfg)
	defer peer.Close() // behind the write: whoever waits for the reply does not wait for this
	var b []byte
	peer.Answer(peer.Context(), call, func(rows shape.Rows, err error) {
		if source, bare := bareClient(c, call, rows, err); bare {
			b = []byte(source)
			return
		}
		b = ended(rows.AppendReply(nil, c.enc, r.Limits, err), c.enc)
	})
	return r.write(b)
}

// ended ends JSON with one newline, and CBOR with nothing.
func ended(reply []byte, enc shape.Encoding) []byte {
	if enc == shape.JSON {
		reply = append(reply, '\n')
	}
	return reply
}

// bareClient is the reply to client where no encoding was asked for: the source as it is (VERBS-1).
func bareClient(c *line, call shape.Call, rows shape.Rows, err error) (source string, bare bool) {
	if call.Verb != "client" || c.named || err != nil || rows.Len() != 1 {
		return "", false
	}
	row := rows.Raw(0)
	return source, row.Kind() == "text" && row.Decode(&source) == nil
}

// write is the end of a run that has something to say.
func (r *runner) write(b []byte) int {
	if _, err := r.Stdout.Write(b); err != nil {
		fmt.Fprintf(r.Stderr, "%s: the reply could not be written: %v\n", r.Name, err)
		return exitUnwritten
	}
	return exitReplied
}
