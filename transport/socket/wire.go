package socket

import (
	"context"
	"encoding/binary"
	"net"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
)

// Wire is what is spoken on a socket: path, lock, credentials, limits and shutdown are the same for each. The family wire is the
// default; rpc.Options is the other one.
type Wire interface {
	// Check says what is wrong with the options of the wire: it cannot be served. It is asked before anything listens.
	Check() error
	// Serve serves one connection, which is its to close, and returns at once. cfg names the peer and says who it is. Once the
	// connection is closed and no handler of it runs, cfg.Ended is called, perhaps by Close and never
	// by Serve or End.
	Serve(ctx context.Context, conn net.Conn, cfg transport.Config) Session
	// Refuse is all that a caller is sent who is not served, and why says why.
	Refuse(why error) []byte
}

// Session is one connection that is served; a [transport.Peer] is one.
type Session interface {
	// End answers what has arrived, and then closes. It returns at once.
	End(cause error)
	// Close closes at once.
	Close() error
}

// family is the wire of calls, replies and events.
type family struct{}

func (family) Check() error { return nil }

func (family) Serve(ctx context.Context, conn net.Conn, cfg transport.Config) Session {
	return transport.Connect(ctx, conn, transport.Lengths, cfg)
}

// Refuse writes JSON: no byte of the caller's was read (ENC-2).
func (family) Refuse(why error) []byte {
	frame := shape.Rows{}.AppendReply(make([]byte, 4), shape.JSON, shape.Limits{}, why)
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
	return frame
}
