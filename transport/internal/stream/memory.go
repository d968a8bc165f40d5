package stream

import (
	"io"
	"os"
	"sync"
)

// Memory returns the two ends of a stream in memory, which holds as much in each direction as a socket does.
func Memory() (a, b Stream) {
	ab, ba := newHalf(), newHalf()
	return &memory{in: ba, out: ab}, &memory{in: ab, out: ba}
}

// memoryRoom is how many bytes one direction holds.
const memoryRoom = 208 << 10

// half is one direction.
type half struct {
	mu          sync.Mutex
	change      sync.Cond
	b           []byte
	ended       bool // nothing more is written
	dropped     bool // nothing more is read
	interrupted bool
}

func newHalf() *half {
	h := new(half)
	h.change.L = &h.mu
	return h
}

type memory struct{ in, out *half }

func (m *memory) ReadNext(room Room) (int, error) {
	h := m.in
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.b) == 0 && !h.ended && !h.dropped && !h.interrupted {
		h.change.Wait()
	}
	if h.interrupted && !h.dropped {
		h.interrupted = false
		return 0, ErrInterrupted
	}
	return h.take(room.Room())
}

// take reads what is there; the half is locked.
func (h *half) take(p []byte) (int, error) {
	switch {
	case h.dropped:
		return 0, os.ErrClosed
	case len(h.b) > 0:
		n := copy(p, h.b)
		h.b = h.b[:copy(h.b, h.b[n:])]
		h.change.Broadcast()
		return n, nil
	case h.ended:
		return 0, io.EOF
	}
	return 0, nil
}

func (m *memory) TryRead(p []byte) (int, error) {
	m.in.mu.Lock()
	defer m.in.mu.Unlock()
	return m.in.take(p)
}

// put writes what fits; the half is locked.
func (h *half) put(p []byte) (int, error) {
	switch {
	case h.ended:
		return 0, os.ErrClosed
	case h.dropped:
		return 0, io.ErrClosedPipe
	}
	n := min(len(p), memoryRoom-len(h.b))
	h.b = append(h.b, p[:n]...)
	if n > 0 {
		h.change.Broadcast()
	}
	return n, nil
}

func (m *memory) TryWrite(p []byte) (int, error) {
	m.out.mu.Lock()
	defer m.out.mu.Unlock()
	return m.out.put(p)
}

func (m *memory) WriteSome(p []byte) (int, error) {
	h := m.out
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		if n, err := h.put(p); n > 0 || err != nil {
			return n, err
		}
		h.change.Wait()
	}
}

func (m *memory) Interrupt()        { m.in.set(&m.in.interrupted) }
func (m *memory) CloseWrite() error { m.out.set(&m.out.ended); return nil }

func (h *half) set(flag *bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	*flag = true
	h.change.Broadcast()
}

func (m *memory) Gone() bool { return m.in.is(&m.in.ended) && m.out.is(&m.out.dropped) }

func (h *half) is(flag *bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return *flag
}

func (m *memory) Close() error {
	m.in.set(&m.in.dropped)
	m.out.set(&m.out.ended)
	return nil
}

// Read and Write make it an io.ReadWriteCloser.
func (m *memory) Read(p []byte) (int, error)  { return m.ReadNext(fixed(p)) }
func (m *memory) Write(p []byte) (int, error) { return writeAll(m, p) }

// writeAll writes all of p, waiting as it must.
func writeAll(s Stream, p []byte) (done int, err error) {
	for done < len(p) {
		n, err := s.WriteSome(p[done:])
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}
