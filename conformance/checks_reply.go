package conformance

import (
	"bytes"
	"slices"

	"github.com/kith-wire/kith/conformance/internal/value"
)

// replyChecks look at what every reply must be, at the same samples.
var replyChecks = []check{
	{"verbs", "VERBS-1", "verbs is answered: the floor that everything else stands on", allDoors, false, checkFloor},
	{"reply", "SHAPE-3", "a reply is one map that a strict reader takes", allDoors, false, checkReadable},
	{"order", "SHAPE-3", "the members stand in order: ok, family, surface, n, result, error, fault", allDoors, false, checkOrder},
	{"members", "SHAPE-3", "ok, family, n and result are always there, and none is null", allDoors, false, checkMembers},
	{"compact", "SHAPE-3", "JSON has no spaces", allDoors, false, checkCompact},
	{"family", "VER-1", "family is 1 on every reply", allDoors, false, checkFamily},
	{"surface", "VER-2", "surface is on the reply to verbs and nowhere else", allDoors, false, checkSurface},
	{"count", "SHAPE-4", "n is the length of result", allDoors, false, checkCount},
	{"rows", "SHAPE-4", "result is the list of rows, and a listing is no row", allDoors, false, checkRows},
	{"refusal", "SHAPE-3", "a refusal has no rows and says why", allDoors, false, checkRefusal},
	{"fault", "FAULT-1", "the fault is refused, failed or malformed", allDoors, false, checkFault},
	{"mirror", "ENC-2", "a reply comes in the encoding of its call", allDoors, false, checkMirror},
	{"heads", "ENC-3", "CBOR has definite lengths and shortest heads", bothCodes, false, checkHeads},
	{"same-meaning", "ENC-1", "verbs says the same in both encodings", bothCodes, false, checkSameMeaning},
}

func checkFloor(p *probe) {
	for _, s := range p.samples() {
		if s.what == "verbs" && (!s.there || s.reply.err == nil && !s.reply.is(true)) {
			p.fail(s.asked, s.came, "a reply with ok true")
		}
	}
}

func checkReadable(p *probe) {
	for _, s := range p.samples() {
		switch {
		case !s.there: // others say so
		case s.reply.err != nil:
			p.fail(s.asked, s.reply, "one map that holds each key once, valid UTF-8, nothing behind it")
		case s.reply.doc.Value.Kind != value.Map:
			p.fail(s.asked, s.reply, "one map")
		}
	}
}

// replyOrder are the members of a reply, where there, in this order.
var replyOrder = []string{"ok", "family", "surface", "n", "result", "error", "fault"}

func checkOrder(p *probe) {
	for _, s := range p.readable() {
		last := -1
		for _, m := range s.reply.doc.Value.Map {
			at := slices.Index(replyOrder, m.Name)
			if at >= 0 && at < last {
				p.fail(s.asked, s.reply, "the members in the order ok, family, [surface], n, result, [error], [fault]")
				break
			}
			last = max(last, at)
		}
	}
}

// memberKinds are what each member of a reply must be.
var memberKinds = map[string]value.Kind{"ok": value.Bool, "family": value.Int, "surface": value.Int, "n": value.Int,
	"error": value.Text, "fault": value.Text}

func checkMembers(p *probe) {
	for _, s := range p.readable() {
		for _, name := range []string{"ok", "n", "result"} {
			if _, there := s.reply.get(name); !there {
				p.fail(s.asked, s.reply, "the member %s, which is always there", name)
			}
		}
		for _, m := range s.reply.doc.Value.Map {
			kind, ours := memberKinds[m.Name]
			if ours && m.Value.Kind != kind && m.Name != "family" {
				p.fail(s.asked, s.reply, "the member %s is %v where it is there, and it is never null", m.Name, kind)
			}
		}
	}
}

func checkCompact(p *probe) {
	for _, s := range p.readable() {
		if s.reply.enc == value.JSON && len(s.reply.doc.Loose) > 0 {
			p.fail(s.asked, s.reply, "no space outside texts, and this has %s", s.reply.doc.Loose[0])
		}
	}
}

func checkFamily(p *probe) {
	for _, s := range p.readable() {
		if family, there := s.reply.get("family"); !there || !family.Is(1) {
			p.fail(s.asked, s.reply, "the member family, and it is the number 1")
		}
	}
}

func checkSurface(p *probe) {
	for _, s := range p.readable() {
		surface, there := s.reply.get("surface")
		switch {
		case s.what == "verbs" && s.reply.is(true) && (!there || surface.Kind != value.Int || surface.Int.Sign() < 0):
			p.fail(s.asked, s.reply, "the member surface, a whole number")
		case s.what != "verbs" && there:
			p.fail(s.asked, s.reply, "no member surface: it is on the reply to verbs alone")
		}
	}
}

func checkCount(p *probe) {
	for _, s := range p.readable() {
		n, counted := s.reply.get("n")
		result, _ := s.reply.get("result")
		if counted && result.Kind == value.List && !n.Is(len(result.List)) {
			p.fail(s.asked, s.reply, "n is %d, the length of result", len(result.List))
		}
	}
}

func checkRows(p *probe) {
	for _, s := range p.readable() {
		result, there := s.reply.get("result")
		if there && result.Kind != value.List {
			p.fail(s.asked, s.reply, "result is a list, whatever it holds")
		}
		for _, row := range result.List {
			if s.what == "verbs" && row.Kind != value.Map {
				p.fail(s.asked, s.reply, "each verb is a row of its own, a map; a listing sent as one row is not")
				break
			}
		}
	}
}

func checkRefusal(p *probe) {
	for _, s := range p.readable() {
		result, _ := s.reply.get("result")
		why, _ := s.reply.get("error")
		fault, _ := s.reply.get("fault")
		switch {
		case s.reply.is(true) && (why.Kind != value.Null || fault.Kind != value.Null):
			p.fail(s.asked, s.reply, "no error and no fault where ok is true")
		case s.reply.is(false) && (len(result.List) > 0 || s.reply.text("error") == ""):
			p.fail(s.asked, s.reply, "no rows, and a text error that says why, where ok is false")
		}
	}
}

func checkFault(p *probe) {
	for _, s := range p.readable() {
		fault, there := s.reply.get("fault")
		if there && fault.Kind == value.Text && !slices.Contains([]string{"refused", "failed", "malformed"}, fault.Text) {
			p.fail(s.asked, s.reply, "one of the faults refused, failed and malformed")
		}
	}
}

func checkMirror(p *probe) {
	for _, s := range p.samples() {
		if s.there && s.reply.enc != s.enc {
			p.fail(s.asked, s.reply, "a reply in %v", s.enc)
		}
	}
}

func checkHeads(p *probe) {
	for _, s := range p.readable() {
		if s.reply.enc == value.CBOR && len(s.reply.doc.Loose) > 0 {
			p.fail(s.asked, s.reply, "definite lengths and shortest heads, and this has %s", s.reply.doc.Loose[0])
		}
	}
}

// checkSameMeaning compares the rows, written again in one encoding.
func checkSameMeaning(p *probe) {
	var first []byte
	for _, s := range p.readable() {
		if s.what != "verbs" || !s.reply.is(true) {
			continue
		}
		rows := value.Append(nil, value.JSON, value.OfList(s.reply.rows()...))
		if first == nil {
			first = rows
		}
		if !bytes.Equal(first, rows) {
			p.fail(s.asked, s.reply, "the rows that verbs has in the other encoding: %s", show(first))
		}
	}
}
