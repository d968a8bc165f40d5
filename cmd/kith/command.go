package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kith-wire/kith/shape"
)

// command is one command: what runs and what its help says come from here alone.
type command struct {
	name  string
	words string // what it takes, for help
	about string // one line
	more  string // what else must be known
	min   int    // words it needs
	max   int    // words it takes; below 0: any number
	flags []flag
	run   func(ctx context.Context, words []string) int
}

// flag is a flag of a command. One without a value name takes no value.
type flag struct {
	name  string
	value string
	about string
	set   func(value string) error
}

func (f flag) String() string { return strings.TrimSpace("--" + f.name + " " + f.value) }

// boolFlag sets a bool.
func boolFlag(to *bool, name, about string) flag {
	return flag{name: name, about: about, set: func(string) error { *to = true; return nil }}
}

// textFlag sets a text, which is nil where the flag is not given.
func textFlag(to **string, name, value, about string) flag {
	return flag{name: name, value: value, about: about, set: func(s string) error { *to = &s; return nil }}
}

// bytesFlag sets a number of bytes from 1.
func bytesFlag(to *int, name, about string) flag {
	return flag{name: name, value: "BYTES", about: about, set: func(s string) (err error) {
		if *to, err = strconv.Atoi(s); err != nil || *to < 1 || *to > 1<<31-1 {
			return fmt.Errorf("%q is not a number of bytes from 1 to %d", shape.Quote(s), 1<<31-1)
		}
		return nil
	}}
}

// durationFlag sets a duration above 0.
func durationFlag(to *time.Duration, name, about string) flag {
	return flag{name: name, value: "DURATION", about: about, set: func(s string) (err error) {
		if *to, err = time.ParseDuration(s); err != nil || *to <= 0 {
			return fmt.Errorf("%q is not a duration above 0, such as 5s or 300ms", shape.Quote(s))
		}
		return nil
	}}
}

// parse takes the flags out of the words. They may stand anywhere before --. A word that begins with - is a flag, unless it
// is - or a number, as on the cli of every program (ARGV-3).
func parse(args []string, flags []flag) (words []string, help bool, err error) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			return append(words, args[i+1:]...), help, err
		case arg == "-h" || arg == "--help":
			help = true
			continue
		case !strings.HasPrefix(arg, "-") || arg == "-" || isNumber(arg):
			words = append(words, arg)
			continue
		}
		name, value, joined := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		f, known := find(flags, name)
		switch {
		case err != nil:
		case !known || !strings.HasPrefix(arg, "--"):
			err = fmt.Errorf("there is no flag %q; a word that begins with - stands behind --", shape.Quote(arg))
		case f.value == "" && joined:
			err = fmt.Errorf("--%s takes no value", name)
		case f.value != "" && !joined:
			if i++; i == len(args) {
				err = fmt.Errorf("--%s is missing its %s", name, f.value)
				break
			}
			value = args[i]
			fallthrough
		default:
			if wrong := f.set(value); wrong != nil {
				err = fmt.Errorf("--%s: %w", name, wrong)
			}
		}
	}
	return words, help, err
}

func find(flags []flag, name string) (flag, bool) {
	for _, f := range flags {
		if f.name == name {
			return f, true
		}
	}
	return flag{}, false
}

// isNumber reports whether a word is a JSON number.
func isNumber(word string) bool {
	value, err := shape.Limits{}.Value([]byte(word), shape.JSON)
	return err == nil && (value.Kind() == "int" || value.Kind() == "number")
}

func (c command) takes() string {
	if c.words == "" {
		return "no words"
	}
	return c.words
}

// help is what `kith help COMMAND` prints.
func (c command) help() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nusage: kith %s\n", c.about, strings.TrimSpace(c.name+" "+c.words))
	if c.more != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(c.more))
	}
	b.WriteString("\nflags, anywhere before --:\n")
	for _, f := range append(c.flags, flag{name: "help", about: "this text"}) {
		fmt.Fprintf(&b, "  %-20s  %s\n", f, f.about)
	}
	return b.String()
}

// usage is what `kith help` prints.
func usage(commands []command) string {
	var b strings.Builder
	b.WriteString("kith talks to any program on the kith wire.\n\n")
	for _, c := range commands {
		fmt.Fprintf(&b, "  kith %-34s  %s\n", strings.TrimSpace(c.name+" "+c.words), c.about)
	}
	b.WriteString(`
TARGET is argv:PROG (run once for the call), pipe:PROG (held while it lasts), unix:PATH (a socket) or daemon:PATH (a socket
of the daemon wire).
A bare one is a socket where a socket file has that name, and a program to run everywhere else.

exit: 0 a reply came, a refusal too; 1 the output could not be written; 2 nothing was sent.
With --fail a refusal exits 3 refused, 4 unavailable, 5 failed, 6 malformed.
No reply at all exits 4 (unavailable) or 6 (malformed) always.

kith help COMMAND tells more.
`)
	return b.String()
}
