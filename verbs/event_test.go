package verbs_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/verbs"
)

// heard is a program that writes down the events it takes and the ones it logs.
type heard struct {
	mu    sync.Mutex
	lines []string
}

func (h *heard) add(format string, a ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, fmt.Sprintf(format, a...))
}

func (h *heard) set() *verbs.Set {
	set := verbs.New("p", 1, verbs.Log(func(text string) { h.add("log: %s", text) }))
	verbs.On(set, "jot", func(ctx context.Context, e struct {
		Text string
		From *string `json:"from"`
		N    int     `kith:"optional"`
	}) {
		h.add("%s: %s %s %d", transport.PeerFrom(ctx).Door(), e.Text, shown(e.From), e.N)
	})
	verbs.On(set, "ring", func(context.Context, none) { h.add("ring") })
	return set
}

// TestEvents: members fill fields by exact name (SHAPE-7), an unknown event is ignored, one that does not fit is dropped and
// logged, and none of them is ever answered (SHAPE-6): the one reply is that of the call behind them.
func TestEvents(t *testing.T) {
	events := []string{
		`{"event":"jot","text":"a"}`,
		`{"event":"jot","more":[1],"n":7,"from":"me","text":"b","Text":"c"}`,
		`{"event":"jot","text":"d","from":null,"n":null}`,
		`{"event":"ring","text":1}`,
		`{"event":"unknown","text":1}`,
		`{"event":"Jot","text":"x"}`,
		`{"event":"jot"}`,
		`{"event":"jot","text":5}`,
		`{"event":"jot","text":null}`,
		`{"event":"jot","TEXT":"x"}`,
		`{"event":"jot","text":"x","n":"many"}`,
	}
	for _, door := range []transport.Door{transport.Pipe, transport.Socket} {
		for _, enc := range []shape.Encoding{shape.JSON, shape.CBOR} {
			if door == transport.Pipe && enc == shape.CBOR {
				continue
			}
			want := []string{
				door.String() + ": a nil 0",
				door.String() + ": b me 7",
				door.String() + ": d nil 0",
				"ring",
				"log: event jot dropped: text is missing and text is taken",
				"log: event jot dropped: text is 5 and text is taken",
				"log: event jot dropped: text is null and text is taken",
				"log: event jot dropped: text is missing and text is taken",
				`log: event jot dropped: n is "many" and int is taken`,
			}
			var h heard
			conn := knock(t, h.set(), door)
			for _, event := range append(slices.Clone(events), `{"call":"nothing"}`) {
				value, err := shape.Limits{}.Value([]byte(event))
				if err != nil {
					t.Fatal(err)
				}
				send(t, conn, door, value.Append(nil, enc))
			}
			if got := asJSON(t, receive(t, conn, door)); got != refusal(`"no such call: nothing"`) {
				t.Errorf("%s: the first answer is %s", door, got)
			}
			h.mu.Lock()
			if !slices.Equal(h.lines, want) {
				t.Errorf("%s %s:\n%s\nwant:\n%s", door, enc, strings.Join(h.lines, "\n"), strings.Join(want, "\n"))
			}
			h.mu.Unlock()
		}
	}
}
