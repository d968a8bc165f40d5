package main

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kith-wire/kith/conformance/internal/value"
)

// reply is what is answered to a call: rows, or an error with its fault.
type reply struct {
	rows    []value.Value
	surface bool // it is the reply to verbs (VER-2)
	fault   string
	err     string
}

func refused(format string, a ...any) reply {
	return reply{fault: "refused", err: fmt.Sprintf(format, a...)}
}

func malformed(format string, a ...any) reply {
	return reply{fault: "malformed", err: fmt.Sprintf(format, a...)}
}

// encode writes a reply, its members in order (SHAPE-3).
func (r reply) encode(enc value.Encoding) []byte {
	members := []value.Member{value.M("ok", value.OfBool(r.fault == "")), value.M("family", value.OfInt(1))}
	if r.surface {
		members = append(members, value.M("surface", value.OfInt(1)))
	}
	members = append(members, value.M("n", value.OfInt(len(r.rows))), value.M("result", value.OfList(r.rows...)))
	if r.fault != "" {
		members = append(members, value.M("error", value.OfText(r.err)), value.M("fault", value.OfText(r.fault)))
	}
	return spoil(r, members, enc)
}

// message is what came through a door, as far as it could be read.
type message struct {
	enc  value.Encoding
	body value.Value
	call string // a call to answer
	bad  *reply // no call: what to answer
	// Neither: an event, or a reply that nobody waits for.
	reply bool
}

// read takes one message apart (SHAPE-1 to SHAPE-6).
func read(b []byte) message {
	enc, start := value.Detect(b)
	m := message{enc: enc}
	if what := foreign(b[start:]); what != "" {
		return m.isBad("neither JSON nor CBOR: it looks like %s", what)
	}
	doc, err := value.Read(b[start:], enc, limits())
	if err != nil && forgiven(err, doc) {
		doc, err = value.Read([]byte(`{"call":"verbs"}`), value.JSON, limits())
	}
	if m.body = doc.Value; err != nil || spurned(b, doc) {
		if doc.First == "event" && !wrong("bad-event-answered") {
			return m
		}
		return m.isBad("the message cannot be read: %v", err)
	}
	if m.body.Kind == value.List && wrong("lists-taken") {
		m.call = "verbs"
		return m
	}
	if m.body.Kind != value.Map {
		return m.isBad("a call is an object, and this is %v", m.body.Kind)
	}
	call, isCall := get(m.body, "call")
	_, isReply := m.body.Get("ok")
	_, isEvent := m.body.Get("event")
	switch {
	case isEvent && doc.First == "event" || isEvent && !isCall && !isReply:
		if wrong("event-answered") && !isCall {
			return m.isBad("an event is no call")
		}
		return m
	case isReply && !isCall && !isEvent:
		m.reply = true
		return m
	case !isCall || (isReply || isEvent) && !wrong("two-shapes-taken"):
		return m.isBad("a message holds one of call, ok and event")
	case wrong("empty-call-taken") && call.Kind == value.Text && call.Text == "":
		none := noSuchCall("")
		m.bad = &none
		return m
	case call.Kind != value.Text || call.Text == "":
		return m.isBad("call is %v and must be text that is not empty", call.Kind)
	}
	if args, there := m.body.Get("args"); there && args.Kind != value.List && !(wrong("null-args-taken") && args.Kind == value.Null) {
		return m.isBad("args is %v and must be a list", args.Kind)
	}
	m.call = call.Text
	return m
}

func (m message) isBad(format string, a ...any) message {
	r := malformed(format, a...)
	if wrong("malformed-is-refused") {
		r.fault = "refused"
	}
	m.bad = &r
	return m
}

func (m message) args() []value.Value {
	args, _ := m.body.Get("args")
	return args.List
}

// foreign names what bytes that are no message probably are (ENC-1).
func foreign(b []byte) string {
	for _, f := range []struct{ begins, is string }{
		{"\xef\xbb\xbf", "a BOM before it"}, {"\xff\xfe", "UTF-16"}, {"\xfe\xff", "UTF-16"}, {"\x1f\x8b", "gzip"},
		{"\xd9\xd9\xf7", "a CBOR tag before it"}, {"Content-Length:", "a Content-Length header"},
	} {
		if !bytes.HasPrefix(b, []byte(f.begins)) {
			continue
		}
		if wrong("foreign-unnamed") {
			return "nothing"
		}
		return f.is
	}
	return ""
}

// row is one row of verbs. Its arguments are name:type words, `?` behind an optional one.
type row struct {
	verb, about, door string
	args              []string
}

