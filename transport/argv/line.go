package argv

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kith-wire/kith/shape"
)

// line is a command line, taken apart (ARGV-3).
type line struct {
	words   []string // the verb first
	enc     shape.Encoding
	named   bool    // an encoding was asked for
	list    *string // the value of --args
	help    bool
	nothing string       // why there is no call to answer (ARGV-2)
	wrong   *shape.Error // why the call is refused
}

// parse takes the flags out of a command line. They may stand anywhere before --.
func parse(args []string, l shape.Limits) (c line) {
	end := slices.Index(args, "--")
	if end < 0 {
		end = len(args)
	}
	flags, rest := args[:end], args[min(end+1, len(args)):]
	c.help = slices.Contains(flags, "--help") || slices.Contains(flags, "-h")
	for i := 0; i < len(flags); i++ {
		switch arg := flags[i]; {
		case !isFlag(arg, l):
			c.words = append(c.words, arg)
		case arg == "--json" || arg == "--cbor":
			c.named, c.enc = true, shape.JSON
			if arg == "--cbor" {
				c.enc = shape.CBOR
			}
		case strings.HasPrefix(arg, "--args="):
			c.setList(arg[len("--args="):])
		case arg != "--args":
			c.refuse("there is no flag %s; a word that begins with - stands behind --", shape.Quote(arg))
		case i+1 < len(args): // whatever stands there, -- too
			if i++; i == end {
				rest = nil
			}
			c.setList(args[i])
		default:
			c.nothing = "--args is missing its value: a JSON list, or - for stdin"
		}
	}
	c.words = append(c.words, rest...)
	c.help = c.help || len(c.words) > 0 && c.words[0] == "help"
	c.check()
	return c
}

func (c *line) setList(value string) {
	if c.list != nil {
		c.refuse("--args is the whole list of arguments, and it stands there twice")
	}
	c.list = &value
}

// refuse keeps the first reason.
func (c *line) refuse(format string, a ...any) {
	if c.wrong == nil {
		c.wrong = shape.Refused.Errorf(format, a...)
	}
}

// check looks at the words as a whole.
func (c *line) check() {
	if len(c.words) == 0 {
		if c.nothing == "" {
			c.nothing = "there is no verb"
		}
		return
	}
	for _, word := range c.words {
		if !utf8.ValidString(word) {
			c.refuse("the word %s is not UTF-8", shape.Quote(word))
		}
	}
	if c.list != nil && len(c.words) > 1 {
		c.refuse("--args is the whole list of arguments, and the word %s stands beside it", shape.Quote(c.words[1]))
	}
}

// isFlag reports whether a word before -- is a flag: it begins with - and is neither that alone nor a number.
func isFlag(word string, l shape.Limits) bool {
	if len(word) < 2 || word[0] != '-' {
		return false
	}
	value, err := l.Value([]byte(word), shape.JSON)
	return err != nil || value.Kind() != "int" && value.Kind() != "number"
}
