package conformance

import (
	"bytes"

	"github.com/kith-wire/kith/conformance/internal/value"
)

// verbsCall is the one call that every program answers; strange is one that none does.
var (
	verbsCall   = text(`{"call":"verbs"}`)
	strangeCall = text(`{"call":"` + strange + `"}`)
	clientCall  = text(`{"call":"client"}`)
	badBody     = text(`{"call":`)
)

const strange = "kith-check-no-such-verb"

// cborCall is a call of a verb in CBOR.
func cborCall(verb string) recipe {
	return text(string(value.Append(nil, value.CBOR, value.OfMap(value.M("call", value.OfText(verb))))))
}

// sample is one reply of each kind and encoding, for the checks that look at what all replies must be.
type sample struct {
	what  string // verbs, client, strange or bad
	enc   value.Encoding
	asked evidence
	came  any // where there is no reply
	there bool
	reply reply
}

// samples asks for them once.
func (d *door) samples() []sample {
	if d.cache.samples != nil {
		return d.cache.samples
	}
	if d.name == CLI {
		for _, enc := range []value.Encoding{value.JSON, value.CBOR} {
			for _, verb := range []string{"verbs", "client", strange} {
				o := d.run(verb, flagOf[enc])
				s := sample{what: verb, enc: enc, asked: o, came: o, there: len(o.stdout) > 0, reply: printed(o.stdout)}
				d.cache.samples = append(d.cache.samples, s)
			}
		}
		return d.cache.samples
	}
	frame := d.framing()
	ask := func(what string, enc value.Encoding, body recipe) {
		t := d.talk(1, frame(body))
		s := sample{what: what, enc: enc, asked: t, came: t, there: len(t.replies) > 0}
		if s.there {
			s.reply = readReply(bytes.TrimSuffix(t.replies[0], []byte("\r"))) // which is another check's
		}
		d.cache.samples = append(d.cache.samples, s)
	}
	ask("verbs", value.JSON, verbsCall)
	ask("client", value.JSON, clientCall)
	ask(strange, value.JSON, strangeCall)
	ask("bad", value.JSON, badBody)
	if d.name == Socket {
		ask("verbs", value.CBOR, cborCall("verbs"))
		ask("client", value.CBOR, cborCall("client"))
		ask(strange, value.CBOR, cborCall(strange))
		ask("bad", value.CBOR, text("\xa1\x64call"))
	}
	return d.cache.samples
}

// flagOf asks for an encoding on the cli.
var flagOf = map[value.Encoding]string{value.JSON: "--json", value.CBOR: "--cbor"}

// framing makes a message of a body, as the door has it.
func (d *door) framing() func(recipe) recipe {
	if d.name == Socket {
		return framed
	}
	return lined
}

// frames makes a message of each body.
func (d *door) frames(bodies ...recipe) []recipe {
	frame := d.framing()
	messages := make([]recipe, len(bodies))
	for i, b := range bodies {
		messages[i] = frame(b)
	}
	return messages
}

// readable are the samples that could be read. Where there is none the check could not be made.
func (p *probe) readable() (good []sample) {
	for _, s := range p.samples() {
		if s.there && s.reply.err == nil && s.reply.doc.Value.Kind == value.Map {
			good = append(good, s)
		}
	}
	if good == nil {
		p.broke("no reply could be read")
	}
	return good
}

// listing are the rows of verbs at this door. Where they cannot be had the check could not be made.
func (p *probe) listing() []value.Value {
	if !p.cache.listed {
		p.cache.listed = true
		for _, s := range p.samples() {
			if s.what == "verbs" && s.reply.is(true) && len(p.cache.listing) == 0 {
				p.cache.listing = s.reply.rows()
			}
		}
	}
	if len(p.cache.listing) == 0 {
		p.broke("verbs has no rows that could be read")
	}
	return p.cache.listing
}

// asking is the evidence for what the listing says.
func (p *probe) asking() evidence { return p.samples()[0].asked }

func rowText(row value.Value, name string) string {
	v, _ := row.Get(name)
	return v.Text
}

func rowBool(row value.Value, name string) bool {
	v, _ := row.Get(name)
	return v.Bool
}

// param is one declared argument of a verb.
type param struct {
	name, typ      string
	optional, rest bool
}

// params are the declared arguments of a row.
func params(row value.Value) (all []param) {
	args, _ := row.Get("args")
	for _, a := range args.List {
		all = append(all, param{rowText(a, "name"), rowText(a, "type"), rowBool(a, "optional"), rowBool(a, "rest")})
	}
	return all
}
