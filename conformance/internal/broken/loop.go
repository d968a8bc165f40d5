package main

import (
	"errors"
	"io"
	"sync"
	"time"

	"github.com/kith-wire/kith/conformance/internal/value"
)

// inbox holds the messages that were read and not answered yet, so that one who does not read replies does not stop the
// reading: up to 1,024, or one cap of bytes (LIMIT-5).
type inbox struct {
	mu    sync.Mutex
	moved sync.Cond
	cap   int
	held  []incoming
	bytes int
	ended bool
}

// incoming is one frame, or what to answer where there is none to read.
type incoming struct {
	body []byte
	bad  *reply
	last bool // nothing can be told apart behind it
}

func newInbox(limit int) *inbox {
	in := &inbox{cap: limit}
	in.moved.L = &in.mu
	return in
}

func (in *inbox) put(m incoming) {
	in.mu.Lock()
	defer in.mu.Unlock()
	most := 1024
	if wrong("stops-reading") {
		most = 1
	}
	for !in.ended && len(in.held) > 0 && (len(in.held) >= most || in.bytes+len(m.body) > in.cap) {
		in.moved.Wait()
	}
	if !in.ended {
		in.held, in.bytes = append(in.held, m), in.bytes+len(m.body)
	}
	in.moved.Broadcast()
}

// end says that no more will come. What is held is still taken.
func (in *inbox) end() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.ended = true
	in.moved.Broadcast()
}

// take waits for the next message; false at the end.
func (in *inbox) take() (m incoming, more bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for len(in.held) == 0 {
		if in.ended {
			return incoming{}, false
		}
		in.moved.Wait()
	}
	m, in.held = in.held[0], in.held[1:]
	in.bytes -= len(m.body)
	in.moved.Broadcast()
	return m, true
}

// soon gives the reading a moment, and reports whether a message is held then, and whether the end has come.
func (in *inbox) soon() (held, ended bool) {
	for range 50 {
		in.mu.Lock()
		held, ended = len(in.held) > 0, in.ended
		in.mu.Unlock()
		if held || ended {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return held, ended
}

// errUnsolicited ends the loop, and nothing is answered (CLIENT-3).
var errUnsolicited = errors.New("a reply came, and nobody waits for one")

// door is what the loop needs to know of a way in.
type door struct {
	name  string
	in    *inbox
	write func(body []byte) error // one message, framed
}

// loop answers every message in the order they came, until the end of the input (PIPE-3, SOCK-5). The error is why no more
// can be answered.
func (d door) loop() error {
	out := sender{door: d}
	defer out.flush()
	for {
		m, more := d.in.take()
		if !more {
			return out.ended()
		}
		body, verb, err := d.answer(m)
		if err != nil {
			return err
		}
		if body != nil {
			if err := out.send(body, verb); err != nil {
				return err
			}
		}
		if m.last || out.closes(body) {
			return io.ErrUnexpectedEOF
		}
	}
}

// answer makes the one reply to a message, nil where it has none, and says which verb it called.
func (d door) answer(in incoming) (body []byte, verb string, err error) {
	if in.bad != nil {
		return in.bad.encode(value.JSON), "", nil // its first byte was never read (ENC-2)
	}
	m := read(in.body)
	if d.name == "pipe" && m.enc == value.CBOR && !wrong("cbor-on-a-pipe") {
		return malformed("a pipe carries JSON; CBOR is for the socket").encode(value.JSON), "", nil
	}
	switch {
	case m.bad != nil && wrong("bad-is-skipped"):
	case m.bad != nil:
		return m.bad.encode(m.enc), "", nil
	case m.reply && wrong("unsolicited-answered"):
		return malformed("a reply came, and nobody waits").encode(m.enc), "", nil
	case m.reply && wrong("unsolicited-ignored"):
	case m.reply:
		return nil, "", errUnsolicited
	case m.call != "":
		if wrong("cbor-for-client") && d.name == "pipe" && m.call == "client" {
			m.enc = value.CBOR
		}
		return answer(d.name, m.call, m.args()).encode(m.enc), m.call, nil
	}
	return nil, "", nil
}
