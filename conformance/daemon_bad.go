package conformance

import "math"

// daemonBadChecks are about what is no request: one error with id 0, and the end of the connection.
var daemonBadChecks = []check{
	ofDaemon("bad-json", "RPC-4", "a frame that is no JSON is malformed, with id 0, and closes", checkBadJSON),
	ofDaemon("bad-utf8", "RPC-4", "a method that is not UTF-8 is malformed, with id 0, and closes", checkBadUTF8),
	ofDaemon("not-a-map", "RPC-4", "a request that is no map is malformed, with id 0, and closes", checkNotAMap),
	ofDaemon("bad-id", "RPC-4", "an id that is no integer from 0 to 2^64-1 is malformed, with id 0, and closes", checkBadID),
	ofDaemon("bad-method", "RPC-4", "a method that is no text is malformed, with id 0, and closes", checkBadMethod),
	ofDaemon("zero-frame", "RPC-4", "a frame of length 0 is malformed, with id 0, and closes", checkDaemonZero),
	ofDaemon("over-cap", "RPC-4", "a frame over 16 MiB is malformed by its header alone, with id 0, and closes", checkDaemonOverCap),
}

// malformed reports whether it is the one that is for no request.
func (a answer) malformed() bool { return a.id() == "0" && a.coded("malformed_frame") }

// wantMalformed sends each on a connection of its own, and keeps the input open: whoever closes is the daemon.
func (p *probe) wantMalformed(frames ...recipe) {
	for _, frame := range frames {
		if x := p.provoke(frame); len(x.answers) != 1 || !x.answers[0].malformed() || len(x.rest) > 0 || !x.closed {
			p.fail(x, x, `one error with the id 0 and the code "malformed_frame", and then the end of the connection`)
			if x.open() {
				return // each of the others would take as long
			}
		}
	}
}

// provoke writes a frame, reads one answer and, where that is the right one, until the daemon closes. One that did not close before
// is waited for a quarter of the time.
func (p *probe) provoke(frame recipe) *exchange {
	x := p.enter()
	defer x.close()
	x.held = true
	x.write(frame)
	x.read(1, p.wait)
	switch right := len(x.answers) > 0 && x.answers[0].malformed(); {
	case right && p.slow:
		x.read(math.MaxInt, p.wait/4)
	case right:
		x.read(math.MaxInt, p.wait)
		p.slow = x.open()
	default:
		x.read(math.MaxInt, shortly)
	}
	return x
}

// badBodies are frames of those bodies.
func badBodies(bodies ...string) (frames []recipe) {
	for _, b := range bodies {
		frames = append(frames, packed(b))
	}
	return frames
}

func checkBadJSON(p *probe) {
	p.wantMalformed(badBodies(`{`, ` `, `{"id":1,"method":"`+nobody+`",}`, `{'id':1,'method':'`+nobody+`'}`, request("1")+` x`,
		request("1")+request("2"), request("1")+"\x00", "\x00")...)
}

func checkBadUTF8(p *probe) {
	const open, end = `{"id":1,"method":"` + nobody, `","params":{}}`
	p.wantMalformed(badBodies(open+"\xff"+end, open+"\xc3"+end, open+"\xed\xa0\x80"+end)...)
}

func checkNotAMap(p *probe) {
	p.wantMalformed(badBodies(`[]`, `null`, `5`, `"`+nobody+`"`, `true`, `[`+request("1")+`]`)...)
}

func checkBadID(p *probe) {
	frames := badBodies(`{"method":"` + nobody + `","params":{}}`)
	for _, id := range []string{`null`, `-1`, `1.5`, `"1"`, `18446744073709551616`, `[1]`, `{}`, `true`} {
		frames = append(frames, packed(request(id)))
	}
	p.wantMalformed(frames...)
}

func checkBadMethod(p *probe) {
	p.wantMalformed(badBodies(`{"id":1,"params":{}}`, `{"id":1,"method":null,"params":{}}`, `{"id":1,"method":5,"params":{}}`,
		`{"id":1,"method":["`+nobody+`"],"params":{}}`)...)
}

func checkDaemonZero(p *probe) { p.wantMalformed(text(littleHeader(0))) }

// checkDaemonOverCap sends no byte of the body.
func checkDaemonOverCap(p *probe) {
	p.wantMalformed(text(littleHeader(daemonCap+1)), text(littleHeader(math.MaxUint32)))
}
