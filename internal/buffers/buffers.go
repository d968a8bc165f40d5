// Package buffers keeps the few large buffers that a program uses again and again, for a moment and not for ever. A sync.Pool would
// lose them at every collection, and large messages make collections frequent; touching fresh memory costs more than filling it.
package buffers

import (
	"slices"
	"sync"
	"time"
)

const (
	// Least is the size from which on a buffer is kept here; smaller ones are cheap to make.
	Least = 64 << 10
	most  = 32 << 20 // bytes that are kept at most
	kept  = 8        // buffers that are kept at most
	rest  = time.Second
)

var (
	mu    sync.Mutex
	free  [][]byte // the one used last is the last
	held  int      // bytes in free
	used  bool     // since sweep looked
	timed bool     // sweep will look
)

// Get returns an empty buffer with room for size bytes or more. What stood in it is garbage.
func Get(size int) []byte {
	if b := Kept(size); b != nil {
		return b
	}
	if size >= Least { // whole steps, so that it does for the next one of about this size
		size = (size + Least - 1) / Least * Least
	}
	return make([]byte, 0, size)
}

// Room returns b with room for n bytes more: b itself where it has that, else a copy, in a kept buffer where it is large. However often
// that is asked for, the copies take time in proportion to what is there in the end. b stays its holder's.
func Room(b []byte, n int) []byte {
	switch size := len(b) + n; {
	case size <= cap(b):
		return b
	case size < Least:
		return slices.Grow(b, n)
	default:
		return append(Get(max(size, cap(b)+cap(b)/2)), b...)
	}
}

// Kept is Get where a buffer of that size is kept, and nil where it would have to be made.
func Kept(size int) []byte {
	if size < Least {
		return nil
	}
	mu.Lock()
	defer mu.Unlock()
	used = true
	for i := len(free) - 1; i >= 0; i-- {
		if b := free[i]; cap(b) >= size {
			free = append(free[:i], free[i+1:]...)
			held -= cap(b)
			return b[:0]
		}
	}
	return nil
}

// Put gives a buffer back that nobody uses any more, whoever made it.
func Put(b []byte) {
	size := cap(b)
	if size < Least || size > most {
		return
	}
	mu.Lock()
	defer mu.Unlock()
	for len(free) > 0 && (len(free) == kept || held+size > most) {
		held -= cap(free[0])
		free = append(free[:0], free[1:]...)
	}
	free = append(free, b)
	held += size
	used = true
	if !timed {
		timed = true
		time.AfterFunc(rest, sweep)
	}
}

// sweep lets all of them go once nobody has used one for a while.
func sweep() {
	mu.Lock()
	defer mu.Unlock()
	if used {
		used = false
		time.AfterFunc(rest, sweep)
		return
	}
	timed = false
	clear(free)
	free, held = free[:0], 0
}
