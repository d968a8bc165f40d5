package transport

import (
	"context"

	"github.com/kith-wire/kith/shape"
)

// Handler answers calls and takes events, whichever door they come through.
//
// Call's rows or its error become the one reply: an error is a refusal whose fault is found by errors.As (none: failed), and
// a panic is a failed one. The call's bytes are the connection's and good until Call returns; the rows may alias them.
// Calls and events of one connection come one at a time, in the order they were sent; connections run at the same time. On the
// daemon wire calls of one connection run at the same time too, up to InFlight of package rpc's Options. ctx
// carries the [Peer] that asks; it ends when the connection is gone both ways or the program must stop, and not when the peer
// has merely finished sending (CLIENT-7).
type Handler interface {
	Call(ctx context.Context, call shape.Call) (shape.Rows, error) // somebody is waiting
	Event(ctx context.Context, event shape.Event)                  // nobody is
}

// HandlerFunc is a [Handler] that answers calls and drops events. A proxy is HandlerFunc(peer.Call).
type HandlerFunc func(context.Context, shape.Call) (shape.Rows, error)

// Call calls f.
func (f HandlerFunc) Call(ctx context.Context, call shape.Call) (shape.Rows, error) {
	return f(ctx, call)
}

// Event drops the event.
func (f HandlerFunc) Event(context.Context, shape.Event) {}

// Caller is whoever can be called: a [Peer], or a program that is run once per call.
type Caller interface {
	Call(context.Context, shape.Call) (shape.Rows, error)
}

// Door is a way in to a program.
type Door uint8

const (
	CLI    Door = iota // run once per call
	Pipe               // held by its parent
	Socket             // knocked on
)

// String returns the WIRE word: cli, pipe or socket.
func (d Door) String() string {
	switch d {
	case Pipe:
		return "pipe"
	case Socket:
		return "socket"
	}
	return "cli"
}

// Cred is who the kernel says is at the other end (SOCK-4). Nothing in a message can claim it.
type Cred struct{ UID, GID, PID int }
