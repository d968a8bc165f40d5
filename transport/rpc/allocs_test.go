//go:build !race

package rpc_test

import (
	"context"
	"testing"
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
