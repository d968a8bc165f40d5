package doors

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kith-wire/kith/shape"
)

// flag is a flag of a door: what sets it and what its help says come from here alone.
type flag struct {
	name  string
	value string // what it takes, for people; empty: nothing
	about string
	set   func(value string) error
}

func textFlag(to *string, name, value, about string) flag {
	return flag{name, value, about, func(s string) error {
		if *to = s; s == "" {
			return fmt.Errorf("it is empty")
		}
		return nil
	}}
}

func countFlag(to *int, name, value, about string) flag {
	return flag{name, value, about, func(s string) (err error) {
		if *to, err = strconv.Atoi(s); err != nil || *to < 1 || *to > math.MaxInt32 {
			return fmt.Errorf("%s is not a number from 1 to %d", shape.Quote(s), math.MaxInt32)
		}
		return nil
	}}
}

func timeFlag(to *time.Duration, name, about string) flag {
	return flag{name, "DURATION", about, func(s string) (err error) {
		if *to, err = time.ParseDuration(s); err != nil || *to <= 0 {
			return fmt.Errorf("%s is not a duration above 0, such as 5s or 300ms", shape.Quote(s))
		}
		return nil
	}}
}

func wireFlag(daemon *bool) flag {
	return flag{"wire", "WIRE", "what is spoken, " + familyWire + " or " + daemonWire + "; default " + familyWire, func(s string) error {
		if *daemon = s == daemonWire; !*daemon && s != familyWire {
			return fmt.Errorf("%s is no wire: %s or %s", shape.Quote(s), familyWire, daemonWire)
		}
		return nil
	}}
}

// both are taken by every verb, and by these two without effect (VERBS-2).
var both = []flag{
	{"json", "", "", func(string) error { return nil }},
	{"cbor", "", "", func(string) error { return nil }},
}

// parse sets the flags that stand in a command line, anywhere before --, and returns the words.
func parse(args []string, flags []flag) (words []string, help bool, err error) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			return append(words, args[i+1:]...), help, err
		case arg == "--help" || arg == "-h":
			help = true
			continue
		case len(arg) < 2 || arg[0] != '-' || '0' <= arg[1] && arg[1] <= '9': // a number is a word (ARGV-3)
			words = append(words, arg)
			continue
		}
		f, value, joined := lookUp(flags, arg)
		switch {
		case f.set == nil:
			err = cmp.Or(err, fmt.Errorf("there is no flag %s", shape.Quote(arg)))
			continue
		case f.value == "" && joined:
			err = cmp.Or(err, fmt.Errorf("--%s takes no value", f.name))
			continue
		case f.value != "" && !joined:
			if i++; i == len(args) {
				return words, help, cmp.Or(err, fmt.Errorf("--%s is missing its %s", f.name, f.value))
			}
			value = args[i]
		}
		if wrong := f.set(value); wrong != nil {
			err = cmp.Or(err, fmt.Errorf("--%s: %w", f.name, wrong))
		}
	}
	return words, help, err
}

// lookUp finds the flag that arg begins with, its set nil where there is none.
func lookUp(flags []flag, arg string) (f flag, value string, joined bool) {
	name, value, joined := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
	i := slices.IndexFunc(flags, func(f flag) bool { return f.name == name })
	if i < 0 || !strings.HasPrefix(arg, "--") {
		return f, "", false
	}
	return flags[i], value, joined
}

// wordsOf returns the words of a command line, which may stand behind flags of a door.
func wordsOf(args []string) []string {
	all := []flag{{name: "args", value: "JSON", set: func(string) error { return nil }}}
	for _, d := range doors(options{}) {
		all = append(all, d.flags...)
	}
	words, _, _ := parse(args, all)
	return words
}

// helpFor is the text about a door.
func helpFor(program string, d door) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nusage: %s %s [FLAG…]\n\n", d.about, program, d.word)
	for _, f := range d.flags {
		if f.about != "" {
			fmt.Fprintf(&b, "  %-16s  %s\n", strings.TrimSpace("--"+f.name+" "+f.value), f.about)
		}
	}
	fmt.Fprintf(&b, "\n%s\n", d.more)
	return b.String()
}
