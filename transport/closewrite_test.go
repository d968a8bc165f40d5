package transport_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
)

// A call made while this end says that nothing more comes has its reply, or is refused: here the other end hears that and stays.
func TestCloseWriteAgainstCall(t *testing.T) {
	for i := range 2000 {
		near, far := socketPair(t)
		heard := make(chan struct{})
		go func() {
			defer close(heard)
			answers(far, "")
		}()
		p := transport.Connect(context.Background(), near, transport.Lengths, transport.Config{})
		go func() {
			for range i % 50 { // the one comes a little later than the other, or sooner
				runtime.Gosched()
			}
			p.CloseWrite()
		}()
		rows, err := transport.Call[int](context.Background(), p, "echo", i)
		var e *shape.Error
		switch {
		case err == nil && len(rows) == 1 && rows[0] == i:
		case errors.As(err, &e) && e.Fault == shape.Refused && !e.Said:
		default:
			t.Fatalf("%v, %v", rows, err)
		}
		<-heard
		p.Close()
		<-p.Done()
		far.Close()
	}
}
