package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kith-wire/kith/conformance/internal/value"
)

// line is a command line, taken apart (ARGV-3).
type line struct {
	words   []string
	enc     value.Encoding
	framed  bool    // an encoding was named
	list    *string // --args
	missing bool    // of --args
	unknown string  // a flag that is none
}

func parse(args []string) (l line) {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--":
			l.words = append(l.words, args[i+1:]...)
			return l
		case arg == "--json" || arg == "--cbor":
			l.framed, l.enc = true, value.JSON
			if arg == "--cbor" && !(wrong("flags-behind-only") && i == 0) {
				l.enc = value.CBOR
			}
		case arg == "--args":
			if i++; i == len(args) {
				l.missing = true
				return l
			}
			l.list = &args[i]
		case strings.HasPrefix(arg, "-") && arg != "-" && !isNumber(arg):
			l.unknown = arg
		default:
			l.words = append(l.words, arg)
		}
	}
	return l
}

func isNumber(s string) bool {
	doc, err := value.Read([]byte(s), value.JSON, value.Default)
	return err == nil && (doc.Value.Kind == value.Int || doc.Value.Kind == value.Float)
}

func asksHelp(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return len(args) > 0 && args[0] == "help" || slices.Contains(args, "--help") || slices.Contains(args, "-h")
}

const usage = `usage: broken VERB [WORD…] [--args JSON|-] [--json|--cbor]
       broken pipe
       broken serve [--socket PATH]
`

// cli answers one call and exits: 0 whenever a reply was written, 2 where there was no call (ARGV-2).
func cli(args []string) int {
	if wrong("reads-stdin") {
		io.ReadFull(os.Stdin, make([]byte, 1))
	}
	if asksHelp(args) {
		to := os.Stdout
		if wrong("help-on-stderr") {
			to = os.Stderr
		}
		return written(fmt.Fprint(to, usage))
	}
	l := parse(args)
	if l.missing {
		return fail(2, "--args is missing its value")
	}
	if len(l.words) == 0 && !wrong("no-verb-is-refused") {
		return fail(2, "there is no verb; --help tells more")
	}
	list, err := l.args()
	if err != nil && !wrong("bad-list-is-refused") {
		return fail(2, "--args: %v", err)
	}
	r := l.answer(list)
	if wrong("usage-on-stderr") && strings.HasPrefix(r.err, "no such call") {
		return fail(2, usage)
	}
	return l.print(r)
}

// answer refuses what is wrong with the command line itself, by name, and makes the call otherwise.
func (l line) answer(list []value.Value) reply {
	switch {
	case l.unknown != "" && !wrong("unknown-flag-ignored"):
		return refused("there is no flag %s", quote(l.unknown))
	case slices.ContainsFunc(l.words, func(w string) bool { return !utf8.ValidString(w) }):
		if wrong("not-utf8-passed-on") {
			return refused("no such call: %s", l.words[0])
		}
		return refused("a word that is not UTF-8")
	case len(l.words) == 0:
		return refused("there is no verb")
	case l.list == nil:
		for _, w := range l.words[1:] {
			list = append(list, typed(l.words[0], len(list), w))
		}
	case len(l.words) > 1 && !wrong("words-beside-list"):
		return refused("--args is the whole list, and the word %s stands beside it", quote(l.words[1]))
	}
	return answer("cli", l.words[0], list)
}

// typed reads a word: as JSON where the verb declares something else than text and it is that, as text otherwise.
func typed(verb string, i int, w string) value.Value {
	for _, r := range listing() {
		if r.verb == verb && i < len(r.args) && !strings.Contains(r.args[i], ":text") {
			if doc, err := value.Read([]byte(w), value.JSON, value.Default); err == nil {
				return doc.Value
			}
		}
	}
	return value.OfText(w)
}

// args reads the value of --args, which is stdin where it is -.
func (l line) args() ([]value.Value, error) {
	if l.list == nil {
		return nil, nil
	}
	b, enc := []byte(*l.list), value.JSON
	if *l.list == "-" {
		var err error
		if b, err = io.ReadAll(io.LimitReader(os.Stdin, pipeCap+1)); err != nil {
			return nil, err
		}
		if len(b) > pipeCap {
			return nil, fmt.Errorf("more than %d bytes, the cap", pipeCap)
		}
		var start int
		if enc, start = value.Detect(b); enc == value.CBOR {
			b = b[start:]
		}
		if wrong("list-is-json-only") {
			enc = value.JSON
		}
	}
	doc, err := value.Read(b, enc, value.Default)
	if err == nil && doc.Value.Kind != value.List {
		err = fmt.Errorf("%v, and it must be a list", doc.Value.Kind)
	}
	return doc.Value.List, err
}

// print writes the reply: JSON with a newline, CBOR with nothing (ARGV-1).
func (l line) print(r reply) int {
	if len(l.words) > 0 && l.words[0] == "client" && r.fault == "" && !l.framed {
		if wrong("client-bare-differs") {
			return written(os.Stdout.WriteString("# another client\n"))
		}
		return written(os.Stdout.WriteString(r.rows[0].Text))
	}
	out := r.encode(l.enc)
	switch {
	case wrong("banner") && r.surface && l.enc == value.JSON:
		out = append([]byte("broken 1.0\n"), append(out, '\n')...)
	case wrong("two-newlines") && l.enc == value.JSON:
		out = append(out, "\n\n"...)
	case wrong("no-newline"):
	case l.enc == value.JSON || out[0] == '{' || wrong("newline-behind-cbor"):
		out = append(out, '\n')
	}
	status := written(os.Stdout.Write(out))
	if wrong("refusal-exits-1") && strings.HasPrefix(r.err, "no such call") {
		status = 1
	}
	return status
}

// written turns what a write says into the exit status.
func written(_ int, err error) int {
	if err != nil && !wrong("write-errors-ignored") {
		return fail(1, "the reply could not be written: %v", err)
	}
	return 0
}
