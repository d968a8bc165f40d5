package rpc_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport/rpc"
)

// RPC-4, RPC-6: the table between faults and codes, both ways, and a code of one's own over it.
func TestCodes(t *testing.T) {
	for code, fault := range map[rpc.Code]shape.Fault{
		"malformed_frame": shape.Malformed, "unknown_method": shape.Refused, "invalid_params": shape.Refused, "agent_not_found": shape.Refused,
		"agent_exists": shape.Refused, "invalid_status": shape.Refused, "channel_unknown": shape.Refused, "busy": shape.Unavailable,
		"lock_timeout": shape.Unavailable, "shutting_down": shape.Unavailable, "spawn_failed": shape.Failed, "internal": shape.Failed,
		"of_tomorrow": shape.Refused,
	} {
		err := code.Errorf("why: %w", errors.ErrUnsupported)
		if code.Fault() != fault || !errors.Is(err, fault) || rpc.CodeOf(fmt.Errorf("more: %w", err)) != code || !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v, %#v", code, code.Fault(), err)
		}
	}
	for _, c := range []struct {
		err  error
		code rpc.Code
	}{
		{shape.Refused.Errorf("x"), rpc.InvalidParams},
		{shape.Unavailable.Errorf("x"), rpc.Busy},
		{shape.Failed.Errorf("x"), rpc.Internal},
		{shape.Malformed.Errorf("x"), rpc.MalformedFrame},
		{shape.Refused, rpc.InvalidParams},
		{errors.New("x"), rpc.Internal},
		{shape.Fault("other").Errorf("x"), rpc.Internal},
	} {
		if got := rpc.CodeOf(c.err); got != c.code {
			t.Errorf("%#v: %s, want %s", c.err, got, c.code)
		}
	}
}
