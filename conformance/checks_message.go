package conformance

import (
	"fmt"
	"slices"

	"github.com/kith-wire/kith/conformance/internal/value"
)

// messageChecks are about what is a message and what is none.
var messageChecks = []check{
	{"shapes", "SHAPE-1", "what is not one of call, ok and event is malformed", talkDoors, false, checkShapes},
	{"calls", "SHAPE-2", "call is non-empty text and args a list", talkDoors, false, checkCalls},
	{"more-members", "SHAPE-2", "members that nobody knows are ignored, at any depth", talkDoors, false, checkMoreMembers},
	{"case", "SHAPE-7", "the names of members match by case", talkDoors, false, checkCase},
	{"space", "ENC-1", "space around a message is skipped", talkDoors, false, checkSpace},
	{"first-byte", "ENC-1", "the error names what the bytes probably are", talkDoors, false, checkFirstByte},
}

// quick sends all bodies on one stream, and reports whether each has one reply, and a good one. Where that is not so each is
// sent on a stream of its own, to find out which of them is the one; a program that is right is spared that.
func (p *probe) quick(bodies []string, good func(reply) bool) bool {
	var all recipe
	for _, b := range bodies {
		all = join(all, p.framing()(text(b)))
	}
	t := p.talk(len(bodies), all)
	return len(t.replies) == len(bodies) && !slices.ContainsFunc(t.replies, func(b []byte) bool { return !good(readReply(b)) })
}

// malformed sends each body on a stream of its own, where its one reply must be malformed.
func (p *probe) malformed(bodies ...string) {
	if p.quick(bodies, func(r reply) bool { return r.refused("malformed") }) {
		return
	}
	for _, body := range bodies {
		p.wantRefused(p.talk(1, p.framing()(text(body))), 0, "malformed")
	}
}

// answered sends each body on a stream of its own, where its one reply must be ok.
func (p *probe) answered(bodies ...string) {
	if p.quick(bodies, func(r reply) bool { return r.is(true) }) {
		return
	}
	for _, body := range bodies {
		p.wantOK(p.talk(1, p.framing()(text(body))), 0)
	}
}

func checkShapes(p *probe) {
	p.malformed(`[{"call":"verbs"}]`, `"verbs"`, `null`, `5`, `{}`, `{"args":[]}`, `{"call":"verbs","event":"x"}`, `{"call":"verbs","ok":true}`)
	if p.name == Socket {
		p.malformed("\x81\x65verbs", "\xa0", "\xa2\x64call\x65verbs\x62ok\xf5")
	}
}

func checkCalls(p *probe) {
	p.malformed(`{"call":""}`, `{"call":null}`, `{"call":5}`, `{"call":["verbs"]}`, `{"call":"verbs","args":{}}`, `{"call":"verbs","args":null}`,
		`{"call":"verbs","args":"x"}`)
	p.answered(`{"call":"verbs","args":[]}`, `{"args":[],"call":"verbs"}`)
}

func checkMoreMembers(p *probe) {
	p.answered(`{"call":"verbs","from":"kith-check","token":"x"}`, `{"call":"verbs","more":{"deep":[1,{"er":null}],"call":5}}`,
		`{"from":{"ok":false},"call":"verbs"}`, `{"call":"verbs","family":2,"n":-1,"result":null,"error":"x"}`)
}

func checkCase(p *probe) {
	p.malformed(`{"CALL":"verbs"}`, `{"Call":"verbs"}`, `{"\u212aall":"verbs"}`)
	p.answered(`{"call":"verbs","OK":true,"Event":"x","ARGS":5}`)
}

func checkSpace(p *probe) {
	p.answered(" \t "+`{"call":"verbs"}`+" \t ", `{ "call" : "verbs" , "args" : [ ] }`)
	if p.name == Socket {
		p.answered("\n\r\n"+`{"call":"verbs"}`+"\r\n", " \n"+string(cborCall("verbs").bytes()))
	}
}

// foreign are bytes that are no message, and what an error may call them.
var foreign = []struct {
	body  string
	names []string
}{
	{"\xef\xbb\xbf" + `{"call":"verbs"}`, []string{"bom", "byte order mark", "byte-order mark"}},
	{"\xff\xfe{\x00\"\x00c\x00", []string{"utf-16", "utf16"}},
	{"\x1f\x8b\x08\x00\x00\x00\x00\x00", []string{"gzip"}},
	{"\xd9\xd9\xf7\xa1\x64call\x65verbs", []string{"cbor tag", "a tag", "tag 55799"}},
	{"Content-Length: 16", []string{"content-length", "header"}},
}

func checkFirstByte(p *probe) {
	for _, f := range foreign {
		t := p.talk(1, p.framing()(text(f.body)))
		r, there := p.reply(t, 0)
		if there && (!r.refused("malformed") || r.enc != value.JSON || !names(r.text("error"), f.names...)) {
			p.fail(t, r, `a reply in JSON with the fault "malformed" whose error names %s`, f.names[0])
		}
	}
}

