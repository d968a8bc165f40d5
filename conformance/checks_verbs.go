package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kith-wire/kith/conformance/internal/value"
)

// verbChecks hold what verbs says against what the program does.
var verbChecks = []check{
	{"listing", "VERBS-1", "the rows of verbs are well made and stand in order", allDoors, false, checkListing},
	{"own-verbs", "VERBS-2", "verbs, client, serve and pipe are listed where they must be, and no shell is on the socket", allDoors, false, checkOwnVerbs},
	{"client", "VERBS-1", "client is answered with source, or refused with a reason", allDoors, false, checkClient},
	{"unknown-verb", "FAULT-3", "an unknown verb is refused, and the text begins `no such call: <verb>`", allDoors, false, checkUnknownVerb},
	{"quote", "ENC-5", "an error quotes at most 64 bytes of what came, controls escaped", allDoors, false, checkQuote},
	{"wrong-args", "FAULT-3", "wrong arguments are refused, and the text names verb and argument", allDoors, false, checkWrongArgs},
	{"dispatch", "FAULT-5", "what verbs lists for the door is answered there, and what it does not is no such call", allDoors, false, checkDispatch},
}

// types are those that an argument may be declared as.
var types = []string{"text", "bool", "int", "number", "list", "map", "any"}

func checkListing(p *probe) {
	seen := map[string]bool{}
	last := 0
	for i, row := range p.listing() {
		wrong := func(format string, a ...any) {
			p.fail(p.asking(), fmt.Sprintf("row %d of verbs is %s", i+1, show(value.Append(nil, value.JSON, row))), format, a...)
		}
		var order []string
		for _, m := range row.Map {
			if slices.Contains([]string{"verb", "about", "door", "args"}, m.Name) {
				order = append(order, m.Name)
			}
		}
		if s := strings.Join(order, " "); s != "verb about door" && s != "verb about door args" {
			wrong("the members verb, about, door and, when declared, args, in this order")
		}
		verb, door := rowText(row, "verb"), rowText(row, "door")
		if !goodName(verb) {
			wrong("a verb is a name of [a-z][a-z-]*")
		}
		if seen[verb+" "+door] {
			wrong("one row for each verb and door")
		}
		seen[verb+" "+door] = true
		if at := slices.Index(allDoors, door); at >= 0 && at < last {
			wrong("the rows of the cli, then those of the pipe, then those of the socket")
		} else {
			last = max(last, at)
		}
		if why := badArgs(row); why != "" {
			wrong("%s", why)
		}
	}
}

func goodName(verb string) bool {
	return verb != "" && verb[0] != '-' && strings.Trim(verb, "abcdefghijklmnopqrstuvwxyz-") == ""
}

// badArgs says what is wrong with the declared arguments of a row.
func badArgs(row value.Value) string {
	args, there := row.Get("args")
	if there && args.Kind != value.List {
		return "args is a list"
	}
	all := params(row)
	for i, a := range all {
		switch {
		case a.name == "" || a.typ == "":
			return "an argument has a name and a type, both text"
		case !slices.Contains(types, a.typ):
			return "the type of an argument is one of " + strings.Join(types, ", ")
		case a.rest && i < len(all)-1:
			return "the argument that repeats is the last"
		case i > 0 && all[i-1].optional && !a.optional && !a.rest:
			return "behind an argument that is optional come only such"
		}
	}
	return ""
}

func (p *probe) lists(verb, door string) bool {
	return slices.ContainsFunc(p.listing(), func(row value.Value) bool {
		return rowText(row, "verb") == verb && rowText(row, "door") == door
	})
}

func checkOwnVerbs(p *probe) {
	rows := p.listing()
	if rows == nil {
		return
	}
	for _, verb := range []string{"verbs", "client"} {
		if !p.lists(verb, p.name) {
			p.fail(p.asking(), fmt.Sprintf("no row of %s for the door %s", verb, p.name), "a row for what every program answers")
		}
	}
	for _, row := range rows {
		door, verb := rowText(row, "door"), rowText(row, "verb")
		if word := opener[door]; word != "" && !p.lists(word, CLI) {
			p.fail(p.asking(), fmt.Sprintf("rows of the door %s, and none of %s for the cli", door, word), "a cli row for the word that opens the door")
			return
		}
		if door == Socket && slices.Contains([]string{"run", "exec", "shell", "eval", "spawn"}, verb) {
			p.fail(p.asking(), "a row of "+verb+" for the socket", "none, unless it is meant: then this check is a known failure")
		}
	}
}

