package rpc

import (
	"errors"
	"fmt"

	"github.com/kith-wire/kith/shape"
)

// Code is why a request failed, as the daemon wire writes it (RPC-4). One that is not among these is kept as it came.
type Code string

// The codes there are.
const (
	MalformedFrame Code = "malformed_frame"
	UnknownMethod  Code = "unknown_method"
	InvalidParams  Code = "invalid_params"
	AgentNotFound  Code = "agent_not_found"
	AgentExists    Code = "agent_exists"
	InvalidStatus  Code = "invalid_status"
	Busy           Code = "busy"
	LockTimeout    Code = "lock_timeout"
	SpawnFailed    Code = "spawn_failed"
	ChannelUnknown Code = "channel_unknown"
	Internal       Code = "internal"
	ShuttingDown   Code = "shutting_down"
)

// Fault returns what a request that failed so costs its caller (FAULT-1): Refused where the code is not known.
func (c Code) Fault() shape.Fault {
	switch c {
	case Busy, LockTimeout, ShuttingDown:
		return shape.Unavailable
	case SpawnFailed, Internal:
		return shape.Failed
	case MalformedFrame:
		return shape.Malformed
	}
	return shape.Refused
}

// Errorf makes an error with this code and its fault, for a handler to return: the code goes out on the daemon wire, the fault
// everywhere else. A %w operand is its cause.
func (c Code) Errorf(format string, a ...any) *shape.Error {
	err := fmt.Errorf(format, a...)
	return &shape.Error{Fault: c.Fault(), Code: string(c), Text: err.Error(), Err: errors.Unwrap(err)}
}

// CodeOf returns the code that an error goes out with, or came with: its own, else that of its fault, else [Internal].
func CodeOf(err error) Code {
	var e *shape.Error
	var fault shape.Fault
	switch {
	case errors.As(err, &e) && e.Code != "":
		return Code(e.Code)
	case e != nil:
		fault = e.Fault
	case !errors.As(err, &fault):
		return Internal
	}
	switch fault { // of an error that names no code of its own
	case shape.Refused:
		return InvalidParams
	case shape.Unavailable:
		return Busy
	case shape.Malformed:
		return MalformedFrame
	}
	return Internal
}
