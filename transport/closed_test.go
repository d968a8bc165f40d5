package transport

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/kith-wire/kith/shape"
)

// TestClosedSaysItsCause: the text is spelled out, so that no program pays for it at its start, and is that of its cause.
func TestClosedSaysItsCause(t *testing.T) {
	if want := "the connection is closed: " + os.ErrClosed.Error(); errClosed.Text != want || !errors.Is(errClosed, os.ErrClosed) {
		t.Errorf("%q wraps %v, want %q", errClosed.Text, errClosed.Err, want)
	}
}

// A call that still waits for room when this end says that nothing more comes is refused, for nothing of it has left; those that
// were sent have their replies (CLIENT-6).
func TestCloseWriteRefusesWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, raw := pipe(Config{}, Lines)
		replies := make(chan error)
		call := func() {
			_, err := p.Call(context.Background(), shape.Call{Verb: "a"})
			replies <- err
		}
		for range callsOut {
			go call()
		}
		synctest.Wait()
		go call()
		synctest.Wait()
		p.CloseWrite()
		raw.Write([]byte(strings.Repeat(`{"ok":true,"family":1,"n":0,"result":[]}`+"\n", callsOut)))
		refused := 0
		for range callsOut + 1 {
			err := <-replies
			var e *shape.Error
			switch {
			case errors.As(err, &e) && e.Fault == shape.Refused && !e.Said:
				refused++
			case err != nil:
				t.Errorf("a call that was sent has failed: %v", err)
			}
		}
		if refused != 1 {
			t.Errorf("%d calls were refused", refused)
		}
		raw.Close()
		p.Close()
		<-p.Done()
	})
}
