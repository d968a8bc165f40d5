package version_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/kith-wire/kith/version"
)

// VER-1: newer is refused by name, the same and older are accepted, and so is 0, which is a peer that does not say.
func TestGate(t *testing.T) {
	for _, got := range []uint64{0, 1} {
		if err := version.Gate("scribe", "family", got, 1); err != nil {
			t.Errorf("family %d: %v", got, err)
		}
	}
	for _, got := range []uint64{2, 1<<64 - 1} {
		err := version.Gate("scribe", "surface", got, 1)
		var newer *version.TooNew
		if !errors.As(err, &newer) || *newer != (version.TooNew{Peer: "scribe", Kind: "surface", Got: got, Upto: 1}) {
			t.Errorf("surface %d: %v", got, err)
		}
	}
}

func ExampleGate() {
	fmt.Println(version.Gate("scribe", "family", 2, version.Family))
	fmt.Println(version.Gate("scribe", "family", 1, version.Family))
	// Output:
	// scribe speaks family 2 and this program reads up to 1
	// <nil>
}
