package transport

import (
	"errors"
	"os"
	"testing"
)

// TestClosedSaysItsCause: the text is spelled out, so that no program pays for it at its start, and is that of its cause.
func TestClosedSaysItsCause(t *testing.T) {
	if want := "the connection is closed: " + os.ErrClosed.Error(); errClosed.Text != want || !errors.Is(errClosed, os.ErrClosed) {
		t.Errorf("%q wraps %v, want %q", errClosed.Text, errClosed.Err, want)
	}
}
