package shape_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/kith-wire/kith/shape"
)

func read(t *testing.T, text string) shape.Message {
	t.Helper()
	m, err := shape.Limits{}.Read([]byte(text), "peer")
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return m
}

// SHAPE-1, SHAPE-2: what is no message, and what each error says.
func TestMalformed(t *testing.T) {
	for _, c := range []struct{ text, part string }{
		{``, "empty"},
		{` `, "empty"},
		{`[]`, "a call is an object"},
		{`"x"`, "a call is an object"},
		{`7`, "a call is an object"},
		{`null`, "a call is an object"},
		{"\x80", "a call is an object"},
		{`{}`, "none"},
		{`{"x":1}`, "none"},
		{`{"CALL":"x"}`, "none"},
		{`{"call":"x","ok":true}`, "two"},
		{`{"call":"x","event":"y"}`, "two"},
		{`{"ok":true,"event":"y"}`, "two"},
		{`{"call":null}`, "call is null"},
		{`{"call":""}`, "call is empty"},
		{`{"call":["x"]}`, "call is list"},
		{`{"call":"x","args":null}`, "args is null"},
		{`{"call":"x","args":{}}`, "args is map"},
		{`{"call":"x"} y`, "byte 13"},
		{`{"call":"x","call":"y"}`, "duplicate"},
		{`{"call":"x","more":{"a":1,"\u0061":2}}`, "duplicate"},
		{`{"call":"x","args":[1e400]}`, "byte 20"},
		{"  {\"call\":\"\xff\"}", "byte 11"},
	} {
		m, err := shape.Limits{}.Read([]byte(c.text), "peer")
		if !errors.Is(err, shape.Malformed) || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%q: got %v, want %q", c.text, err, c.part)
		}
		if m.IsEvent() || m.IsCall() || m.IsReply() {
			t.Errorf("%q: it is taken for a message", c.text)
		}
	}
}

// SHAPE-2, SHAPE-7: args may miss, other members are kept in order, unknown ones are no fault.
func TestCall(t *testing.T) {
	m := read(t, `{"from":"me","call":"note","token":{"a":[1]},"args":["x",2],"Args":3}`)
	if !m.IsCall() || m.Call.Verb != "note" || m.Call.Args.Len() != 2 || m.Call.Args.At(1).Kind() != "int" {
		t.Errorf("got %+v", m.Call)
	}
	var names []string
	for name := range m.Call.More.All() {
		names = append(names, name)
	}
	if got := strings.Join(names, " "); got != "from token Args" {
		t.Errorf("members %s", got)
	}
	if got := string(m.Call.More.Get("token").Append(nil, shape.JSON)); got != `{"a":[1]}` {
		t.Errorf("token %s", got)
	}
	if m := read(t, `{"call":"note"}`); m.Call.Args.Len() != 0 || !m.Call.Args.At(0).IsZero() {
		t.Errorf("no args read as %d", m.Call.Args.Len())
	}
}

