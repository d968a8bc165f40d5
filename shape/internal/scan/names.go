package scan

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
)

// names finds duplicate keys (ENC-4). It holds the names of every open map, those of the innermost last, so that closing a
// map only cuts. A few are compared one by one; the names of a larger map get a hash table, which lies on a stack in the
// same way. The hash is seeded, so nobody can choose names that collide.
type names struct {
	list  []name
	text  []byte   // names that do not stand in the message as they are
	slots []uint64 // of each open map with more than few names: the high half of the hash, and 1 + the index of the name
}

// name is where one name stands: in the message, or from ^at on in text when at is negative.
type name struct {
	head uint64 // its first eight bytes, 0 behind the end
	at   int
	n    int // bytes
}

// mark is where the names of one map begin.
type mark struct{ list, text, slots int }

// few names are found faster one by one than by their hash.
const few = 16

var seed = maphash.MakeSeed()

func (s *names) mark() mark { return mark{len(s.list), len(s.text), len(s.slots)} }

func (s *names) cut(m mark) {
	s.list, s.text, s.slots = s.list[:m.list], s.text[:m.text], s.slots[:m.slots]
}

func (s *names) reset() { s.cut(mark{}) }

// size is about how many bytes of scratch space are held.
func (s *names) size() int { return 24*cap(s.list) + cap(s.text) + 8*cap(s.slots) }

// inside makes the name of the n bytes of b at a place.
func inside(b []byte, at, n int) name {
	if at+8 > len(b) {
		return name{head: head(b[at : at+n]), at: at, n: n}
	}
	v := binary.LittleEndian.Uint64(b[at:])
	if n < 8 {
		v &= 1<<(8*n) - 1
	}
	return name{head: v, at: at, n: n}
}

// outside makes the name of what has been appended to text from a place on.
func (s *names) outside(at int) name {
	text := s.text[at:]
	return name{head: head(text), at: ^at, n: len(text)}
}

func head(text []byte) uint64 {
	var v [8]byte
	copy(v[:], text)
	return binary.LittleEndian.Uint64(v[:])
}

func (s *names) bytes(b []byte, n name) []byte {
	if n.at < 0 {
		return s.text[^n.at:][:n.n:n.n]
	}
	return b[n.at:][:n.n:n.n]
}

// same tells whether two names are one.
func (s *names) same(b []byte, x, y name) bool {
	return x.head == y.head && x.n == y.n && (x.n <= 8 || bytes.Equal(s.bytes(b, x), s.bytes(b, y)))
}

// add takes a name of the innermost map, whose names begin at m, and says whether the map has it already.
func (s *names) add(b []byte, m mark, n name) (duplicate bool) {
	own := s.list[m.list:]
	if len(own) >= few {
		return s.addMany(b, m, n)
	}
	for i := range own {
		if own[i].head == n.head && s.same(b, own[i], n) {
			return true
		}
	}
	s.list = append(s.list, n)
	return false
}

func (s *names) addMany(b []byte, m mark, n name) (duplicate bool) {
	own := s.list[m.list:]
	switch size := len(s.slots) - m.slots; {
	case size == 0:
		s.slots = grow(s.slots, 4*few)
		for i := range own {
			put(s.slots[m.slots:], maphash.Bytes(seed, s.bytes(b, own[i])), i)
		}
	case 2*len(own) >= size:
		s.rehash(b, m)
	}
	slots := s.slots[m.slots:]
	sum := maphash.Bytes(seed, s.bytes(b, n))
	for i := sum; ; i++ {
		slot := slots[i&uint64(len(slots)-1)]
		if slot == 0 {
			break
		}
		if slot>>32 == sum>>32 && s.same(b, own[uint32(slot)-1], n) {
			return true
		}
	}
	put(slots, sum, len(own))
	s.list = append(s.list, n)
	return false
}

// rehash makes the innermost map's table four times as large.
func (s *names) rehash(b []byte, m mark) {
	size := 4 * (len(s.slots) - m.slots)
	s.slots = grow(s.slots[:m.slots], size)
	own := s.list[m.list:]
	for i := range own {
		put(s.slots[m.slots:], maphash.Bytes(seed, s.bytes(b, own[i])), i)
	}
}

// put enters the name of an index in a table, which has room; its length is a power of two.
func put(slots []uint64, sum uint64, index int) {
	mask := uint64(len(slots) - 1)
	i := sum & mask
	for slots[i] != 0 {
		i = (i + 1) & mask
	}
	slots[i] = sum>>32<<32 | uint64(uint32(index+1))
}

// grow appends n empty slots.
func grow(slots []uint64, n int) []uint64 {
	at := len(slots)
	if cap(slots)-at < n {
		slots = append(make([]uint64, 0, 2*at+n), slots...)
	}
	slots = slots[:at+n]
	clear(slots[at:])
	return slots
}
