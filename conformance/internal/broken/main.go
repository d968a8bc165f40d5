// Command broken is a program on this wire, written with nothing but the standard library and the two readers beside it. It
// answers verbs, client and two verbs of its own at all three doors, and shows how little that takes.
//
// Run under its own name it is right. Run under another (a link to it will do) it is wrong in the one way that the name
// says: every `if wrong(…)` is such a way, and a reader who wants the right program leaves them out. They are what the
// checker is checked with.
//
// Of what WIRE asks of a whole program it leaves out LISTEN_FDS and --tied, and it keeps no client library.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

// fault is the way in which this run is wrong.
var fault = filepath.Base(os.Args[0])

func wrong(way string) bool { return fault == way }

func main() {
	if !wrong("dies-by-sigpipe") {
		signal.Ignore(syscall.SIGPIPE) // a write to a pipe that nobody reads is an error to see, not a death (ARGV-5)
	}
	os.Exit(run(os.Args[1:]))
}

// run picks the door: two words open one, everything else is a call on the command line.
func run(args []string) int {
	if len(args) > 0 && !asksHelp(args) {
		switch args[0] {
		case "pipe":
			return pipe()
		case "serve":
			return serve(args[1:])
		}
	}
	return cli(args)
}

// fail says why on stderr, and returns the status.
func fail(status int, format string, a ...any) int {
	fmt.Fprintf(os.Stderr, "broken: %s\n", strings.TrimSpace(fmt.Sprintf(format, a...)))
	return status
}
