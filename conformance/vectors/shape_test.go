package vectors_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/kith-wire/kith/shape"
)

func (l limits) shape() shape.Limits {
	return shape.Limits{Frame: l.Frame, Depth: l.Depth, Items: l.Items, IntBits: l.IntBits}
}

// runMessage reads one message.
func runMessage(t *testing.T, c testCase) {
	msg, err := c.Limits.shape().Read(c.Input, "the peer")
	got := readAs(msg, err)
	allowed(t, got, c.Allow)
}

// got is what came of something, in the words of outcome.
type got struct {
	outcome
	surface uint64
	why     string
}

func readAs(msg shape.Message, err error) got {
	switch {
	case msg.IsEvent() && (err != nil || msg.Event.Name == ""):
		return got{outcome: outcome{Is: "ignored"}}
	case err != nil && !errors.Is(err, shape.Malformed):
		return got{outcome: outcome{Is: "an error that is not malformed"}, why: err.Error()}
	case err != nil:
		return got{outcome: outcome{Is: "malformed"}, why: err.Error()}
	case msg.IsCall():
		args := listOf(msg.Call.Args)
		return got{outcome: outcome{Is: "call", Verb: msg.Call.Verb, Args: args, More: mapOf(msg.Call.More)}}
	case msg.IsEvent():
		return got{outcome: outcome{Is: "event", Name: msg.Event.Name, More: mapOf(msg.Event.More)}}
	case msg.Refusal != nil:
		return refusedAs(msg.Refusal)
	}
	return rowsAs(msg.Rows)
}

func rowsAs(rows shape.Rows) got {
	var list []string
	for _, row := range rows.All() {
		list = append(list, string(row.Append(nil, shape.JSON)))
	}
	return got{outcome: outcome{Is: "rows", Rows: "[" + strings.Join(list, ",") + "]", Held: rows.Held()}, surface: rows.Surface()}
}

func refusedAs(err error) got {
	var e *shape.Error
	if !errors.As(err, &e) {
		return got{outcome: outcome{Is: "an error of another type"}, why: err.Error()}
	}
	g := got{outcome: outcome{Frame: frameFault(err)}, why: e.Text}
	switch {
	case e.Said:
		g.Is, g.Fault, g.Code, g.Sent, g.Text = "refusal", string(e.Fault), e.Code, e.Sent, e.Text
	case e.Fault == shape.Malformed:
		g.Is = "bad-reply"
	case e.Fault == shape.Refused:
		g.Is = "not-sent"
	default:
		g.Is = string(e.Fault)
	}
	return g
}

func listOf(args shape.Args) string {
	b, err := args.Append(nil, shape.JSON, shape.Limits{})
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func mapOf(m shape.Members) string {
	var list []string
	for name, value := range m.All() {
		list = append(list, fmt.Sprintf("%q:%s", name, value.Append(nil, shape.JSON)))
	}
	return "{" + strings.Join(list, ",") + "}"
}

// allowed checks that one of the outcomes is what came.
func allowed(t *testing.T, g got, allow []outcome) {
	t.Helper()
	if len(allow) == 0 {
		t.Fatal("the case allows nothing")
	}
	for _, o := range allow {
		if o.allows(g) {
			return
		}
	}
	t.Errorf("got %.300s\nallowed %.300s", fmt.Sprintf("%+v %q", g.outcome, g.why), fmt.Sprintf("%+v", allow))
}

func (o outcome) allows(g got) bool {
	same := func(want, got string) bool { return want == "" || want == got }
	for _, part := range o.Says {
		if !strings.Contains(g.why, part) {
			return false
		}
	}
	for _, part := range o.Lacks {
		if strings.Contains(g.why, part) {
			return false
		}
	}
	if o.Surface != nil && *o.Surface != g.surface || o.Held != 0 && o.Held != g.Held {
		return false
	}
	return o.Is == g.Is && same(o.Verb, g.Verb) && same(o.Args, g.Args) && same(o.More, g.More) && same(o.Name, g.Name) &&
		same(o.Rows, g.Rows) && same(o.Fault, g.Fault) && same(o.Code, g.Code) && same(o.Frame, g.Frame) && same(o.Text, g.Text) && o.Sent == g.Sent
}

// runValue reads one value in every way it may come, and writes it in both encodings.
func runValue(t *testing.T, c testCase) {
	n := 0
	for enc, inputs := range map[shape.Encoding][]data{shape.JSON: c.JSON, shape.CBOR: c.CBOR} {
		for i, input := range inputs {
			n++
			v, err := c.Limits.shape().Value(input, enc)
			if err != nil {
				t.Errorf("%v %d: %v", enc, i, err)
				continue
			}
			if want := c.Write.JSON; want != "" && string(v.Append(nil, shape.JSON)) != want {
				t.Errorf("%v %d is written in JSON as %s and not %s", enc, i, v.Append(nil, shape.JSON), want)
			}
			if want := c.Write.CBOR; want != "" && hex.EncodeToString(v.Append(nil, shape.CBOR)) != want {
				t.Errorf("%v %d is written in CBOR as %x and not %s", enc, i, v.Append(nil, shape.CBOR), want)
			}
		}
	}
	if n == 0 {
		t.Error("the case has no input")
	}
}

var offset = regexp.MustCompile(`at byte (\d+)$`)

// runRefusedValue reads one value that must be refused, where it is wrong.
func runRefusedValue(t *testing.T, c testCase) {
	enc, is := map[string]shape.Encoding{"json": shape.JSON, "cbor": shape.CBOR}[c.Encoding]
	if !is {
		t.Fatalf("encoding %q", c.Encoding)
	}
	v, err := c.Limits.shape().Value(c.Input, enc)
	if err == nil {
		t.Fatalf("it is taken, as %.100s", v.Append(nil, shape.JSON))
	}
	if !errors.Is(err, shape.Malformed) {
		t.Errorf("it is not malformed: %v", err)
	}
	at := offset.FindStringSubmatch(err.Error())
	if at == nil {
		t.Fatalf("it names no byte: %v", err)
	}
	if o := c.Ours.Offset; o != nil && at[1] != fmt.Sprint(*o) {
		t.Errorf("it is not byte %d: %v", *o, err)
	}
	for _, part := range c.Ours.Says {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("it does not say %q: %v", part, err)
		}
	}
}

