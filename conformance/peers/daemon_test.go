package peers

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kith-wire/kith/conformance"
	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/rpc"
	"github.com/kith-wire/kith/transport/socket"
)

func as(err error, e **shape.Error) bool { return errors.As(err, e) }

// daemonPeer is the program on the daemon wire.
func daemonPeer(t *testing.T) string {
	t.Helper()
	built(t, "daemon/target/release/daemon-peer")
	path, err := filepath.Abs("daemon/target/release/daemon-peer")
	must(t, err)
	return path
}

// theirs serves theirs until the test ends, which is in order.
func theirs(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "d.sock")
	cmd := exec.Command(daemonPeer(t), "serve", path)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("their daemon: %v", err)
		}
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); !strings.Contains(line, "listening") {
		t.Fatalf("their daemon says %q, %v", line, err)
	}
	return path
}

func ask(method, params string) shape.Call {
	raw, err := shape.Limits{}.Value([]byte(params))
	if err != nil {
		panic(err)
	}
	return shape.Call{Verb: method, Args: shape.NamedArgs(raw)}
}

// TestTheirDaemon: kith is the client of a daemon that somebody else wrote: values, codes, answers out of order, and an upgrade
// (RPC-1 to RPC-4, RPC-7).
func TestTheirDaemon(t *testing.T) {
	path := theirs(t)
	ctx := context.Background()
	c, err := rpc.Dial(ctx, path, transport.Config{})
	must(t, err)
	defer c.Close()
	rows, err := c.Call(ctx, ask("agent.echo", `{"v":`+values+`}`))
	must(t, err)
	want, err := shape.Limits{}.Value([]byte(`{"v":` + values + `}`))
	must(t, err)
	if got := string(rows.Raw(0).Append(nil, shape.JSON)); got != string(want.Append(nil, shape.JSON)) {
		t.Errorf("echo: %s", got)
	}
	for _, code := range []rpc.Code{rpc.AgentNotFound, rpc.LockTimeout, "of_tomorrow"} {
		_, err := c.Call(ctx, ask("agent.fail", fmt.Sprintf(`{"code":%q,"message":"so"}`, code)))
		if e := (*shape.Error)(nil); !as(err, &e) || !e.Said || rpc.CodeOf(err) != code || e.Fault != code.Fault() || e.Text != "so" {
			t.Errorf("%s: %#v", code, err)
		}
	}
	if _, err := c.Call(ctx, ask("nobody.there", `{}`)); rpc.CodeOf(err) != rpc.UnknownMethod {
		t.Errorf("an unknown namespace: %v", err)
	}

	waits := make(chan error, 100)
	for i := range cap(waits) {
		go func() {
			_, err := c.Call(ctx, ask("agent.wait", fmt.Sprintf(`{"gate":"g%d"}`, i)))
			waits <- err
		}()
	}
	for i := cap(waits) - 1; i >= 0; i-- {
		_, err := c.Call(ctx, ask("agent.open", fmt.Sprintf(`{"gate":"g%d"}`, i)))
		must(t, err)
	}
	for range cap(waits) {
		must(t, <-waits)
	}

	_, conn, err := c.Upgrade(ctx, ask("channel.raw", `{}`))
	must(t, err)
	defer conn.Close()
	data := bytes.Repeat([]byte("\x00\xffbytes"), 150_000)
	go func() {
		conn.Write(data)
		conn.(interface{ CloseWrite() error }).CloseWrite()
	}()
	if back, err := io.ReadAll(conn); err != nil || !bytes.Equal(back, data) {
		t.Errorf("of %d bytes %d came back: %v", len(data), len(back), err)
	}
}

// TestTheirDaemonIsRight: it passes the checker's section for its wire.
func TestTheirDaemonIsRight(t *testing.T) {
	conformance.Test(t, "daemon:"+theirs(t), conformance.Options{Wait: 20 * time.Second})
}

// ours serves a Handler on the daemon wire until the test ends.
func ours(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "k.sock")
	handler := transport.HandlerFunc(func(ctx context.Context, call shape.Call) (shape.Rows, error) {
		switch call.Verb {
		case "echo":
			return shape.RowsOf(call.Args.At(0)), nil
		case "fail":
			return shape.Rows{}, rpc.AgentExists.Errorf("it is there")
		case "raw":
			conn, err := rpc.Upgrade(ctx, shape.RowsOf("yours"))
			if err != nil {
				return shape.Rows{}, err
			}
			defer conn.Close()
			io.Copy(conn, conn)
			return shape.Rows{}, nil
		}
		return shape.Rows{}, rpc.UnknownMethod.Errorf("no such verb")
	})
	l, err := socket.Listen(path, socket.Options{Wire: rpc.Options{
		Namespaces: map[string]transport.Handler{"agent": handler, "channel": handler}, Upgrades: []string{"channel.raw"},
	}})
	must(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- l.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		must(t, <-ended)
	})
	return path
}

// TestTheirClient: kith is the daemon of a client that somebody else wrote.
func TestTheirClient(t *testing.T) {
	path := ours(t)
	run := func(stdin string, args ...string) (string, int) {
		cmd := exec.Command(daemonPeer(t), args...)
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.Output()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	if out, status := run("", "call", path, "agent.echo", `{"v":`+values+`}`); status != 0 || !strings.Contains(out, `18446744073709551616`) {
		t.Errorf("exit %d, %s", status, out)
	}
	if out, status := run("", "call", path, "agent.fail", `{}`); status != 1 || !strings.Contains(out, `"agent_exists"`) {
		t.Errorf("exit %d, %s", status, out)
	}
	if out, status := run("", "burst", path, "agent.echo", "20000"); status != 0 || !strings.Contains(out, `"answered":20000`) {
		t.Errorf("exit %d, %s", status, out)
	}
	data := strings.Repeat("0123456789\n", 100_000)
	if out, status := run(data, "upgrade", path, "channel.raw"); status != 0 || out != data {
		t.Errorf("exit %d, %d bytes of %d came back", status, len(out), len(data))
	}
}