// valueChecks are about the values that both encodings hold.
var valueChecks = []check{
	{"duplicates", "ENC-4", "a map with a key twice is malformed, at any depth", talkDoors, false, checkDuplicates},
	{"text", "ENC-4", "text that is not UTF-8 and lone surrogates are malformed", talkDoors, false, checkText},
	{"numbers", "ENC-4", "numbers that no binary64 holds are malformed", talkDoors, false, checkNumbers},
	{"trailing", "ENC-4", "data behind the message is malformed", talkDoors, false, checkTrailing},
	{"syntax", "ENC-4", "what only looks like JSON is malformed", talkDoors, false, checkSyntax},
	{"cbor-taken", "ENC-3", "indefinite lengths, long heads and big integers are taken", socketDoor, false, checkCBORTaken},
	{"cbor-refused", "ENC-4", "CBOR that JSON cannot hold is malformed", socketDoor, false, checkCBORRefused},
}

func checkDuplicates(p *probe) {
	p.malformed(`{"call":"verbs","call":"verbs"}`, `{"call":"verbs","\u0063all":"verbs"}`, `{"call":"verbs","x":[{"a":1,"b":2,"a":1}]}`)
	p.answered(`{"call":"verbs","x":[{"a":1},{"a":1},{"A":1,"a":2}]}`)
	if p.name == Socket {
		p.malformed("\xa2\x64call\x65verbs\x64call\x65verbs", "\xa2\x64call\x65verbs\x61x\xa2\x61a\x01\x61a\x01")
	}
}

func checkText(p *probe) {
	p.malformed(`{"call":"verbs","x":"`+"\xff"+`"}`, `{"call":"verbs","`+"\xc3"+`":1}`, `{"call":"verbs","x":["\ud800"]}`,
		`{"call":"verbs","x":"\udc00\ud800"}`, `{"call":"verbs","x":"`+"\xed\xa0\x80"+`"}`, `{"call":"verbs","x":"`+"\x01"+`"}`)
	p.answered(`{"call":"verbs","x":"\ud83d\ude00 ` + "\U0001f600\ufeff\u2028" + ` \u0000"}`)
	if p.name == Socket {
		p.malformed("\xa2\x64call\x65verbs\x61x\x61\xff", "\xa2\x64call\x65verbs\x61x\x7f\x61\xc3\x61\xa9\xff")
	}
}

func checkNumbers(p *probe) {
	p.malformed(`{"call":"verbs","x":1e400}`, `{"call":"verbs","x":[-1e400]}`, `{"call":"verbs","x":1e-400}`, `{"call":"verbs","x":NaN}`)
	p.answered(`{"call":"verbs","x":[9007199254740993,18446744073709551616,-0,-0.0,1.0,1e3,0e999,5e-324]}`)
	if p.name == Socket {
		p.malformed("\xa2\x64call\x65verbs\x61x\xf9\x7e\x00", "\xa2\x64call\x65verbs\x61x\xfb\x7f\xf0\x00\x00\x00\x00\x00\x00")
	}
}

func checkTrailing(p *probe) {
	p.malformed(`{"call":"verbs"} x`, `{"call":"verbs"}{"call":"verbs"}`, `{"call":"verbs"}]`, `{"call":"verbs"}`+"\x00")
	if p.name == Socket {
		p.malformed("\xa1\x64call\x65verbs\x00")
	}
}

func checkSyntax(p *probe) {
	p.malformed(`{"call":"verbs",}`, `{'call':'verbs'}`, `{call:"verbs"}`, `{"call":"verbs","x":[1,]}`, `{"call":"verbs"/**/}`,
		`{"call":"verbs","x":01}`, `{"call":"verbs","x":+1}`, `{"call":"verbs","x":.5}`, `{"call":"verbs","x":True}`, `{"call":"verbs","x":"\q"}`)
}

func checkCBORTaken(p *probe) {
	for what, body := range map[string]string{
		"an indefinite map":          "\xbf\x64call\x65verbs\xff",
		"an indefinite text":         "\xa1\x64call\x7f\x62ve\x63rbs\xff",
		"long heads":                 "\xb9\x00\x01\x78\x04call\x7a\x00\x00\x00\x05verbs",
		"an indefinite list":         "\xa2\x64call\x65verbs\x64args\x9f\xff",
		"a bignum, a float of 2^-24": "\xa2\x64call\x65verbs\x61x\x82\xc2\x49\x01\x00\x00\x00\x00\x00\x00\x00\x00\xf9\x00\x01",
	} {
		t := p.talk(1, framed(text(body)))
		if r, there := p.reply(t, 0); there && !r.is(true) {
			p.fail(t, r, "ok true: %s is taken", what)
		}
	}
}

