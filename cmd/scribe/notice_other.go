//go:build !linux

package main

import "time"

// notice tells when a file may have changed: after every interval, for here nothing tells it sooner.
type notice struct{ done chan struct{} }

const interval = 200 * time.Millisecond

func newNotice(string) *notice { return &notice{done: make(chan struct{})} }

// wait returns when the file may have changed; false once the notice is closed.
func (n *notice) wait() bool {
	select {
	case <-n.done:
		return false
	case <-time.After(interval):
		return true
	}
}

func (n *notice) close() { close(n.done) }
