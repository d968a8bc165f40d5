package doors

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/argv"
	"github.com/kith-wire/kith/transport/internal/stdio"
	"github.com/kith-wire/kith/transport/internal/tied"
	"github.com/kith-wire/kith/transport/rpc"
)

// Program is a Handler with a name; a verbs.Set is one. The name is that of the directory of its sockets (SOCK-2), and what it is
// called in messages to people.
type Program interface {
	transport.Handler
	Name() string
}

// Exit statuses of a door. Those of a call are package argv's.
const (
	exitEnded = 0 // in order
	exitFault = 1 // nothing could be served, or the connection failed
)

// Option is an option of [Main].
type Option func(*options)

type options struct{ daemon *rpc.Options }

// Daemon says how the daemon wire is served (`serve --wire daemon`). Without it there is one namespace, named as the program is, which
// the program answers.
func Daemon(o rpc.Options) Option { return func(all *options) { all.daemon = &o } }

func (o options) daemonOf(p Program) rpc.Options {
	if o.daemon != nil {
		return *o.daemon
	}
	return rpc.Options{Namespaces: map[string]transport.Handler{p.Name(): p}}
}

// Main is the main of a program: it opens the door that the command line names and exits the process.
func Main(p Program, opts ...Option) { os.Exit(Run(p, os.Args[1:], opts...)) }

// Run does what [Main] does, for the command line args without the program's name, and returns the exit status in place of
// exiting with it: that of [argv.Run] for a call; for serve and pipe 0 after an end in order, and 1 with one sentence on stderr
// where nothing could be served or the connection failed (SOCK-6, CLIENT-3). It is the last thing a process does: descriptor 1 is
// stderr from now on, and a SIGPIPE changes nothing (ARGV-5).
func Run(p Program, args []string, opts ...Option) int {
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	if stdio.Breaks(stdio.Stderr) && (mayOpen(args) || !stdio.Unkilled()) {
		// Not ignored, which children would inherit: a write to a stderr that nobody reads fails, like one to any other pipe.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	}
	if d := doorOf(p, args, o); d != nil {
		return d.open(p, args)
	}
	return argv.Run(context.Background(), p, argv.Options{Name: p.Name(), Args: args})
}

// mayOpen reports whether the command line may be that of a door: its word is somewhere in it.
func mayOpen(args []string) bool {
	return slices.Contains(args, serveWord) || slices.Contains(args, pipeWord)
}

// doorOf returns the door that the command line opens, nil where it is a call.
func doorOf(p Program, args []string, o options) *door {
	if !mayOpen(args) { // a call must not pay for the flags of the doors
		return nil
	}
	words := wordsOf(args)
	if len(words) > 1 && words[0] == "help" {
		words = words[1:]
	}
	for _, d := range doors(o) {
		if len(words) > 0 && d.word == words[0] && advertised(p, d.word) {
			return &d
		}
	}
	return nil
}

// advertised reports whether the program says that it has the word. One that does not answer verbs says nothing, and has both.
func advertised(p Program, word string) bool {
	if _, err := stdio.Guard(); err != nil { // before the program runs; open says so
		return true
	}
	rows, err := transport.Answer(context.Background(), p, shape.Call{Verb: "verbs"}, transport.Config{})
	if err != nil {
		return true
	}
	for _, row := range rows.All() {
		var verb, door string
		row.Members().Get("verb").Decode(&verb)
		row.Members().Get("door").Decode(&door)
		if verb == word && door == transport.CLI.String() {
			return true
		}
	}
	return false
}

// untilStopped returns a context that ends at SIGTERM, at SIGINT, and with the process of --tied where pid is not 0. Further
// signals change nothing.
func untilStopped(pid int) (context.Context, error) {
	ctx, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt) // until the process ends
	if pid == 0 {
		return ctx, nil
	}
	return tied.To(ctx, pid)
}

// say tells people one sentence.
func say(p Program, format string, a ...any) {
	fmt.Fprintf(os.Stderr, "%s: %s\n", p.Name(), fmt.Sprintf(format, a...))
}