func checkClient(p *probe) {
	for _, s := range p.samples() {
		result, _ := s.reply.get("result")
		switch {
		case s.what != "client":
		case !s.there:
			p.fail(s.asked, s.came, "a reply to client")
		case names(s.reply.text("error"), "no such call"):
			p.fail(s.asked, s.reply, "every program answers client; one without a library refuses and says so")
		case s.reply.is(true) && (result.Kind == value.List && len(result.List) == 0):
			p.fail(s.asked, s.reply, "the source, or a refusal that says why there is none")
		}
	}
	if p.name != CLI || len(p.findings) > 0 {
		return
	}
	bare := p.run("client")
	framed := readReply(p.run("client", "--json").stdout)
	rows := framed.rows()
	if framed.is(true) && len(rows) == 1 && strings.TrimSpace(string(bare.stdout)) != strings.TrimSpace(rows[0].Text) {
		p.fail(bare, bare, "the source as it is where no encoding is named: the text that client --json has for its row")
	}
}

// ask calls a verb with that list of arguments, and returns the reply.
func (p *probe) ask(verb, args string) (reply, evidence, any) {
	if p.name == CLI {
		words := []string{verb}
		if args != "" {
			words = append(words, "--args", args)
		}
		o := p.run(words...)
		return printed(o.stdout), o, o
	}
	body := value.Append([]byte(`{"call":`), value.JSON, value.OfText(verb))
	if args != "" {
		body = append(append(body, `,"args":`...), args...)
	}
	t := p.talk(1, p.framing()(text(string(body)+"}")))
	if len(t.replies) == 0 {
		return readReply(nil), t, t
	}
	return readReply(t.replies[0]), t, t
}

func checkUnknownVerb(p *probe) {
	for _, s := range p.samples() {
		if s.what != strange {
			continue
		}
		if want := "no such call: " + strange; !s.there || !s.reply.refused("refused") || !strings.HasPrefix(s.reply.text("error"), want) {
			p.fail(s.asked, s.came, `ok false, the fault "refused", and an error that begins "%s"`, want)
		}
	}
}

func checkQuote(p *probe) {
	long := strings.Repeat("x", 3000)
	r, e, came := p.ask(long, "")
	if !r.is(false) || strings.Contains(r.text("error"), strings.Repeat("x", 65)) {
		p.fail(e, came, "a refusal that quotes at most 64 bytes of what came")
	}
	r, e, came = p.ask("a\x1b[31m\nb", "")
	if !r.is(false) || strings.ContainsAny(r.text("error"), "\x1b\n") {
		p.fail(e, came, "a refusal that quotes no control character as it is")
	}
}

// wrongArgs is a list with a value of another type for each declared argument, and then so many more; empty where no such
// value is sure to be refused. Such a call is made because it cannot be carried out.
func wrongArgs(row value.Value, more int) string {
	all := params(row)
	var list []string
	for _, a := range all {
		switch {
		case a.rest && more > 0 || a.typ == "any" || !slices.Contains(types, a.typ):
			return ""
		case a.typ == "map":
			list = append(list, `["kith-check"]`)
		default:
			list = append(list, `{"kith-check":true}`)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "[" + strings.Join(append(list, slices.Repeat([]string{"null"}, more)...), ",") + "]"
}

// harmless reports whether a verb may be called with wrong arguments at all.
func harmless(verb string) bool {
	return goodName(verb) && !slices.Contains([]string{"verbs", "client", "serve", "pipe"}, verb)
}

func checkWrongArgs(p *probe) {
	rows, asked := p.listing(), 0
	for _, row := range rows {
		verb := rowText(row, "verb")
		if rowText(row, "door") != p.name || !harmless(verb) {
			continue
		}
		for more, named := range []string{first(row), ""} {
			args := wrongArgs(row, 3*more)
			if args == "" {
				continue
			}
			asked++
			r, e, came := p.ask(verb, args)
			if why := r.text("error"); !r.refused("refused") || !names(why, verb) || !names(why, named) {
				p.fail(e, came, `ok false, the fault "refused", and an error that names %s`, strings.TrimSpace(verb+" "+named))
			}
		}
	}
	if asked == 0 && rows != nil {
		p.skip("no verb of this door declares arguments that could be wrong for sure")
	}
}

// first is the name of the first declared argument, if there is one.
func first(row value.Value) string {
	if all := params(row); len(all) > 0 {
		return all[0].name
	}
	return ""
}

func checkDispatch(p *probe) {
	rows, asked := p.listing(), 0
	done := map[string]bool{}
	for _, row := range rows {
		verb := rowText(row, "verb")
		args := wrongArgs(row, 0)
		if args == "" || !harmless(verb) || done[verb] {
			continue
		}
		done[verb] = true
		asked++
		r, e, came := p.ask(verb, args)
		unknown := names(r.text("error"), "no such call")
		if listed := p.lists(verb, p.name); listed && unknown {
			p.fail(e, came, "an answer about the arguments: verbs lists %s for this door", verb)
		} else if !listed && !unknown {
			p.fail(e, came, "no such call: verbs does not list %s for this door", verb)
		}
	}
	if asked == 0 && rows != nil {
		p.skip("no verb declares arguments that could be wrong for sure")
	}
}
