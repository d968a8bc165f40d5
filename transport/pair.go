package transport

import (
	"context"

	"github.com/kith-wire/kith/transport/internal/stream"
)

// Pair connects two handlers in memory: toB calls b, and toA calls a. Either may be nil.
func Pair(a, b Handler) (toB, toA *Peer) {
	atA, atB := stream.Memory()
	ctx := context.Background()
	toB = Connect(ctx, atA, Lengths, Config{Handler: a, Door: Socket, Name: "b"})
	toA = Connect(ctx, atB, Lengths, Config{Handler: b, Door: Socket, Name: "a"})
	return toB, toA
}