// A call that is read is written as it was, in either encoding.
func TestCallRoundTrip(t *testing.T) {
	const text = `{"call":"note","args":["x",1.0,-0.0,9007199254740993],"from":"me"}`
	m := read(t, text)
	cbor, err := m.Call.Append(nil, shape.CBOR, shape.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	back, err := shape.Limits{}.Read(cbor, "peer")
	if err != nil || back.Encoding != shape.CBOR {
		t.Fatalf("%x: %v", cbor, err)
	}
	if got, err := back.Call.Append(nil, shape.JSON, shape.Limits{}); string(got) != text || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
}

// ENC-4: what is not UTF-8 is refused before a byte of the call leaves, as a verb, an argument and a word.
func TestCallThatCannotBeWritten(t *testing.T) {
	for _, c := range []shape.Call{
		{}, {Verb: "\xff"}, {Verb: "x", Args: shape.ListArgs("\xff")}, {Verb: "x", Args: shape.WordArgs([]string{"y", "\xff"})},
	} {
		for _, enc := range []shape.Encoding{shape.JSON, shape.CBOR} {
			if b, err := c.Append(nil, enc, shape.Limits{}); !errors.Is(err, shape.Refused) || len(b) > 0 {
				t.Errorf("%+v: wrote %q, %v", c, b, err)
			}
		}
	}
}

// SHAPE-5, VER-1: how a reply is read.
func TestReply(t *testing.T) {
	for _, c := range []struct {
		text   string
		rows   int
		family uint64
	}{
		{`{"ok":true}`, 0, 0},
		{`{"ok":true,"result":[1,2]}`, 2, 0},
		{`{"ok":true,"family":1,"n":1,"result":[1,2],"error":null,"x":{}}`, 1, 1},
		{`{"result":["a"],"n":1.0,"family":0,"ok":true}`, 1, 0},
	} {
		m := read(t, c.text)
		if !m.IsReply() || m.Refusal != nil || m.Rows.Len() != c.rows || m.Family != c.family {
			t.Errorf("%s: %d rows, family %d, %v", c.text, m.Rows.Len(), m.Family, m.Refusal)
		}
	}
	for _, c := range []struct {
		text  string
		fault shape.Fault
		said  bool
		sent  string
		why   string
	}{
		{`{"ok":false}`, shape.Refused, true, "", "no reason given"},
		{`{"ok":false,"error":"full","fault":"unavailable"}`, shape.Unavailable, true, "", "full"},
		{`{"ok":false,"error":"full","fault":"failed","n":0,"result":[]}`, shape.Failed, true, "", "full"},
		{`{"ok":false,"error":"full","fault":"tired"}`, shape.Refused, true, "tired", "full"},
		{`{"ok":true,"n":2,"result":[1]}`, shape.Malformed, false, "", "n is 2 and result holds 1"},
		{`{"ok":true,"n":1}`, shape.Malformed, false, "", "n is 1 and result holds 0"},
		{`{"ok":true,"n":-1}`, shape.Malformed, false, "", "n is -1"},
		{`{"ok":true,"n":0.5}`, shape.Malformed, false, "", "n is 0.5"},
		{`{"ok":true,"n":"0"}`, shape.Malformed, false, "", `n is "0"`},
		{`{"ok":true,"result":null}`, shape.Malformed, false, "", "result is not a list"},
		{`{"ok":1}`, shape.Malformed, false, "", "ok is int"},
		{`{"ok":true,"family":null}`, shape.Malformed, false, "", "family is null"},
		{`{"ok":7,"family":2,"result":{}}`, shape.Malformed, false, "", "peer speaks family 2 and this program reads up to 1"},
		{`{"ok":true,"family":99999999999999999999999}`, shape.Malformed, false, "", "peer speaks family"},
	} {
		m := read(t, c.text)
		if e := m.Refusal; e == nil || e.Fault != c.fault || e.Said != c.said || e.Sent != c.sent || !strings.Contains(e.Text, c.why) {
			t.Errorf("%s: got %#v", c.text, e)
		}
	}
}

// SHAPE-3, ENC-3: the bytes of a reply.
func TestReplyBytes(t *testing.T) {
	type row struct {
		B string `json:"b"`
		A int    `json:"a"`
	}
	for _, c := range []struct {
		rows shape.Rows
		err  error
		json string
		cbor string // how it begins
	}{
		{shape.Rows{}, nil, `{"ok":true,"family":1,"n":0,"result":[]}`, "\xa4\x62ok\xf5\x66family\x01\x61n\x00\x66result\x80"},
		{shape.RowsOf(row{"x", 1}), nil, `{"ok":true,"family":1,"n":1,"result":[{"b":"x","a":1}]}`, "\xa4\x62ok\xf5\x66family\x01\x61n\x01"},
		{shape.RowsOf("x").WithSurface(3), nil, `{"ok":true,"family":1,"surface":3,"n":1,"result":["x"]}`, "\xa5\x62ok\xf5\x66family\x01\x67surface\x03\x61n\x01"},
		{shape.Rows{}, shape.Refused.Errorf("not <now> & \u2028"), "{\"ok\":false,\"family\":1,\"n\":0,\"result\":[],\"error\":\"not <now> & \u2028\",\"fault\":\"refused\"}", "\xa6\x62ok\xf4"},
		{shape.RowsOf(1), errors.New("disk"), `{"ok":false,"family":1,"n":0,"result":[],"error":"disk","fault":"failed"}`, "\xa6\x62ok\xf4"},
		{shape.Rows{}, shape.Unavailable.Errorf("gone"), `{"ok":false,"family":1,"n":0,"result":[],"error":"gone","fault":"failed"}`, "\xa6"},
		{shape.Rows{}, shape.Fault("tired"), `{"ok":false,"family":1,"n":0,"result":[],"error":"tired","fault":"refused"}`, "\xa6"},
	} {
		if got := string(c.rows.AppendReply(nil, shape.JSON, shape.Limits{}, c.err)); got != c.json {
			t.Errorf("got  %s\nwant %s", got, c.json)
		}
		if got := string(c.rows.AppendReply(nil, shape.CBOR, shape.Limits{}, c.err)); !strings.HasPrefix(got, c.cbor) {
			t.Errorf("got  %x\nwant %x…", got, c.cbor)
		}
	}
}

// ENC-7, LIMIT-3: whatever the rows are there is one reply, and it names the member, or the size and the cap.
func TestRowsThatCannotBeWritten(t *testing.T) {
	type row struct {
		X any `json:"x"`
	}
	zero := 0.0
	ring := map[string]any{}
	ring["ring"] = ring
	for _, c := range []struct {
		rows shape.Rows
		part string
	}{
		{shape.RowsOf(row{1}, row{zero / zero}), "result[1].x is NaN"},
		{shape.RowsOf(row{1 / zero}), "result[0].x is +Inf"},
		{shape.RowsOf("\xff"), "result[0] is not UTF-8"},
		{shape.RowsOf(map[string]int{"\xff": 1}), "UTF-8"},
		{shape.RowsOf(ring), "nests deeper"},
		{shape.RowsOf(make([]int, 200)...), "limit of"},
		{shape.RowsOf(row{make(chan int)}), "cannot cross"},
		{shape.RowsOf(strings.Repeat("x", 2000)), "the reply is 2042 bytes and the cap is 1000"},
	} {
		for _, enc := range []shape.Encoding{shape.JSON, shape.CBOR} {
			b := c.rows.AppendReply(nil, enc, shape.Limits{Frame: 1000, Items: 100}, nil)
			m, err := shape.Limits{}.Read(b, "")
			if err != nil || !errors.Is(m.Refusal, shape.Failed) {
				t.Fatalf("%s: %v, %v", b, m.Refusal, err)
			}
			if enc == shape.JSON && !strings.Contains(m.Refusal.Text, c.part) {
				t.Errorf("got %s, want %q", m.Refusal.Text, c.part)
			}
		}
	}
}

// SHAPE-6: what is an event, readable or not.
func TestEvent(t *testing.T) {
	m := read(t, `{"event":"jot","text":"x","from":1}`)
	if !m.IsEvent() || m.Event.Name != "jot" || m.Event.More.Get("text").Quote() != `"x"` || !m.Event.More.Get("event").IsZero() {
		t.Errorf("got %+v", m.Event)
	}
	for _, text := range []string{`{"event":7}`, `{"event":""}`} {
		if m := read(t, text); !m.IsEvent() || m.Event.Name != "" {
			t.Errorf("%s: got %+v", text, m.Event)
		}
	}
	for _, text := range []string{`{"event":"x","call":"y"}`, `{"event":"x",`, `{ "\u0065vent" : nonsense`, "\xa2\x65event\x61x\x64call\x61y", "\xbf\x65event\xff", "\xef\xbb\xbf{\"event\":\"x\"}"} {
		if m, err := (shape.Limits{}).Read([]byte(text), ""); err == nil || !m.IsEvent() {
			t.Errorf("%q: %v, event %v", text, err, m.IsEvent())
		}
	}
	for _, text := range []string{`{"x":1,"event":"y"`, `{"events":1,`, `["event"`} {
		if m, err := (shape.Limits{}).Read([]byte(text), ""); err == nil || m.IsEvent() {
			t.Errorf("%q is taken for an event", text)
		}
	}
	b, err := shape.EventOf("noted", struct {
		ID int `json:"id"`
	}{7}).Append(nil, shape.JSON, shape.Limits{})
	if string(b) != `{"event":"noted","id":7}` || err != nil {
		t.Errorf("got %s, %v", b, err)
	}
	for _, payload := range []any{7, []int{1}, map[string]int{"call": 1}, map[int]int{}} {
		if b, err := shape.EventOf("x", payload).Append(nil, shape.JSON, shape.Limits{}); !errors.Is(err, shape.Refused) {
			t.Errorf("payload %v made %s, %v", payload, b, err)
		}
	}
}

// ENC-5: an error text quotes at most 64 bytes of what came, whole runes, controls escaped.
func TestQuote(t *testing.T) {
	for _, c := range []struct{ in, out string }{
		{"plain", "plain"},
		{"a\nb\x00\u2028", `a\nb\x00\u2028`},
		{"\xff", `\xff`},
		{strings.Repeat("x", 65), strings.Repeat("x", 64) + "…"},
		{strings.Repeat("x", 63) + "é!", strings.Repeat("x", 63) + "…"},
		{strings.Repeat("é", 32), strings.Repeat("é", 32)},
	} {
		if got := shape.Quote(c.in); got != c.out {
			t.Errorf("%q: got %s, want %s", c.in, got, c.out)
		}
	}
}
