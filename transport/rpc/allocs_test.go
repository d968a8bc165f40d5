//go:build !race

package rpc_test

import (
	"context"
	"strings"
	"testing"

	"github.com/kith-wire/kith/internal/alloctest"
	"github.com/kith-wire/kith/transport"
)

// What one typed echo allocates at both ends together: what it does on the family wire, and nothing for the ids, the deadline or the
// method. Whoever changes this number changes what every call costs.
const echoAllocs = 6

// TestAllocations is the guard of that number. The detector of races allocates too, so it is not run under it.
func TestAllocations(t *testing.T) {
	c := benchClient(t)
	got := testing.AllocsPerRun(2000, func() {
		if err := echo(context.Background(), c); err != nil {
			t.Fatal(err)
		}
	})
	if got != echoAllocs {
		t.Errorf("an echo makes %v allocations, and %d are known", got, echoAllocs)
	}
}

// A large text is written into memory that was used before, also where small ones come in between and where it is an argument: all that a
// call makes is what it returns, or what the handler is given.
func TestLargeMemoryIsUsedAgain(t *testing.T) {
	c := benchClient(t)
	large := Said{strings.Repeat("y", len(blob))}
	for name, call := range map[string]func() error{
		"mixed": func() error {
			if err := echo(context.Background(), c); err != nil {
				return err
			}
			_, err := transport.Call[string](context.Background(), c, "bench.blob", map[string]int{"n": len(blob)})
			return err
		},
		"send": func() error {
			_, err := transport.Call[int](context.Background(), c, "bench.size", large)
			return err
		},
	} {
		const most = 3 << 19
		if made := alloctest.Bytes(t, 20, call); made > most {
			t.Errorf("%s makes %d bytes, and %d are enough", name, made, most)
		}
	}
}
