//go:build !race

package shape_test

import (
	"testing"

	"github.com/kith-wire/kith/shape"
)

// Reading the envelope of a call or a reply makes nothing: the verb is one that was called before, and all else is a part of the
// frame. The detector of races allocates too, so it is not run under it.
func TestEnvelopeMakesNothing(t *testing.T) {
	call := shape.Call{Verb: "echo", Args: shape.ListArgs("text", 7)}
	rows := shape.RowsOf("text", "more")
	for _, enc := range []shape.Encoding{shape.JSON, shape.CBOR} {
		asked, err := call.Append(nil, enc, shape.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for _, frame := range [][]byte{asked, rows.AppendReply(nil, enc, shape.Limits{}, nil)} {
			if made := testing.AllocsPerRun(100, func() {
				if _, err := (shape.Limits{}).Read(frame, "peer"); err != nil {
					t.Fatal(err)
				}
			}); made > 0 {
				t.Errorf("%v: reading %q makes %v things", enc, frame, made)
			}
		}
	}
}
