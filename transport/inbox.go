package transport

// inboxCount bounds the messages that have been read and not been served (LIMIT-5).
const inboxCount = 1024

// inboxKeep is for how many messages room is kept, until the connection rests.
const inboxKeep = 256

// inbox holds what has been read for the handler, in the order it came.
type inbox struct {
	items []item
	head  int
	bytes int
}

func (b *inbox) len() int { return len(b.items) - b.head }

// full reports whether no more is to be read for now: at most one frame and what one read brings lies beyond it.
func (b *inbox) full(frame int) bool { return b.len() >= inboxCount || b.bytes >= frame }

func (b *inbox) push(it item) {
	if b.head > 0 && len(b.items) == cap(b.items) { // use the room in front before growing
		n := copy(b.items, b.items[b.head:])
		clear(b.items[n:])
		b.items, b.head = b.items[:n], 0
	}
	b.items = append(b.items, it)
	b.bytes += it.size
}

func (b *inbox) pop() item {
	it := b.items[b.head]
	b.items[b.head] = item{}
	b.head++
	b.bytes -= it.size
	if b.head == len(b.items) {
		b.items, b.head = b.items[:0], 0
		if cap(b.items) > inboxKeep {
			b.items = nil
		}
	}
	return it
}

func (b *inbox) clear() {
	for b.len() > 0 {
		it := b.pop()
		it.from.Release()
	}
}

// within reports whether a call waits that the peer made from inside a handler.
func (b *inbox) within() bool {
	for i := b.head; i < len(b.items); i++ {
		if it := &b.items[i]; it.bad == nil && it.msg.IsCall() && isWithin(it.msg.Call) {
			return true
		}
	}
	return false
}
