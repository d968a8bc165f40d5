package child

import (
	"os"
	"strings"
	"testing"
)

// filled is a tail that a child has written text to.
func filled(t *testing.T, text string) *tail {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	tail := &tail{ended: make(chan struct{})}
	go tail.drain(r)
	w.WriteString(text)
	w.Close()
	tail.finish(r)
	return tail
}

// TestTail: no more than the end is kept, and an error quotes no more than the end of that: whole lines, whole runes, and nothing a
// terminal obeys (PIPE-4, ENC-5).
func TestTail(t *testing.T) {
	long := strings.Repeat("line\n", 10_000)
	for _, c := range []struct{ text, quote string }{
		{"", ""},
		{"  \n", ""},
		{"one\ntwo\n", "one\ntwo"},
		{"\x1b[31mred\x07\n", "\uFFFD[31mred\uFFFD"},
		{"a\xffb", "a\uFFFDb"},
		{long + "last", strings.Repeat("line\n", 101) + "last"},
		{strings.Repeat("é", 1000) + "!", strings.Repeat("é", 255) + "!"},
	} {
		tail := filled(t, c.text)
		if got := tail.quote(); got != c.quote {
			t.Errorf("%.20q…: quoted as %q", c.text, got)
		}
		if want := c.text[max(0, len(c.text)-tailSize):]; tail.text() != want {
			t.Errorf("%.20q…: kept are %d bytes, want %d", c.text, len(tail.text()), len(want))
		}
	}
}

// TestFinish: what stands in a pipe that somebody else holds open is read, and no more is waited for.
func TestFinish(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	tail := &tail{ended: make(chan struct{})}
	w.WriteString("before ")
	go tail.drain(r)
	w.WriteString("and after")
	tail.finish(r)
	if got := tail.text(); got != "before and after" {
		t.Errorf("kept: %q", got)
	}
}
