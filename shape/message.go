package shape

import (
	"errors"
	"sync/atomic"

	"github.com/kith-wire/kith/shape/internal/scan"
	"github.com/kith-wire/kith/shape/internal/wire"
	"github.com/kith-wire/kith/version"
)

// Call is one call: somebody is waiting for its reply.
type Call struct {
	Verb string
	Args Args
	More Members // every other member; programs send from and token
}

// Event is one event: nobody is waiting, and nothing is ever answered (SHAPE-6).
type Event struct {
	Name string
	More Members // its payload
	err  error   // why EventOf could not make it
}

// EventOf makes an event of a Go value whose members, those of a struct or a map, are its payload; nil is none. A value that
// cannot cross is an error when the event is written.
func EventOf(name string, payload any) Event {
	e := Event{Name: name}
	if payload == nil {
		return e
	}
	b, _, err := codec.Append(nil, wire.JSON, payload, Limits{}.plan(0))
	if err != nil {
		e.err = Refused.Errorf("event %s: payload%w", Quote(name), err)
		return e
	}
	e.More = Raw{b: b, enc: wire.JSON}.Members()
	if e.More.b == nil {
		e.err = Refused.Errorf("event %s: a payload is a struct or a map with text keys, not %T", Quote(name), payload)
	}
	for _, own := range []string{"call", "ok", "event"} {
		if e.More.has(own) {
			e.err = Refused.Errorf("event %s: a payload has no member named %s", Quote(name), own)
		}
	}
	return e
}

// Message is one message as it was read: a call, a reply or an event.
type Message struct {
	Encoding Encoding
	Call     Call   // where IsCall
	Event    Event  // where IsEvent
	Rows     Rows   // where IsReply: the rows of a reply that is ok
	Refusal  *Error // where IsReply: why there are none, said by the peer or by SHAPE-5 and VER-1
	Family   uint64 // where IsReply: the wire the reply is written in, 0 where it does not say

	kind messageKind
}

type messageKind uint8

const (
	isNothing messageKind = iota
	isCall
	isReply
	isEvent
)

// IsCall, IsReply and IsEvent tell what the message is.
func (m *Message) IsCall() bool  { return m.kind == isCall }
func (m *Message) IsReply() bool { return m.kind == isReply }

// IsEvent is also true of a message that could not be read and whose first member is named event: it is not answered.
func (m *Message) IsEvent() bool { return m.kind == isEvent }

// memberCount is how many members of a message fit without making anything; more are allowed.
const memberCount = 12

// Read admits one message, which is a part of frame from then on. peer is the name that errors about a reply use. The error
// is Malformed: nothing can be told of the message but its Encoding, and whether it began as an event.
func (l Limits) Read(frame []byte, peer string) (Message, error) {
	var buf [memberCount]scan.Member
	enc, start, err := scan.Detect(frame)
	m := Message{Encoding: Encoding(enc)}
	if err != nil {
		if scan.FirstNameIs(frame, "event") {
			m.kind = isEvent
		}
		return m, malformed(err, 0)
	}
	body := frame[start:]
	members, err := scan.Envelope(body, enc, l.scan(), buf[:0])
	if err != nil {
		if scan.FirstNameIs(body, "event") {
			m.kind = isEvent
		}
		return m, malformed(err, start)
	}
	if err := m.sort(body, members, peer, l); err != nil {
		if len(members) > 0 && string(members[0].Name) == "event" {
			m.kind = isEvent
		}
		return m, err
	}
	return m, nil
}

// malformed words a scanner's error; its offset counts from the start of the frame.
func malformed(err error, start int) *Error {
	var at *scan.Error
	if !errors.As(err, &at) {
		return Malformed.Errorf("%w", err)
	}
	return Malformed.Errorf("%w", &scan.Error{Offset: at.Offset + start, Text: at.Text})
}

