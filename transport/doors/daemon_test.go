package doors_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/internal/reexec"
	"github.com/kith-wire/kith/transport/rpc"
	"github.com/kith-wire/kith/transport/socket"
)

// TestDaemonWire: the same program on both wires, on two sockets at the same time; on the daemon wire its methods are in a namespace of
// its name, or in those that it declares (RPC-5).
func TestDaemonWire(t *testing.T) {
	dir := place(t)
	serve := func(program string, args ...string) (*running, string) {
		cmd := reexec.Command(t, program, append([]string{"serve"}, args...)...)
		cmd.Env = append(cmd.Env, "XDG_RUNTIME_DIR="+dir)
		r := run(t, cmd)
		at := filepath.Join(dir, "prog", map[bool]string{true: "main.sock", false: "daemon.sock"}[len(args) == 0])
		if got, want := r.line(t), `{"event":"listening","at":"`+at+`"}`; got != want {
			t.Fatalf("it said %q, want %q", got, want)
		}
		return r, at
	}
	family, at := serve("prog")
	peer, err := socket.Dial(context.Background(), at, transport.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	if got, err := transport.Call[string](context.Background(), peer, "door"); err != nil || len(got) != 1 || got[0] != "socket" {
		t.Errorf("%v, %v", got, err)
	}
	for program, methods := range map[string]map[string]rpc.Code{
		"prog":   {"prog.door": "", "agent.door": rpc.UnknownMethod, "door": rpc.UnknownMethod},
		"daemon": {"agent.door": "", "channel.door": "", "prog.door": rpc.UnknownMethod},
	} {
		r, at := serve(program, "--wire", "daemon")
		c, err := rpc.Dial(context.Background(), at, transport.Config{})
		if err != nil {
			t.Fatal(err)
		}
		for method, code := range methods {
			rows, err := c.Call(context.Background(), shape.Call{Verb: method})
			var e *shape.Error
			switch {
			case code == "" && err == nil && rows.Len() == 1:
			case code != "" && errors.As(err, &e) && e.Said && rpc.CodeOf(err) == code:
			default:
				t.Errorf("%s: %s: %d rows, %v", program, method, rows.Len(), err)
			}
		}
		c.Close()
		<-c.Done()
		if end := r.stop(t, syscall.SIGTERM); end.Status != 0 || end.Err != "" {
			t.Errorf("%s: exit %d, %q", program, end.Status, end.Err)
		}
	}
	if end := family.stop(t, syscall.SIGTERM); end.Status != 0 {
		t.Errorf("exit %d, %q", end.Status, end.Err)
	}
	os.RemoveAll(filepath.Join(dir, "prog"))
}
