package transport

import (
	"fmt"
	"os"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport/internal/frame"
)

// Framing says how messages are told apart in a stream of bytes.
type Framing uint8

const (
	Lines   = Framing(frame.Lines)     // one JSON object a line (PIPE-1)
	Lengths = Framing(frame.BigEndian) // four bytes of big-endian length, then that many (SOCK-1)
)

// Config is how a connection behaves. The zero value is a connection that calls and answers nothing.
type Config struct {
	Handler  Handler         // answers what comes; nil: calls are refused, events dropped
	Door     Door            // the door this connection is
	Name     string          // the peer, as errors name it
	Cred     *Cred           // who the kernel says the peer is; nil: it does not say
	PIDFD    func() *os.File // opens a descriptor of the peer's process, the connection's to close, or returns nil; nil: there is none
	Encoding shape.Encoding  // what calls are written in, and events until the peer has called in another; Lines: always JSON
	Limits   shape.Limits    // of what is read and written; Frame defaults to 16 MiB for Lines, 1 MiB for Lengths
	Stall    time.Duration   // a started frame and a write that moves nothing end within it; default 30 s, below 0 never (SOCK-5)
	Timeout  time.Duration   // a call without a deadline of its own ends within it; default 30 s, below 0 never (CLIENT-4)

	// Log is told what nobody can be answered: a handler's stack, a dropped event. Default: a line on stderr.
	Log func(text string)
	// Ended is called once Done is closed, so that nobody needs a goroutine that waits for it. It must not wait, and [Peer.Close] may
	// be what calls it.
	Ended func()
	// Explain words why the connection ended, before those who wait are told. It may wait a little, and must return.
	Explain func(cause error) error
}

const (
	defaultStall       = 30 * time.Second
	defaultCallTimeout = 30 * time.Second
	frameLengths       = 1 << 20
)

// logTo tells log, by default a line on stderr.
func logTo(log func(string), format string, a ...any) {
	text := fmt.Sprintf(format, a...)
	if log == nil {
		os.Stderr.WriteString(text + "\n")
		return
	}
	log(text)
}
