package argv

import (
	"context"
	"fmt"
	"strings"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
)

// described is a row of verbs, as far as help needs it (VERBS-1).
type described struct {
	Verb  string      `json:"verb"`
	About string      `json:"about"`
	Door  string      `json:"door"`
	Args  []parameter `json:"args"`
}

type parameter struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Optional bool   `json:"optional"`
	Rest     bool   `json:"rest"`
}

// usage is how the verb is called.
func (d described) usage() string {
	var b strings.Builder
	b.WriteString(d.Verb)
	for _, p := range d.Args {
		word := strings.ToUpper(p.Name)
		switch {
		case p.Rest:
			word = "[" + word + "…]"
		case p.Optional:
			word = "[" + word + "]"
		}
		b.WriteString(" " + word)
	}
	return b.String()
}

// help is the text of --help: what this program answers at this door, by its own word, or one verb where one is named.
func (r *runner) help(ctx context.Context, c line) string {
	verbs := r.verbs(ctx)
	words := c.words
	if len(words) > 0 && words[0] == "help" {
		words = words[1:]
	}
	if len(words) > 0 {
		for _, d := range verbs {
			if d.Verb == words[0] {
				return r.helpOf(d)
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "usage: %s VERB [WORD…] [--args JSON|-] [--json|--cbor]\n", r.Name)
	width := 0
	for _, d := range verbs {
		width = max(width, len([]rune(d.usage())))
	}
	for i, d := range verbs {
		if i == 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "  %-*s  %s\n", width, d.usage(), d.About)
	}
	b.WriteString(`
A word is text, unless its argument is declared as something else: then it is JSON. --args gives the whole list in one,
and - reads it from stdin, in JSON or CBOR. --cbor asks for the reply in CBOR. Flags may stand anywhere before --, and a
word that begins with - and is no number stands behind it.

exit: 0 a reply was written, a refusal too; 1 it could not be written; 2 there was no call to answer.
`)
	return b.String()
}

// helpOf is the text about one verb.
func (r *runner) helpOf(d described) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nusage: %s %s\n", d.About, r.Name, d.usage())
	for i, p := range d.Args {
		if i == 0 {
			b.WriteByte('\n')
		}
		how := ""
		switch {
		case p.Rest:
			how = ", any number of them"
		case p.Optional:
			how = ", may be left out"
		}
		fmt.Fprintf(&b, "  %-12s  %s%s\n", strings.ToUpper(p.Name), p.Type, how)
	}
	return b.String()
}

// verbs asks the program what it answers here; a program that does not say has nothing listed.
func (r *runner) verbs(ctx context.Context) (here []described) {
	rows, err := transport.Answer(ctx, r.cfg.Handler, shape.Call{Verb: "verbs"}, r.cfg)
	if err != nil {
		return nil
	}
	all, err := shape.Decode[described](rows, nil)
	if err != nil {
		return nil
	}
	for _, d := range all {
		if d.Door == transport.CLI.String() {
			here = append(here, d)
		}
	}
	return here
}
