package rpc

import (
	"fmt"
	"io"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport/internal/frame"
)

// The four ways in which a frame fails (RPC-1), for errors.As: each is the cause of the *shape.Error that a call returns.

// TooLarge is a frame that is over the cap: it was neither read nor written.
type TooLarge struct{ Size, Cap int } // bytes of JSON

func (e *TooLarge) Error() string {
	return fmt.Sprintf("a frame of %d bytes is over the cap of %d", e.Size, e.Cap)
}

// MalformedJSON is a frame that holds no JSON, or JSON that is neither request nor response.
type MalformedJSON struct{ Err error }

func (e *MalformedJSON) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong with it.
func (e *MalformedJSON) Unwrap() error { return e.Err }

// EndOfStream is the end of what the other end sends. It is io.EOF, and where it cut a frame io.ErrUnexpectedEOF too.
type EndOfStream struct {
	Got  int // bytes of the frame that was cut, its header of four included; 0: it came between frames
	Size int // bytes that its header announced; 0 where the header itself was cut
}

func (e *EndOfStream) Error() string {
	switch {
	case e.Got == 0:
		return "the stream ended"
	case e.Size == 0:
		return fmt.Sprintf("the stream ended %d bytes into a frame's header of 4", e.Got)
	}
	return fmt.Sprintf("the stream ended %d bytes into a frame of %d", e.Got-4, e.Size)
}

// Is reports io.EOF, and io.ErrUnexpectedEOF where a frame was cut.
func (e *EndOfStream) Is(target error) bool {
	return target == io.EOF || e.Got > 0 && target == io.ErrUnexpectedEOF
}

// IOError is a read or a write that failed.
type IOError struct{ Err error }

func (e *IOError) Error() string { return e.Err.Error() }

// Unwrap returns the system's error.
func (e *IOError) Unwrap() error { return e.Err }

// badFrame is what is wrong with a frame that was read, by its type.
func badFrame(f frame.Frame, limit int) *shape.Error {
	bad := *f.Bad
	bad.Err = &MalformedJSON{f.Bad}
	if f.Size > 0 {
		bad.Err = &TooLarge{f.Size, limit}
	}
	return &bad
}