// sort finds out which of the three shapes the members make (SHAPE-1).
func (m *Message) sort(body []byte, members []scan.Member, peer string, l Limits) error {
	var call, ok, event *scan.Member
	for i := range members {
		switch f := &members[i]; string(f.Name) {
		case "call":
			call = f
		case "ok":
			ok = f
		case "event":
			event = f
		}
	}
	switch {
	case call != nil && ok == nil && event == nil:
		return m.readCall(body, members, call)
	case ok != nil && call == nil && event == nil:
		m.kind = isReply
		m.readReply(members, peer)
		if l.KeepReplies {
			m.keep(body)
		}
		return nil
	case event != nil && call == nil && ok == nil:
		m.kind = isEvent
		m.readEvent(body, event)
		return nil
	case call == nil && ok == nil && event == nil:
		return Malformed.Errorf("a message holds one of call, ok and event, and this one holds none")
	}
	return Malformed.Errorf("a message holds one of call, ok and event, and this one holds two")
}

func (m *Message) readCall(body []byte, members []scan.Member, call *scan.Member) error {
	verb, is := m.verb(call)
	if !is {
		return Malformed.Errorf("call is %s and must be text", call.Kind)
	}
	if verb == "" {
		return Malformed.Errorf("call is empty and must name a verb")
	}
	m.Call.Verb = verb
	own := 1
	for i := range members {
		if f := &members[i]; string(f.Name) == "args" {
			if f.Kind != wire.List {
				return Malformed.Errorf("args is %s and must be a list", f.Kind)
			}
			m.Call.Args = Args{list: f.Value, enc: wire.Encoding(m.Encoding), n: f.N}
			own++
		}
	}
	if len(members) > own {
		m.Call.More = Members{b: body, enc: wire.Encoding(m.Encoding), drop: [2]string{"call", "args"}}
	}
	m.kind = isCall
	return nil
}

// readEvent reads an event. A name that is not non-empty text leaves it without one, and it is ignored (SHAPE-6).
func (m *Message) readEvent(body []byte, event *scan.Member) {
	m.Event.Name, _ = m.text(event)
	m.Event.More = Members{b: body, enc: wire.Encoding(m.Encoding), drop: [2]string{"event"}}
}

// readReply reads a reply as SHAPE-5 and VER-1 have it: the family is gated before ok is looked at.
func (m *Message) readReply(members []scan.Member, peer string) {
	var n, result, why, fault, ok *scan.Member
	for i := range members {
		switch f := &members[i]; string(f.Name) {
		case "ok":
			ok = f
		case "family":
			if m.Family, m.Refusal = m.whole(f); m.Refusal != nil {
				return
			}
			if err := version.Gate(peer, "family", m.Family, version.Family); err != nil {
				m.Refusal = Malformed.Errorf("%w", err)
				return
			}
		case "surface":
			m.Rows.surface, _ = m.whole(f)
		case "n":
			n = f
		case "result":
			result = f
		case "error":
			why = f
		case "fault":
			fault = f
		}
	}
	if m.Refusal = m.rows(ok, n, result); m.Refusal != nil {
		return
	}
	if cursor := m.cursor(ok); !cursor.Bool() {
		m.Refusal = m.refusal(why, fault)
		m.Rows = Rows{surface: m.Rows.surface}
	}
}

// keep keeps the reply whole beside what was read of it.
func (m *Message) keep(body []byte) {
	whole := Raw{b: body, enc: wire.Encoding(m.Encoding)}.Clone()
	if m.Refusal == nil {
		m.Rows.reply = whole
	} else if m.Refusal.Said {
		m.Refusal.Reply = whole
	}
}

func (m *Message) rows(ok, n, result *scan.Member) (refusal *Error) {
	if ok.Kind != wire.Bool {
		return Malformed.Errorf("ok is %s and must be a bool", ok.Kind)
	}
	if result != nil {
		if result.Kind != wire.List {
			return Malformed.Errorf("result is not a list")
		}
		m.Rows.list, m.Rows.enc, m.Rows.n = result.Value, wire.Encoding(m.Encoding), result.N
		m.Rows.held = result.N
	}
	if n == nil {
		return nil
	}
	count, refusal := m.whole(n)
	if refusal != nil {
		return refusal
	}
	if count > uint64(m.Rows.n) {
		return Malformed.Errorf("n is %d and result holds %d", count, m.Rows.n)
	}
	m.Rows.n = int(count)
	return nil
}

