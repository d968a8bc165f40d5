package verbs_test

import (
	"context"
	"testing"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/verbs"
)

// BenchmarkCall is a typed call from its admitted bytes to its rows: three arguments bound, one row made.
func BenchmarkCall(b *testing.B) {
	set := verbs.New("p", 1)
	type args struct {
		N    int
		Text string
		On   bool
	}
	verbs.Add(set, "echo", "its arguments", func(_ context.Context, a args) ([]args, error) { return []args{a}, nil })
	msg, err := shape.Limits{}.Read([]byte(`{"call":"echo","args":[7,"some text",true]}`), "")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := set.Call(context.Background(), msg.Call); err != nil {
			b.Fatal(err)
		}
	}
}
