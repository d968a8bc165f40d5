// Command kith talks to any program on this wire: it calls it, asks what it answers, listens to its events, finds the
// sockets of running ones, and translates between the two encodings. `kith help` tells how.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/kith-wire/kith/shape"
)

func main() {
	// Caught and dropped, so that a write to a pipe nobody reads is an error; children start with the default again.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	t := &tool{in: os.Stdin, out: os.Stdout, err: os.Stderr}
	status := t.run(ctx, os.Args[1:])
	stop()
	os.Exit(status)
}

// What kith exits with. A refusal is a reply, so it is 0 unless --fail was given.
const (
	exitOK          = 0
	exitOutput      = 1 // the output could not be written
	exitUsage       = 2 // nothing was sent: the command is wrong, or the call was refused before a byte left
	exitRefused     = 3
	exitUnavailable = 4
	exitFailed      = 5
	exitMalformed   = 6
)

func exitOf(f shape.Fault) int {
	switch f {
	case shape.Unavailable:
		return exitUnavailable
	case shape.Failed:
		return exitFailed
	case shape.Malformed:
		return exitMalformed
	}
	return exitRefused
}

// tool is one run of kith.
type tool struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

// commands are all there are.
func (t *tool) commands() []command {
	return []command{t.callCommand(), t.verbsCommand(), t.watchCommand(), t.lsCommand(), t.convertCommand(), t.demoCommand(),
		t.checkCommand()}
}

// run is kith: the words it was given, and what it exits with.
func (t *tool) run(ctx context.Context, args []string) int {
	if len(args) == 0 {
		fmt.Fprint(t.err, usage(t.commands()))
		return exitUsage
	}
	switch args[0] {
	case "help":
		if len(args) > 1 {
			args = []string{args[1], "--help"}
			break
		}
		fallthrough
	case "-h", "--help":
		return t.print([]byte(usage(t.commands())))
	}
	for _, c := range t.commands() {
		if c.name == args[0] {
			return t.runCommand(ctx, c, args[1:])
		}
	}
	return t.fail(exitUsage, "there is no command %q; kith help lists them", shape.Quote(args[0]))
}

func (t *tool) runCommand(ctx context.Context, c command, args []string) int {
	words, help, err := parse(args, c.flags)
	switch {
	case help:
		return t.print([]byte(c.help()))
	case err != nil:
		return t.fail(exitUsage, "%s: %v", c.name, err)
	case len(words) < c.min:
		return t.fail(exitUsage, "%s takes %s; kith help %s tells more", c.name, c.words, c.name)
	case c.max >= 0 && len(words) > c.max:
		return t.fail(exitUsage, "%s: %q is one word too many; it takes %s", c.name, shape.Quote(words[c.max]), c.takes())
	}
	return c.run(ctx, words)
}

// print writes output; what cannot be written is said on stderr.
func (t *tool) print(b []byte) int {
	if _, err := t.out.Write(b); err != nil {
		return t.fail(exitOutput, "the output could not be written: %v", err)
	}
	return exitOK
}

// fail says why on stderr, in one line, and returns the status.
func (t *tool) fail(status int, format string, a ...any) int {
	fmt.Fprintf(t.err, "kith: "+format+"\n", a...)
	return status
}
