package buffers

import (
	"testing"
	"testing/synctest"
	"time"
)

// What is given back is used again, by whoever needs no more than it has, and nothing is held without bound or for long.
func TestBuffers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mu.Lock()
		free, held, timed = nil, 0, false
		mu.Unlock()
		b := Get(1 << 20)
		if len(b) != 0 || cap(b) < 1<<20 {
			t.Fatalf("%d of %d bytes", len(b), cap(b))
		}
		mine := &b[:1][0]
		Put(b)
		if c := Get(Least); &c[:1][0] != mine {
			t.Error("it was not used again")
		}
		Put(b)
		if c := Get(2 << 20); &c[:1][0] == mine || cap(c) < 2<<20 {
			t.Error("one that is too small was used")
		}
		Put(make([]byte, Least-1))
		Put(make([]byte, most+1))
		for range 2 * kept {
			Put(make([]byte, 8<<20))
		}
		if mu.Lock(); len(free) > kept || held > most {
			t.Errorf("%d buffers of %d bytes are held", len(free), held)
		}
		mu.Unlock()
		time.Sleep(3 * rest)
		synctest.Wait()
		if mu.Lock(); len(free) > 0 || held > 0 {
			t.Errorf("%d buffers are held after a rest", len(free))
		}
		mu.Unlock()
		if c := Get(Least); cap(c) < Least {
			t.Error("none is made")
		}
	})
}

// What grows by little steps moves seldom, and what is there moves with it.
func TestRoom(t *testing.T) {
	var b []byte
	moves := 0
	for i := range 8 << 20 {
		before := cap(b)
		b = append(Room(b, 1), byte(i>>16))
		if cap(b) != before {
			moves++
		}
	}
	if moves > 50 {
		t.Errorf("%d bytes moved %d times", len(b), moves)
	}
	for i, c := range b {
		if c != byte(i>>16) {
			t.Fatalf("byte %d became %d", i, c)
		}
	}
	if small := Room([]byte("some"), 100); string(small) != "some" || cap(small) < 104 {
		t.Errorf("%q with room for %d", small, cap(small))
	}
}