// runWrite writes one message.
func runWrite(t *testing.T, c testCase) {
	n := 0
	for enc, want := range map[shape.Encoding]string{shape.JSON: c.Expect.JSON, shape.CBOR: c.Expect.CBOR} {
		if want == "" {
			continue
		}
		n++
		b, err := writeCase(c, enc)
		got := string(b)
		if enc == shape.CBOR {
			got = hex.EncodeToString(b)
		}
		if err != nil || !matches(want, got) {
			t.Errorf("%v: got  %s %v\nwant %s", enc, got, err, want)
		}
	}
	if n == 0 {
		t.Error("the case expects nothing")
	}
}

func writeCase(c testCase, enc shape.Encoding) ([]byte, error) {
	l := c.Limits.shape()
	switch {
	case c.Reply != nil:
		var rows []shape.Raw
		for _, text := range c.Reply.Rows {
			row, err := l.Value([]byte(text), shape.JSON)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
		return shape.RowsOf(rows...).WithSurface(c.Reply.Surface).AppendReply(nil, enc, l, nil), nil
	case c.Refusal != nil:
		err := errors.New(c.Refusal.Text)
		if c.Refusal.Fault != "" {
			err = shape.Fault(c.Refusal.Fault).Errorf("%s", c.Refusal.Text)
		}
		return shape.Rows{}.AppendReply(nil, enc, l, err), nil
	case c.Event != nil:
		more, err := l.Value([]byte(c.Event.More), shape.JSON)
		return must(shape.Event{Name: c.Event.Name, More: more.Members()}.Append(nil, enc, l))(err)
	case c.Call != nil:
		call, err := callOf(c.Call.Verb, c.Call.Args, c.Call.More)
		return must(call.Append(nil, enc, l))(err)
	}
	return unwritable(c.Unwritable).AppendReply(nil, enc, l, nil), nil
}

// must puts an earlier error before a later one.
func must(b []byte, later error) func(earlier error) ([]byte, error) {
	return func(earlier error) ([]byte, error) { return b, errors.Join(earlier, later) }
}

// callOf makes a call of JSON texts; no text is no arguments, and no members.
func callOf(verb, args, more string) (call shape.Call, err error) {
	call.Verb = verb
	if args != "" {
		list, err := shape.Limits{}.Value([]byte(args), shape.JSON)
		if err != nil {
			return call, err
		}
		if call.Args, err = list.Args(); err != nil {
			return call, err
		}
	}
	if more != "" {
		members, err := shape.Limits{}.Value([]byte(more), shape.JSON)
		if err != nil {
			return call, err
		}
		call.More = members.Members()
	}
	return call, nil
}

// loop is a Go value that never ends.
type loop struct{ Next *loop }

// unwritable returns rows that cannot cross.
func unwritable(name string) shape.Rows {
	var deep any = 1
	for range 70 {
		deep = []any{deep}
	}
	round := &loop{}
	round.Next = round
	switch name {
	case "nan":
		return shape.RowsOf(math.NaN())
	case "deep-nan":
		return shape.RowsOf[any](map[string]any{"a": []any{1, math.NaN()}})
	case "infinity":
		return shape.RowsOf(math.Inf(-1))
	case "invalid-utf8":
		return shape.RowsOf("a\xff")
	case "cycle":
		return shape.RowsOf(round)
	case "too-deep":
		return shape.RowsOf(deep)
	}
	return shape.RowsOf("there is no unwritable " + name)
}
