package main

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
)

// watch makes the peer one that is told of every new note, whichever process keeps it, until its door closes.
func (b *book) watch(ctx context.Context, _ struct{}) ([]note, error) {
	peer := transport.PeerFrom(ctx)
	if !peer.WayBack() {
		return nil, shape.Refused.Errorf("watch: the wire of this connection carries no events")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.refresh(ctx); err != nil && !errors.Is(err, fs.ErrNotExist) { // what is there already is not new
		return nil, shape.Failed.Errorf("watch: the book cannot be read: %w", err)
	}
	if b.watchers[peer] {
		return nil, nil
	}
	if b.notice == nil {
		b.notice = newNotice(b.path)
		go b.follow(b.notice)
	}
	b.watchers[peer] = true
	context.AfterFunc(ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.unwatch(peer)
	})
	return nil, nil
}

// tell tells the watchers of a new note. It never waits: a peer that is too far behind is closed by its connection, and no
// watcher any more. mu is held.
func (b *book) tell(n note) {
	if len(b.watchers) == 0 {
		return
	}
	event := shape.EventOf("noted", n)
	for peer := range b.watchers {
		if peer.Emit(event) != nil {
			b.unwatch(peer)
		}
	}
}

// unwatch is the end of a watcher, and of following the file where it was the last. mu is held.
func (b *book) unwatch(peer *transport.Peer) {
	delete(b.watchers, peer)
	if len(b.watchers) == 0 && b.notice != nil {
		b.notice.close()
		b.notice = nil
	}
}

// follow reads the file whenever it may have changed. There is one of it in a process, however many watch.
func (b *book) follow(n *notice) {
	var failed string
	for n.wait() {
		b.mu.Lock()
		err := b.catchUp(n)
		b.mu.Unlock()
		switch {
		case err == nil || errors.Is(err, fs.ErrNotExist):
			failed = ""
		case err.Error() != failed: // not again and again
			failed = err.Error()
			complain("watch: the book cannot be read: %v", err)
		}
	}
}

// catchUp reads the file unless a look at it shows that nothing is new. mu is held.
func (b *book) catchUp(n *notice) error {
	if b.notice != n { // nobody watches any more
		return nil
	}
	now, err := os.Stat(b.path)
	if seen := b.page.file; err == nil && seen != nil && os.SameFile(seen, now) &&
		seen.Size() == now.Size() && seen.ModTime().Equal(now.ModTime()) {
		return nil
	}
	return b.refresh(context.Background())
}
