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

// faults is the table from code to fault: what a request that failed so costs its caller (FAULT-1).
var faults = map[Code]shape.Fault{
	MalformedFrame: shape.Malformed,
	UnknownMethod:  shape.Refused,
	InvalidParams:  shape.Refused,
	AgentNotFound:  shape.Refused,
	AgentExists:    shape.Refused,
	InvalidStatus:  shape.Refused,
	ChannelUnknown: shape.Refused,
	Busy:           shape.Unavailable,
	LockTimeout:    shape.Unavailable,
	ShuttingDown:   shape.Unavailable,
	SpawnFailed:    shape.Failed,
	Internal:       shape.Failed,
}

// codes is the way back, for an error that names no code of its own. An error of a Handler is never malformed: see [transport.Handler].
var codes = map[shape.Fault]Code{
	shape.Refused:     InvalidParams,
	shape.Unavailable: Busy,
	shape.Failed:      Internal,
	shape.Malformed:   MalformedFrame,
}

// Fault returns what the code costs the caller: Refused where it is not known.
func (c Code) Fault() shape.Fault {
	if fault, known := faults[c]; known {
		return fault
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
	if code, known := codes[fault]; known {
		return code
	}
	return Internal
}
