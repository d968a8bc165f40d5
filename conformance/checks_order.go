package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// orderChecks are about conversations: who answers what, when, and in which order.
var orderChecks = []check{
	{"prompt", "SOCK-5", "a call is answered before anything else is sent", talkDoors, false, checkPrompt},
	{"one-reply", "PIPE-1", "each call has one reply", talkDoors, false, checkOneReply},
	{"in-order", "PIPE-1", "replies come in the order of their calls", talkDoors, false, checkInOrder},
	{"together", "SOCK-5", "messages of one write are messages of their own", talkDoors, false, checkTogether},
	{"byte-by-byte", "SOCK-5", "a message that comes in pieces of one byte is the message", talkDoors, false, checkByteByByte},
	{"refusal-stays", "FAULT-2", "a refusal closes nothing", talkDoors, false, checkRefusalStays},
	{"bad-message", "PIPE-2", "a bad message has one malformed reply, and the next is served", talkDoors, false, checkBadMessage},
	{"event", "SHAPE-6", "an event is not answered", talkDoors, false, checkEvent},
	{"bad-event", "SHAPE-6", "an event is not answered, whatever is wrong with it", talkDoors, false, checkBadEvent},
	{"unsolicited", "CLIENT-3", "a reply nobody waits for closes, and is not answered", talkDoors, false, checkUnsolicited},
	{"end-of-input", "PIPE-3", "every call read before the end of the input is answered, then the program closes", talkDoors, false, checkEnd},
	{"both-write", "LIMIT-5", "a program that is blocked writing goes on reading", talkDoors, false, checkBothWrite},
}

// checkPrompt waits for each reply with the input open and nothing more to come.
func checkPrompt(p *probe) {
	sent := p.frames(verbsCall, verbsCall)
	e := transcript{d: p.door, pieces: sent}
	s, err := p.open()
	if err != nil {
		p.fail(e, err, "a way in")
		return
	}
	defer s.close()
	for i, message := range sent {
		err := s.write(message.bytes())
		if err == nil {
			_, err = s.frame(time.Now().Add(p.wait))
		}
		if err != nil {
			p.fail(e, fmt.Sprintf("no reply to call %d while the input is open: %v", i+1, err),
				"a reply to each call at once, not when more is sent or the input ends")
			return
		}
	}
}

func checkOneReply(p *probe) {
	const calls = 5
	t := p.talk(calls, p.frames(verbsCall, verbsCall, verbsCall, verbsCall, verbsCall)...)
	if len(t.replies) != calls {
		p.fail(t, t, "%d replies to %d calls", calls, calls)
	}
}

// checkInOrder calls verbs and client in turn: the rows of verbs say which reply is which.
func checkInOrder(p *probe) {
	t := p.talk(4, join(p.frames(verbsCall, clientCall, verbsCall, clientCall)...))
	var order []string
	for _, b := range t.replies {
		verb := "client"
		if rows := readReply(b).rows(); len(rows) > 0 && rowText(rows[0], "verb") != "" {
			verb = "verbs"
		}
		order = append(order, verb)
	}
	if got := strings.Join(order, " "); got != "verbs client verbs client" {
		p.fail(t, "replies to "+got+": "+t.String(), "replies to verbs, client, verbs and client, in this order")
	}
}

func checkTogether(p *probe) {
	t := p.talk(2, join(p.frames(verbsCall, strangeCall)...))
	if len(t.replies) < 2 || !readReply(t.replies[0]).is(true) {
		p.fail(t, t, "two replies to two messages of one write")
	}
}

// checkByteByByte has the same bytes come back as when the message is written whole.
func checkByteByByte(p *probe) {
	message := p.framing()(verbsCall)
	whole := p.talk(1, message)
	var pieces []recipe
	for _, b := range message.bytes() {
		pieces = append(pieces, text(string([]byte{b})))
	}
	p.paced = true
	t := p.talk(1, pieces...)
	p.paced = false
	if len(t.replies) == 0 || len(whole.replies) == 0 || !bytes.Equal(t.replies[0], whole.replies[0]) {
		p.fail(t, t, "the reply that the message has when it is written whole: %v", whole)
	}
}

func checkRefusalStays(p *probe) {
	t := p.talk(2, p.frames(strangeCall, verbsCall)...)
	p.wantOK(t, 1)
}

func checkBadMessage(p *probe) {
	t := p.talk(2, p.frames(badBody, verbsCall)...)
	p.wantRefused(t, 0, "malformed")
	p.wantOK(t, 1)
}

// checkEvent sends an event and then a call: what comes is the reply to the call, and no more.
func checkEvent(p *probe) {
	p.notAnswered(`{"event":"kith-check","text":"hello"}`, `{"n":1,"event":"kith-check"}`)
}

