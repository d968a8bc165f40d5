package child

import (
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

const (
	tailSize  = 16 << 10 // bytes of stderr that are kept
	quoteSize = 512      // and of these, what an error quotes
	restSize  = 1 << 20  // the most that a pipe holds
)

// tail keeps the end of what is written to stderr.
type tail struct {
	ended chan struct{} // nobody writes any more
	also  io.Writer     // nil: nobody

	mu  sync.Mutex
	buf []byte
}

// drain reads until the other end is closed, or r's deadline, so that nobody who writes there ever waits.
func (t *tail) drain(r *os.File) {
	defer close(t.ended)
	b := make([]byte, 8<<10)
	for {
		n, err := r.Read(b)
		t.add(b[:n])
		if err != nil {
			return
		}
	}
}

func (t *tail) add(b []byte) {
	t.mu.Lock()
	t.buf = append(t.buf, b...)
	if over := len(t.buf) - tailSize; over > 0 {
		t.buf = t.buf[:copy(t.buf, t.buf[over:])]
	}
	t.mu.Unlock()
	if t.also != nil && len(b) > 0 {
		t.also.Write(b)
	}
}

// finish ends drain: what stands in r is read, and what somebody who left the group may still write there is not waited for.
func (t *tail) finish(r *os.File) {
	t.wait(tailTime)
	r.SetReadDeadline(time.Unix(1, 0))
	<-t.ended
	t.add(Rest(r, restSize))
	r.Close()
}

// Rest reads what r holds now, up to that many bytes. It goes around r's deadline, which must be over, and never waits.
func Rest(r *os.File, limit int) (out []byte) {
	raw, err := r.SyscallConn()
	if err != nil {
		return nil
	}
	raw.Control(func(fd uintptr) {
		for b := make([]byte, 64<<10); len(out) < limit; {
			n, err := unix.Read(int(fd), b[:min(len(b), limit-len(out))])
			switch {
			case err == unix.EINTR:
			case n <= 0:
				return
			default:
				out = append(out, b[:n]...)
			}
		}
	})
	return out
}

// wait waits for the end of stderr, but not longer than that.
func (t *tail) wait(atMost time.Duration) {
	if atMost <= 0 {
		return
	}
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	select {
	case <-t.ended:
	case <-timer.C:
	}
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}

// quote is the end of the tail as an error quotes it: whole lines where one fits, whole runes, and nothing that a terminal obeys.
func (t *tail) quote() string {
	s := strings.TrimSpace(t.text())
	if len(s) > quoteSize {
		s = s[len(s)-quoteSize:]
		if _, lines, cut := strings.Cut(s, "\n"); cut {
			s = lines
		}
		for s != "" && !utf8.RuneStart(s[0]) {
			s = s[1:]
		}
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return utf8.RuneError
		}
		return r
	}, s)
}