func checkCBORRefused(p *probe) {
	for what, value := range map[string]string{
		"a byte string": "\x41x", "undefined": "\xf7", "another simple value": "\xe0", "a tag that is none of 2 and 3": "\xc1\x00",
		"a key that is no text": "\xa1\x01\x02", "a list of 2^31-1 that is not there": "\x9a\x7f\xff\xff\xff",
		"a text of 2^64-1 that is not there": "\x7b\xff\xff\xff\xff\xff\xff\xff\xff", "a break where a value should be": "\xff",
		"a head that is none": "\x1c",
	} {
		t := p.talk(1, framed(text("\xa2\x64call\x65verbs\x61x"+value)))
		if r, there := p.reply(t, 0); there && !r.refused("malformed") {
			p.fail(t, r, `the fault "malformed": %s is no value here`, what)
		}
	}
}

// limitChecks are about the limits of ENC-5 and of frames.
var limitChecks = []check{
	{"depth", "ENC-5", "64 open maps and lists are taken and 65 refused", talkDoors, false, checkDepth},
	{"items", "ENC-5", "262,144 members and elements are taken and one more refused", talkDoors, false, checkItems},
	{"integers", "ENC-5", "an integer of 1024 bits is taken and one of 1025 refused", talkDoors, false, checkIntegers},
	{"cap", "LIMIT-1", "a message as long as the cap is answered", talkDoors, false, checkCap},
	{"over-cap", "LIMIT-4", "a message over the cap is malformed, with size and cap", talkDoors, false, checkOverCap},
}

// limit sends what just is within a limit and what just is not.
func (p *probe) limit(within, over recipe) {
	p.wantOK(p.talk(1, p.framing()(within)), 0)
	p.wantRefused(p.talk(1, p.framing()(over)), 0, "malformed")
}

func checkDepth(p *probe) {
	deep := func(n int) recipe {
		return text(`{"call":"verbs","x":`).thenTimes("[", n-1).thenTimes("]", n-1).then("}")
	}
	p.limit(deep(64), deep(65))
	p.wantRefused(p.talk(1, p.framing()(deep(200000))), 0, "malformed")
	if p.name == Socket {
		p.wantRefused(p.talk(1, framed(text("\xa2\x64call\x65verbs\x61x").thenTimes("\x81", 200000).then("\x00"))), 0, "malformed")
	}
}

func checkItems(p *probe) {
	of := func(items int) recipe { // the two members of the message count
		return text(`{"call":"verbs","x":[`).thenTimes("0,", items-3).then("0]}")
	}
	p.limit(of(value.Default.Items), of(value.Default.Items+1))
}

func checkIntegers(p *probe) {
	// 2^1024-1, in the way that both encodings have for it, is too long to read; 10^308 has 1024 bits and 10^309 has 1027.
	of := func(zeros int) recipe { return text(`{"call":"verbs","x":1`).thenTimes("0", zeros).then("}") }
	p.limit(of(308), of(309))
}

// caps are the most that a message may have (LIMIT-1).
var caps = map[string]int{Pipe: 16 << 20, Socket: 1 << 20}

// padded is a call of that many bytes.
func padded(size int) recipe {
	const frame = `{"call":"verbs","pad":""}`
	return text(frame[:len(frame)-2]).thenTimes("x", size-len(frame)).then(frame[len(frame)-2:])
}

func checkCap(p *probe) { p.wantOK(p.talk(1, p.framing()(padded(caps[p.name]))), 0) }

// numbered are the ways to write a number of bytes.
func numbered(n int) []string {
	ways := []string{fmt.Sprint(n), fmt.Sprintf("%d,%03d,%03d", n/1000000, n/1000%1000, n%1000)}
	if n%(1<<20) == 0 {
		ways = append(ways, fmt.Sprintf("%d MiB", n>>20), fmt.Sprintf("%dMiB", n>>20))
	}
	return ways
}

// checkOverCap sends a pipe the whole line, behind which the next is served, and a socket the length alone, behind which
// nothing is.
func checkOverCap(p *probe) {
	limit := caps[p.name]
	pieces := []recipe{lined(padded(limit + 1)), lined(verbsCall)}
	if p.name == Socket {
		pieces = []recipe{text(header(limit + 1)), framed(verbsCall)}
	}
	t := p.talk(1, pieces...)
	r, there := p.reply(t, 0)
	why := r.text("error")
	if there && (!r.refused("malformed") || r.enc != value.JSON || !names(why, numbered(limit+1)...) || !names(why, numbered(limit)...)) {
		p.fail(t, r, `a reply in JSON with the fault "malformed" that names the size, %d, and the cap, %d`, limit+1, limit)
	}
	if p.name == Pipe {
		p.wantOK(t, 1)
		return
	}
	if len(t.replies) > 1 || !t.closed {
		p.fail(t, t, "the connection closes behind the refusal: what follows cannot be told apart")
	}
	http := p.talk(1, text("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"))
	p.wantRefused(http, 0, "malformed")
}