func checkBadEvent(p *probe) {
	p.notAnswered(`{"event":"kith-check","call":"verbs"}`, `{"event":5}`, `{"event":""}`, `{"event":null}`,
		`{"event":"kith-check","event":"kith-check"}`, `{"event":"kith-check",`, `{"event":"kith-check"} x`,
		`{"\u0065vent":"kith-check",`, `{"text":1,"event":[]}`)
	if p.name == Socket {
		p.notAnswered("\xa2\x65event\x61x\x65event\x61x", "\xa1\x65event", "\xa1\x65event\x40", "\xa1\x65event\x61x\x00")
	}
}

// notAnswered sends each body on a stream of its own, a call behind it.
func (p *probe) notAnswered(bodies ...string) {
	var pieces []recipe
	for _, body := range bodies {
		pieces = append(pieces, p.frames(text(body), verbsCall)...)
	}
	t := p.talk(len(bodies), join(pieces...))
	if len(t.replies) == len(bodies) && !slices.ContainsFunc(t.replies, func(b []byte) bool { return !readReply(b).is(true) }) {
		return
	}
	for _, body := range bodies {
		t := p.talk(1, p.frames(text(body), verbsCall)...)
		if len(t.replies) != 1 || !readReply(t.replies[0]).is(true) {
			p.fail(t, t, "one reply, that to the call: an event has none")
		}
	}
}

func checkUnsolicited(p *probe) {
	e := transcript{d: p.door, pieces: p.frames(text(`{"ok":true,"family":1,"n":0,"result":[]}`))}
	s, err := p.open()
	if err != nil {
		p.fail(e, err, "a way in")
		return
	}
	defer s.close()
	s.write(e.pieces[0].bytes())
	body, err := s.frame(time.Now().Add(p.wait))
	switch {
	case err == nil:
		p.fail(e, show(body), "no answer: a reply is never answered")
		return
	case errors.Is(err, os.ErrDeadlineExceeded):
		p.fail(e, "nothing, and the way stays open", "the program closes")
		return
	}
	if s.proc == nil {
		return
	}
	if end := s.proc.wait(p.wait); !end.exited(1) || end.stderr == "" {
		p.fail(e, end, "exit 1, and a sentence on stderr")
	}
}

// checkEnd ends the input right behind the calls, before any reply can have been read.
func checkEnd(p *probe) {
	t := p.endAtOnce(join(p.frames(verbsCall, verbsCall, verbsCall)...))
	if len(t.replies) != 3 {
		p.fail(t, t, "three replies: every call read is answered, and nothing else is written")
	}
	if !t.closed || len(t.rest) > 0 {
		p.fail(t, t, "the program closes when all is answered, silently")
	}
	if p.name == Pipe && !t.ending.exited(0) {
		p.fail(t, t, "exit 0")
	}
	if t = p.endAtOnce(nil); len(t.replies) > 0 || len(t.rest) > 0 || !t.closed || p.name == Pipe && !t.ending.exited(0) {
		p.fail(t, t, "no word, and the end: nothing was asked")
	}
}

// endAtOnce writes all and ends the input before it reads.
func (d *door) endAtOnce(all recipe) transcript {
	t := transcript{d: d, pieces: []recipe{all}}
	s, err := d.open()
	if err != nil {
		t.err = err
		return t
	}
	defer s.close()
	s.write(all.bytes())
	s.closeWrite()
	t.read(s, -1, d.wait)
	t.rest = s.buf
	if s.proc != nil && t.closed {
		t.ending = s.proc.wait(d.wait)
	} else if s.proc != nil {
		t.ending = s.proc.wait(hurry)
	}
	return t
}

// checkBothWrite writes more calls than the system holds between two programs, and reads only then. They are fewer than
// 1,024 and less than a frame cap, which a program has to hold.
func checkBothWrite(p *probe) {
	const calls = 900
	call := p.framing()(text(`{"call":"verbs","pad":"` + strings.Repeat("x", 960) + `"}`))
	e := transcript{d: p.door, pieces: []recipe{times(string(call.bytes()), calls)}}
	s, err := p.open()
	if err != nil {
		p.fail(e, err, "a way in")
		return
	}
	defer s.close()
	if err := s.write(e.pieces[0].bytes()); err != nil {
		p.fail(e, fmt.Sprintf("the program stopped reading while its replies were not read: %v", err),
			"it goes on reading, up to 1,024 messages or one frame cap that it has not served")
		return
	}
	s.closeWrite()
	e.read(s, calls, 2*p.wait)
	if len(e.replies) < calls {
		p.fail(e, fmt.Sprintf("%d replies", len(e.replies)), "%d replies", calls)
	}
}
