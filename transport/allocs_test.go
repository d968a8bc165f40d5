//go:build !race

package transport_test

import (
	"context"
	"strings"
	"testing"

	"github.com/kith-wire/kith/internal/alloctest"
	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/verbs"
)

// What one typed echo allocates at both ends together. The caller: its argument and the list it stands in, the row with its slice, and
// the text in it. The handler's side: the text of its argument, and the slice that the handler returns. Whoever changes this number changes
// what every call costs.
const echoAllocs = 6

// TestAllocations is the guard of that number. The detector of races allocates too, so it is not run under it.
func TestAllocations(t *testing.T) {
	set := verbs.New("guard", 1)
	verbs.Add(set, "echo", "say it again", func(_ context.Context, s Said) ([]Said, error) { return []Said{s}, nil })
	text := strings.Clone(echoText) // no constant, whose interface value the compiler would have ready
	for _, enc := range []shape.Encoding{shape.JSON, shape.CBOR} {
		near, far := socketPair(t)
		served := transport.Connect(context.Background(), far, transport.Lengths, transport.Config{Handler: set})
		c := transport.Connect(context.Background(), near, transport.Lengths, transport.Config{Encoding: enc})
		got := testing.AllocsPerRun(2000, func() {
			rows, err := transport.Call[Said](context.Background(), c, "echo", text)
			if err != nil || len(rows) != 1 || rows[0].Text != text {
				t.Fatalf("%v, %v", rows, err)
			}
		})
		if got != echoAllocs {
			t.Errorf("%v: an echo makes %v allocations, and %d are known", enc, got, echoAllocs)
		}
		c.Close()
		<-c.Done()
		<-served.Done()
	}
}

// What is large is written into memory that was used before, whatever was written in between: all that a call makes is what it returns,
// or what the handler is given.
func TestLargeMemoryIsUsedAgain(t *testing.T) {
	for _, enc := range []shape.Encoding{shape.JSON, shape.CBOR} {
		l := newLarge(t, enc)
		for name, call := range map[string]func() error{"mixed": l.mixed, "send": l.send} {
			const most = 3 << 19
			if made := alloctest.Bytes(t, 20, call); made > most {
				t.Errorf("%v: %s makes %d bytes, and %d are enough", enc, name, made, most)
			}
		}
		l.close()
	}
}
