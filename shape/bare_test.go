package shape_test

import (
	"fmt"
	"testing"

	"github.com/kith-wire/kith/shape"
)

// RPC-6: a value that stands for itself is the same row that it is as the one element of a list, whoever looks at it and however.
func TestBareRow(t *testing.T) {
	for _, enc := range []shape.Encoding{shape.JSON, shape.CBOR} {
		for _, text := range []string{`{"text":"a","n":3}`, `"x"`, `7`, `true`, `{"text":1}`, `{"text":"a","other":[1,{"b":null}]}`} {
			bare, list := rowsIn(t, text, enc), rowsIn(t, "["+text+"]", enc)
			if got, want := look(bare), look(list); got != want {
				t.Errorf("%v %s\ngot  %s\nwant %s", enc, text, got, want)
			}
			if got, want := look(bare.Clone()), look(list); got != want {
				t.Errorf("%v %s, a clone\ngot  %s\nwant %s", enc, text, got, want)
			}
		}
	}
}

func rowsIn(t *testing.T, text string, enc shape.Encoding) shape.Rows {
	t.Helper()
	raw, err := shape.Limits{}.Value([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	raw, err = shape.Limits{}.Value(raw.Append(nil, enc), enc)
	if err != nil {
		t.Fatal(err)
	}
	return raw.Rows()
}

// look says all that can be seen of rows.
func look(r shape.Rows) string {
	out := fmt.Sprint(r.Len(), r.Held(), r.Surface())
	for i, row := range r.All() {
		out += fmt.Sprintf(" %d:%s", i, row.Quote())
	}
	for i := range 2 {
		row := r.Raw(i)
		out += fmt.Sprintf(" %v %s", row.IsZero(), row.Quote())
	}
	for _, enc := range []shape.Encoding{shape.JSON, shape.CBOR} {
		b, err := r.Append(nil, enc, shape.Limits{})
		out += fmt.Sprintf(" %q %v", b, err)
		out += fmt.Sprintf(" %q", r.AppendReply(nil, enc, shape.Limits{}, nil))
	}
	one, err := shape.Decode(r, []struct {
		Text string `json:"text"`
		N    int    `json:"n"`
	}{{"old", 9}})
	out += fmt.Sprintf(" %v %v", one, err)
	texts, err := shape.Decode[string](r, nil)
	out += fmt.Sprintf(" %v %v", texts, err)
	values, err := shape.Decode[any](r, nil)
	return out + fmt.Sprintf(" %v %v", values, err)
}
