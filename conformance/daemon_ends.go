package conformance

import (
	"fmt"
	"math"
	"time"
)

// daemonEndChecks are about connections: how they end, and what they are to each other.
var daemonEndChecks = []check{
	ofDaemon("hang-up", "RPC-4", "the end of the input between frames is met in silence, and closes", checkHangUp),
	ofDaemon("cut-frame", "RPC-4", "a frame that is cut is no request, and the connection closes", checkDaemonCut),
	ofDaemon("half-close", "RPC-10", "what came before the end of the input is answered, then the connection closes", checkHalfClose),
	ofDaemon("gone", "RPC-4", "callers that leave with answers unread harm nobody", checkDaemonGone),
	ofDaemon("concurrent", "RPC-10", "callers that say nothing, or half a frame, keep nobody waiting", checkDaemonCrowd),
	ofDaemon("promises", "RPC-1", "memory follows the bytes that came, not those that were promised", checkDaemonPromises),
}

// checkHangUp ends the input before anything was sent, and behind a request that has been answered.
func checkHangUp(p *probe) {
	if x := p.hangUp(nil); len(x.answers) > 0 || len(x.rest) > 0 || !x.closed {
		p.fail(x, x, "no word, and the end: nothing was asked")
		if x.open() {
			return
		}
	}
	x := p.enter()
	defer x.close()
	x.write(packed(request("1")))
	x.await(1)
	x.end()
	x.read(math.MaxInt, p.wait)
	for _, a := range x.answers {
		if a.id() != "1" {
			p.fail(x, x, "nothing behind the answer to the request")
		}
	}
	if x.open() {
		p.fail(x, x, "the end of the connection behind the end of the input")
	}
}

func checkDaemonCut(p *probe) {
	body := request("1")
	for _, cut := range []string{
		littleHeader(len(body))[:2], littleHeader(len(body)), littleHeader(len(body)) + body[:5], littleHeader(len(body)+9) + body,
	} {
		x := p.hangUp(text(cut))
		if len(x.answers) > 1 || len(x.answers) == 1 && !x.answers[0].malformed() || !x.closed {
			p.fail(x, x, `the end of the connection, and before it nothing or one error with the id 0 and the code "malformed_frame"`)
			if x.open() {
				return
			}
		}
	}
}

// checkHalfClose ends the input right behind the requests, before any answer can have been read.
func checkHalfClose(p *probe) {
	x := p.hangUp(packed(request("1"), request("2"), request("3")))
	for _, id := range []string{"1", "2", "3"} {
		if _, there := x.to(id); !there {
			p.fail(x, x, "an answer with the id %s: the request was sent before the end of the input", id)
			break
		}
	}
	if x.open() {
		p.fail(x, x, "the end of the connection when all is answered")
	}
}

// checkDaemonGone leaves at once, with answers unread and frames unfinished. Whether that did harm is seen behind every check.
func checkDaemonGone(p *probe) {
	const peers, each = 40, 50
	whole := times(string(packed(request("1")).bytes()), each).bytes()
	for i := range peers {
		x := p.enter()
		x.write(text(string(whole[:len(whole)-i%2*7]))) // every other one leaves in the middle
		x.close()
	}
	p.settled()
}

// settled waits until requests are answered again, whoever has gone.
func (p *probe) settled() {
	for end := time.Now().Add(p.wait); time.Now().Before(end); {
		if _, there := p.converse(1, packed(request("1"))).to("1"); there {
			return
		}
	}
}

func checkDaemonCrowd(p *probe) {
	silent, err := p.crowd(50, "")
	defer p.settled()
	defer func() { closeAll(silent) }()
	half, err2 := p.crowd(50, littleHeader(90)+`{"id":`)
	defer func() { closeAll(half) }()
	if err != nil || err2 != nil {
		p.fail(told{"100 connections", (&exchange{d: p.door}).shell()}, fmt.Sprint(err, err2), "100 connections at the same time")
		return
	}
	x := p.converse(1, packed(request("1")))
	if len(x.answers) == 0 {
		x.pieces = append([]recipe{text("on 50 other connections nothing, on 50 half a frame; and here: ")}, x.pieces...)
		p.fail(x, x, "an answer, whoever else is connected")
	}
}

// promisesAtOnce is how many promises are made before the memory is looked at: a daemon that keeps them is stopped early.
const promisesAtOnce = 10

func checkDaemonPromises(p *probe) {
	x := p.enter()
	if x.err != nil {
		p.broke("%v", x.err)
		return
	}
	pid := serving(x.conn)
	x.close()
	before, known := memory(pid, "VmRSS")
	if pid == 0 || !known {
		p.skip("the memory of the daemon is not told: it is another user's, or this system does not say")
		return
	}
	defer p.settled()
	grown, made := 0, 0
	for range promises/promisesAtOnce + 5 { // the last rounds are time to keep what was promised
		if made < promises {
			conns, err := p.crowd(promisesAtOnce, littleHeader(daemonCap))
			defer closeAll(conns)
			if err != nil {
				p.broke("%v", err)
				return
			}
			made += promisesAtOnce
		}
		if x := p.converse(1, packed(request("1"))); len(x.answers) == 0 {
			return
		}
		now, _ := memory(pid, "VmRSS")
		if grown = max(grown, now-before); grown > promisesCost {
			break
		}
	}
	if grown > promisesCost {
		e := told{fmt.Sprintf("on %d connections the header of a frame of 16 MiB, and nothing of it", made),
			fmt.Sprintf("for i in $(seq %d); do { printf '%s'; sleep 5; } | socat - UNIX-CONNECT:%s & done; sleep 1; "+
				"grep VmRSS /proc/%d/status", made, escaped(littleHeader(daemonCap)), word(p.path), pid)}
		p.fail(e, fmt.Sprintf("its memory grew by %d MiB", grown>>20),
			"kilobytes for each, less than %d MiB for %d", promisesCost>>20, promises)
	}
}
