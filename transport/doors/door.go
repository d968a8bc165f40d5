package doors

import (
	"errors"
	"fmt"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport/internal/stdio"
	"github.com/kith-wire/kith/transport/internal/tied"
	"github.com/kith-wire/kith/transport/pipe"
	"github.com/kith-wire/kith/transport/socket"
)

// door is a word of the command line whose answer is a stream and not a reply.
type door struct {
	word  string
	about string
	more  string
	flags []flag
	with  *settings
	run   func(p Program, s *settings) error
}

// settings are what the flags set.
type settings struct {
	path, instance string
	daemon         bool // serve speaks the daemon wire
	tied           int
	opts           socket.Options
	options        options
}

// The words that open a door.
const (
	serveWord = "serve"
	pipeWord  = "pipe"
)

// The wires that --wire names.
const (
	familyWire = "family"
	daemonWire = "daemon"
)

// doors makes the doors, each with settings of its own.
func doors(o options) []door {
	s, p := &settings{options: o}, new(settings)
	return []door{
		{
			word: serveWord, with: s, run: serve,
			about: "Answer on a socket until SIGTERM or SIGINT.",
			more: `Once the socket can be connected to, one line of JSON on stdout says where it is: {"event":"listening","at":PATH}.
Nothing else is ever written there. A socket that a service manager passes (LISTEN_FDS) is served in place of one of ours.
The daemon wire is that of requests with ids and methods PROGRAM.VERB; its instance is daemon unless one is named.

exit: 0 after a stop in order; 1 nothing could be served, and stderr says why.`,
			flags: append([]flag{
				textFlag(&s.path, "socket", "PATH", "where; default $XDG_RUNTIME_DIR/PROGRAM/INSTANCE.sock"),
				textFlag(&s.instance, "instance", "NAME", "which one of many; default main"),
				wireFlag(&s.daemon),
				countFlag(&s.opts.Max, "limit", "N", "connections at a time; default 1024"),
				timeFlag(&s.opts.Stall, "stall", "for a started frame, and for a peer that stopped reading; default 30s"),
				timeFlag(&s.opts.Grace, "grace", "for a stop; default 5s"),
				countFlag(&s.opts.Limits.Frame, "cap", "BYTES", "the largest message; default 1 MiB, 16 MiB on the daemon wire"),
				countFlag(&s.tied, "tied", "PID", "stop when that process ends"),
			}, both...),
		},
		{
			word: pipeWord, with: p, run: servePipe,
			about: "Answer on stdin and stdout, one JSON object a line, until stdin ends.",
			more: `SIGTERM and SIGINT are the end of stdin too.

exit: 0 every call was answered; 1 the other end reads no more, or is at fault, and stderr says why.`,
			flags: append([]flag{
				countFlag(&p.opts.Limits.Frame, "cap", "BYTES", "the largest message; default 16 MiB"),
				countFlag(&p.tied, "tied", "PID", "stop when that process ends"),
			}, both...),
		},
	}
}

// open serves the door as its command line says.
func (d door) open(p Program, args []string) int {
	words, help, err := parse(args, d.flags)
	out, guardErr := stdio.Guard()
	switch {
	case help || words[0] == "help":
		if _, err := out.Write([]byte(helpFor(p.Name(), d))); err != nil {
			say(p, "help could not be written: %v", err)
			return exitFault
		}
		return exitEnded
	case err == nil && len(words) > 1:
		err = fmt.Errorf("the word %s stands there, and only flags are taken", shape.Quote(words[1]))
	case err == nil:
		err = guardErr
	}
	if err == nil {
		d.with.opts.Handler = p
		err = d.run(p, d.with)
	}
	if err == nil {
		return exitEnded
	}
	say(p, "%s: %v", d.word, err)
	if errors.Is(err, tied.ErrNobody) { // it has merely ended before us, and an end of ours is in order
		return exitEnded
	}
	return exitFault
}

func servePipe(_ Program, s *settings) error {
	ctx, err := untilStopped(s.tied)
	if err != nil {
		return err
	}
	return pipe.Serve(ctx, s.opts.Config)
}

// serve binds, says so, and serves until it is stopped (SOCK-6).
func serve(p Program, s *settings) error {
	ctx, err := untilStopped(s.tied) // first: a signal that comes once it is announced stops it in order
	if err != nil {
		return err
	}
	l, err := listen(p, s)
	if err != nil {
		return err
	}
	if err := announce(l.Path()); err != nil {
		l.Close()
		return err
	}
	return l.Serve(ctx)
}

// listen takes the socket that was passed to us, or the place the flags name.
func listen(p Program, s *settings) (*socket.Listener, error) {
	if s.path != "" && s.instance != "" {
		return nil, errors.New("--socket is a whole path and --instance a name in the usual place: one of them")
	}
	if s.daemon {
		s.opts.Wire = s.options.daemonOf(p)
		if s.instance == "" {
			s.instance = daemonWire
		}
	}
	l, passed, err := socket.Activated(s.opts)
	if passed || err != nil {
		return l, err
	}
	if s.path == "" {
		s.opts.MakeDir = true
		if s.path, err = socket.Path(p.Name(), s.instance); err != nil {
			return nil, err
		}
	}
	return socket.Listen(s.path, s.opts)
}

// announce writes the one line there is on stdout.
func announce(path string) error {
	event := shape.EventOf("listening", struct {
		At string `json:"at"`
	}{path})
	line, err := event.Append(nil, shape.JSON, shape.Limits{})
	if err != nil {
		return fmt.Errorf("its path cannot be announced: %w", err)
	}
	out, err := stdio.Guard()
	if err == nil {
		_, err = out.Write(append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("it cannot say that it listens: %w", err)
	}
	return nil
}
