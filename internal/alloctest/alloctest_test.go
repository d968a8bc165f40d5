package alloctest

import "testing"

var kept []byte

func TestBytes(t *testing.T) {
	const size = 1 << 20
	if got := Bytes(t, 10, func() error {
		kept = make([]byte, size)
		return nil
	}); got < size || got > size+size/2 {
		t.Errorf("making %d bytes is said to make %d", size, got)
	}
	if got := Bytes(t, 10, func() error { return nil }); got > 1<<10 {
		t.Errorf("nothing is said to make %d", got)
	}
}