func (m *Message) refusal(why, fault *scan.Member) *Error {
	e := &Error{Fault: Refused, Text: "no reason given", Said: true}
	if text, is := m.text(why); is && text != "" {
		e.Text = text
	}
	sent, _ := m.text(fault)
	switch f := Fault(sent); f {
	case Unavailable, Failed, Malformed:
		e.Fault = f
	case Refused:
	default:
		e.Sent = sent
	}
	return e
}

func (m *Message) cursor(f *scan.Member) wire.Cursor {
	return wire.Cursor{B: f.Value, Enc: wire.Encoding(m.Encoding)}
}

// text returns a member that is text; is says whether it is there and is.
func (m *Message) text(f *scan.Member) (text string, is bool) {
	if f == nil || f.Kind != wire.Text {
		return "", false
	}
	c := m.cursor(f)
	b, _ := c.Text(nil)
	return string(b), true
}

// spelled are verbs as they were spelled lately. A program is asked few of them, again and again.
var spelled [64]atomic.Pointer[string]

// spelledMost is how long a verb is kept.
const spelledMost = 32

// verb is text for the name of a verb.
func (m *Message) verb(f *scan.Member) (verb string, is bool) {
	if f.Kind != wire.Text {
		return "", false
	}
	c := m.cursor(f)
	b, _ := c.Text(nil)
	if len(b) == 0 || len(b) > spelledMost {
		return string(b), true
	}
	slot := &spelled[(int(b[0])+int(b[len(b)-1])<<2+len(b)<<4)%len(spelled)]
	if last := slot.Load(); last != nil && *last == string(b) {
		return *last, true
	}
	spelling := string(b) // no other variable is to be kept: this one is made on this way alone
	slot.Store(&spelling)
	return spelling, true
}

// whole returns a member that is a whole number from 0; one beyond 64 bits reads as the largest.
func (m *Message) whole(f *scan.Member) (uint64, *Error) {
	if f.Kind == wire.Int || f.Kind == wire.Float {
		c := m.cursor(f)
		v := c.Number()
		switch {
		case v.Big != nil && v.Big.IsUint64():
			return v.Big.Uint64(), nil
		case v.Big != nil && v.Big.Sign() > 0:
			return 1<<64 - 1, nil
		case v.IsFloat && v.Float >= 0 && v.Float < 1<<63 && v.Float == float64(uint64(v.Float)):
			return uint64(v.Float), nil
		case !v.IsFloat && v.Big == nil && v.Int >= 0:
			return uint64(v.Int), nil
		}
	}
	value := Raw{b: f.Value, enc: wire.Encoding(m.Encoding)}
	return 0, Malformed.Errorf("%s is %s and must be a whole number from 0", f.Name, value.Quote())
}

// Append writes the call. The error is Refused: a verb or an argument that cannot be written, and nothing has been sent.
func (c Call) Append(dst []byte, enc Encoding, l Limits) ([]byte, error) {
	to := wire.Encoding(enc)
	if c.Verb == "" {
		return dst, Refused.Errorf("a call must name a verb")
	}
	out := wire.AppendMapOpen(dst, to, 2+c.More.Len())
	out, err := appendText(out, to, "call", c.Verb)
	if err != nil {
		return dst, err
	}
	out = wire.AppendKey(wire.AppendSep(out, to, 1), to, "args")
	if out, err = c.Args.Append(out, enc, l); err != nil {
		return dst, err
	}
	return c.More.append(out, to, 2), nil
}

// Append writes the event. The error is Refused: its payload cannot be written.
func (e Event) Append(dst []byte, enc Encoding, _ Limits) ([]byte, error) {
	to := wire.Encoding(enc)
	if e.err != nil {
		return dst, e.err
	}
	if e.Name == "" {
		return dst, Refused.Errorf("an event must have a name")
	}
	out := wire.AppendMapOpen(dst, to, 1+e.More.Len())
	out, err := appendText(out, to, "event", e.Name)
	if err != nil {
		return dst, err
	}
	return e.More.append(out, to, 1), nil
}

// append writes the members behind the first `before` ones of an open map, and closes it.
func (m Members) append(dst []byte, to wire.Encoding, before int) []byte {
	for name, value := range m.All() {
		dst = wire.AppendKey(wire.AppendSep(dst, to, before), to, name)
		dst = value.Append(dst, Encoding(to))
		before++
	}
	return wire.AppendMapClose(dst, to)
}