func (r row) value() value.Value {
	members := []value.Member{value.M("verb", value.OfText(r.verb)), value.M("about", value.OfText(r.about)),
		value.M("door", value.OfText(r.door))}
	var args []value.Value
	for _, a := range r.args {
		name, typ, _ := strings.Cut(a, ":")
		typ, optional := strings.CutSuffix(typ, "?")
		arg := []value.Member{value.M("name", value.OfText(name)), value.M("type", value.OfText(typ))}
		if optional {
			arg = append(arg, value.M("optional", value.OfBool(true)))
		}
		args = append(args, value.OfMap(arg...))
	}
	if args != nil {
		members = append(members, value.M("args", value.OfList(args...)))
	}
	return value.OfMap(members...)
}

// listing is what verbs tells: a row for each verb and door, those of the cli first (VERBS-1).
func listing() (rows []row) {
	for _, door := range []string{"cli", "pipe", "socket"} {
		rows = append(rows, row{"greet", "a greeting, so many times", door, []string{"name:text", "times:int?"}})
		if door != "cli" {
			rows = append(rows, row{"count", "the numbers up to one", door, []string{"to:int"}})
		}
		rows = append(rows, row{"verbs", "what this program answers", door, nil}, row{"client", "a client library", door, nil})
		if door == "cli" {
			rows = append(rows, row{"serve", "answer on a socket", door, nil}, row{"pipe", "answer on stdin and stdout", door, nil})
		}
	}
	return spoilListing(rows)
}

// answer carries a call out.
func answer(door, verb string, args []value.Value) reply {
	var takes []string
	found := false
	for _, r := range listing() {
		if r.verb == verb && (r.door == door || wrong("unlisted-answered") && verb == "count") {
			takes, found = r.args, true
		}
	}
	if !found && !(wrong("client-unlisted") && verb == "client") || denied(door, verb) {
		return noSuchCall(verb)
	}
	if why := misfit(verb, takes, args); why != "" {
		return refused("%s", why)
	}
	switch verb {
	case "verbs":
		r := reply{surface: true}
		for _, row := range listing() {
			r.rows = append(r.rows, row.value())
		}
		return r
	case "client":
		return client()
	case "greet":
		return greet(args)
	case "count":
		return count(args)
	}
	return refused("%s: its answer is a stream and not a reply", verb)
}

func noSuchCall(verb string) reply {
	if wrong("unknown-verb-unnamed") {
		return refused("unknown verb: %s", quote(verb))
	}
	return refused("no such call: %s", quote(verb))
}

// misfit says what is wrong with arguments: their number, or a type (FAULT-3).
func misfit(verb string, takes []string, args []value.Value) string {
	if wrong("args-ignored") && len(takes) > 0 {
		return ""
	}
	if wrong("args-unnamed") && len(takes) > 0 {
		return "the arguments are wrong"
	}
	for i, a := range takes {
		name, typ, _ := strings.Cut(a, ":")
		typ, optional := strings.CutSuffix(typ, "?")
		switch {
		case i >= len(args) && !optional:
			return fmt.Sprintf("%s: %s is missing and must be %s", verb, name, typ)
		case i < len(args) && (typ == "text") != (args[i].Kind == value.Text) || i < len(args) && (typ == "int") != (args[i].Kind == value.Int):
			return fmt.Sprintf("%s: %s is %v and must be %s", verb, name, args[i].Kind, typ)
		}
	}
	if len(args) > len(takes) {
		return fmt.Sprintf("%s: %d arguments came, and it takes at most %d", verb, len(args), len(takes))
	}
	return ""
}

// client is right in what it says: this program has no library to give.
func client() reply {
	switch fault {
	case "fault-unavailable":
		return reply{fault: "unavailable", err: "this program has no client library"}
	case "client-bare-differs", "duplicate-member", "bare-result":
		return reply{rows: []value.Value{value.OfText("# a client\n")}}
	}
	return refused("client: this program has no client library: it is an example")
}

func greet(args []value.Value) reply {
	times := 1
	if len(args) > 1 && args[1].Kind == value.Int && args[1].Int.IsInt64() {
		times = int(args[1].Int.Int64())
	}
	if times < 0 || times > 100 {
		return refused("greet: times is %d and must be from 0 to 100", times)
	}
	var r reply
	for range times {
		r.rows = append(r.rows, value.OfText("hello, "+args[0].Text))
	}
	return r
}

func count(args []value.Value) reply {
	var r reply
	if len(args) == 0 || args[0].Kind != value.Int || !args[0].Int.IsInt64() || args[0].Int.Int64() > 1000 {
		return refused("count: to is more than 1000")
	}
	for i := range args[0].Int.Int64() {
		r.rows = append(r.rows, value.OfInt(int(i)+1))
	}
	return r
}

// quote makes what came fit for an error: at most 64 bytes, whole characters, controls escaped (ENC-5).
func quote(s string) string {
	if wrong("quotes-all") {
		return strings.Map(func(r rune) rune { return max(r, ' ') }, s)
	}
	if len(s) > 64 {
		s = s[:64]
		for !utf8.ValidString(s) {
			s = s[:len(s)-1]
		}
	}
	var b strings.Builder
	for _, r := range s {
		if unicode.IsControl(r) && !wrong("quotes-controls") {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
