package conformance

import (
	"fmt"
	"strings"

	"github.com/kith-wire/kith/conformance/internal/value"
)

// daemonAnswerChecks are about requests and the answers to them.
var daemonAnswerChecks = []check{
	ofDaemon("answered", "RPC-2", "a request is answered while its connection stays open", checkDaemonAnswered),
	ofDaemon("little-endian", "RPC-1", "the length of a frame is little-endian", checkLittleEndian),
	ofDaemon("json", "RPC-1", "an answer is one map in JSON, and UTF-8", checkAnswerJSON),
	ofDaemon("one-of-two", "RPC-2", "an answer has error or result, and never both", checkOneOfTwo),
	ofDaemon("code", "RPC-4", "the code of a method that nobody has is unknown_method", checkCode),
	ofDaemon("message", "RPC-2", "an error has a message that is text", checkMessage),
	ofDaemon("id", "RPC-2", "an answer has the id of its request, digit for digit, up to 2^64-1", checkID),
	ofDaemon("no-namespace", "RPC-5", "a method without a namespace is unknown", checkNoNamespace),
	ofDaemon("members", "RPC-2", "members may stand in any order, and unknown ones are ignored", checkRequestMembers),
	ofDaemon("space", "RPC-1", "space in and around the JSON is skipped", checkDaemonSpace),
	ofDaemon("params", "RPC-2", "params may be missing, null or deep", checkParams),
	ofDaemon("large", "RPC-1", "params of 1 MiB are taken", checkLarge),
	ofDaemon("cap", "RPC-1", "a frame of 16 MiB is taken", checkDaemonCap),
	ofDaemon("together", "RPC-1", "requests of one write are requests of their own", checkDaemonTogether),
	ofDaemon("byte-by-byte", "RPC-1", "a request that comes in pieces of one byte is the request", checkDaemonBytes),
	ofDaemon("error-stays", "RPC-4", "an error with the id of its request closes nothing", checkErrorStays),
	ofDaemon("many", "RPC-3", "500 requests on one connection are each answered once", checkMany),
}

// checkDaemonAnswered waits for the answer with the input open and nothing more to come.
func checkDaemonAnswered(p *probe) {
	if x := p.converse(1, packed(request("1"))); x.early == 0 {
		x.held = true
		p.fail(x, x, "an answer at once, not when more is sent or the input ends")
	}
}

func checkLittleEndian(p *probe) {
	if x := p.converse(1, packed(request("1"))); len(x.answers) == 0 || x.big {
		p.fail(x, x, "a frame whose first four bytes are its length, the lowest first")
	}
}

// eachAnswer looks at an answer to a request and at one to none.
func (p *probe) eachAnswer(good func(answer) bool, allowed string) {
	for _, body := range []string{request("1"), `{`} {
		x := p.converse(1, packed(body))
		for _, a := range x.answers {
			if !good(a) {
				p.fail(x, x, "%s", allowed)
				break
			}
		}
	}
}

func checkAnswerJSON(p *probe) {
	p.eachAnswer(func(a answer) bool { return a.err == nil && a.doc.Kind == value.Map }, "one map in JSON, in UTF-8")
}

func checkOneOfTwo(p *probe) {
	p.eachAnswer(func(a answer) bool {
		_, result := a.doc.Get("result")
		e, failed := a.doc.Get("error")
		return failed && e.Kind == value.Map && !result
	}, `a map of id and error, and no result beside it, not even null`)
}

func checkCode(p *probe) {
	x := p.converse(1, packed(request("1")))
	if a, _ := x.to("1"); a.failure("code").Text != "unknown_method" {
		p.fail(x, x, `an error with the code "unknown_method"`)
	}
}

func checkMessage(p *probe) {
	p.eachAnswer(func(a answer) bool { return a.failure("message").Kind == value.Text }, "an error whose message is text")
}

func checkID(p *probe) {
	for _, id := range []string{"0", "1", "9007199254740993", "18446744073709551615"} {
		p.wantUnknown(p.converse(1, packed(request(id))), id)
	}
}

func checkNoNamespace(p *probe) {
	p.wantUnknown(p.converse(1, packed(`{"id":1,"method":"kith-check","params":{}}`)), "1")
}

// unknown sends each body on a connection of its own. The id in each is 1.
func (p *probe) unknown(bodies ...string) {
	for _, body := range bodies {
		p.wantUnknown(p.converse(1, packed(body)), "1")
	}
}

func checkRequestMembers(p *probe) {
	p.unknown(`{"params":{},"method":"`+nobody+`","id":1}`, `{"method":"`+nobody+`","id":1,"params":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"`+nobody+`","params":{},"trace":{"id":[2,{"method":null}]}}`)
}

func checkDaemonSpace(p *probe) {
	p.unknown(" \t\r\n"+request("1")+"\n", "{ \"id\" : 1 ,\r\n\t\"method\" : \""+nobody+"\" , \"params\" : { } }")
}

// deep is how many lists may at least be open inside params.
const deep = 60

func checkParams(p *probe) {
	const open = `{"id":1,"method":"` + nobody + `"`
	p.unknown(open+`}`, open+`,"params":null}`,
		open+`,"params":{"x":`+strings.Repeat("[", deep)+strings.Repeat("]", deep)+`}}`)
}

// filled is a frame whose body is a request, with the id 1, of that many bytes.
func filled(size int) recipe {
	const head, tail = `{"id":1,"method":"` + nobody + `","params":{"pad":"`, `"}}`
	return text(littleHeader(size)+head).thenTimes("x", size-len(head)-len(tail)).then(tail)
}

func checkLarge(p *probe) { p.wantUnknown(p.converse(1, filled(1<<20)), "1") }

func checkDaemonCap(p *probe) { p.wantUnknown(p.converse(1, filled(daemonCap)), "1") }

func checkDaemonTogether(p *probe) {
	x := p.converse(2, packed(request("1"), request("2")))
	p.wantUnknown(x, "1")
	p.wantUnknown(x, "2")
}

func checkDaemonBytes(p *probe) {
	var pieces []recipe
	for _, b := range packed(request("1")).bytes() {
		pieces = append(pieces, text(string([]byte{b})))
	}
	p.paced = true
	x := p.converse(1, pieces...)
	p.paced = false
	p.wantUnknown(x, "1")
}

// checkErrorStays sends the second request when the first has been answered.
func checkErrorStays(p *probe) {
	x := p.enter()
	defer x.close()
	x.write(packed(request("1")))
	x.await(1)
	x.write(packed(request("2")))
	x.await(2)
	x.end()
	x.read(2, p.wait)
	if len(x.answers) < 2 {
		p.fail(x, x, "an answer to each of two requests, of which the second is sent behind the answer to the first")
	}
}

// requests is how many are sent at once: no more bytes than a daemon has to take before its answers are read.
const requests = 500

func checkMany(p *probe) {
	var bodies []string
	for i := range requests {
		bodies = append(bodies, request(fmt.Sprint(i+1)))
	}
	x := p.converse(requests, packed(bodies...))
	times := map[string]int{}
	for _, a := range x.answers {
		times[a.id()]++
	}
	for i := range requests {
		id := fmt.Sprint(i + 1)
		if times[id] != 1 {
			p.fail(x, fmt.Sprintf("%d answers with the id %s, and %d in all", times[id], id, len(x.answers)),
				"one answer with each id, in any order")
			return
		}
	}
	if len(x.answers) != requests {
		p.fail(x, fmt.Sprintf("%d answers", len(x.answers)), "%d answers to %d requests", requests, requests)
	}
}
