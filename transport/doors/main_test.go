package doors_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/doors"
	"github.com/kith-wire/kith/transport/internal/reexec"
	"github.com/kith-wire/kith/transport/rpc"
	"github.com/kith-wire/kith/transport/transporttest"
)

// TestMain makes this binary the programs of its own tests.
func TestMain(m *testing.M) { reexec.Main(m, programs) }

var programs = map[string]func() int{
	"prog": func() int { doors.Main(program{transporttest.Handler(), nil}); return 98 },
	"only": func() int { return doors.Run(program{transporttest.Handler(), []string{"verbs"}}, os.Args[1:]) },
	"both": func() int { return doors.Run(program{transporttest.Handler(), []string{"serve", "pipe"}}, os.Args[1:]) },
	"daemon": func() int {
		return doors.Run(program{transporttest.Handler(), nil}, os.Args[1:], doors.Daemon(rpc.Options{
			Namespaces: map[string]transport.Handler{"agent": transporttest.Handler(), "channel": program{transporttest.Handler(), nil}},
		}))
	},
	"greeter": func() int { doors.Main(greeter{}); return 98 },
	"busy": func() int { // another goroutine runs, and may print whenever it likes
		go func() { select {} }()
		doors.Main(program{transporttest.Handler(), nil})
		return 98
	},
}

// program is a Program. It answers verbs with a row of the cli for each that it lists, and refuses verbs where there are none.
type program struct {
	transport.Handler
	listed []string
}

func (program) Name() string { return "prog" }

func (p program) Call(ctx context.Context, c shape.Call) (shape.Rows, error) {
	type row struct {
		Verb  string `json:"verb"`
		About string `json:"about"`
		Door  string `json:"door"`
	}
	switch {
	case c.Verb == "verbs" && p.listed != nil:
		var rows []row
		for _, verb := range p.listed {
			rows = append(rows, row{verb, "about " + verb, "cli"}, row{"echo", "for the socket", "socket"})
		}
		return shape.RowsOf(rows...), nil
	case c.Verb == "print":
		fmt.Println("stray")
		child := exec.Command("/bin/sh", "-c", "echo from a child")
		child.Stdout = os.Stdout
		child.Run()
		return shape.Rows{}, nil
	case c.Verb == "hang": // whatever its context does
		time.Sleep(time.Hour)
	case c.Verb == "log":
		fmt.Fprintln(os.Stderr, "a line")
		return shape.RowsOf("logged"), nil
	case c.Verb == "say": // to whoever listens, on every way there is; what has become of each
		runtime.GC()
		runtime.GC() // what is not held on to is closed
		_, out := fmt.Println("one")
		_, errs := fmt.Fprintln(os.Stderr, "two")
		log.SetFlags(0)
		logged := log.Output(1, "three")
		_, first := syscall.Write(1, []byte("four\n"))
		_, second := syscall.Write(2, []byte("five\n"))
		closed := os.Stdout.Close()
		_, after := fmt.Fprintln(os.Stderr, "six")
		var rows []string
		for _, err := range []error{out, errs, logged, first, second, closed, after} {
			rows = append(rows, map[bool]string{true: "EPIPE"}[errors.Is(err, syscall.EPIPE)])
			if err != nil && rows[len(rows)-1] == "" {
				rows[len(rows)-1] = err.Error()
			}
		}
		return shape.RowsOf(rows...), nil
	}
	return p.Handler.Call(ctx, c)
}

const (
	echo   = `{"call":"echo","args":["a"]}`
	echoed = `{"ok":true,"family":1,"n":1,"result":["a"]}`
	cannot = `{"ok":false,"family":1,"n":0,"result":[],"error":"`
)

// running is a program that serves.
type running struct {
	*exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	errs *strings.Builder
}

func run(t *testing.T, cmd *exec.Cmd) *running {
	t.Helper()
	r := &running{Cmd: cmd, errs: &strings.Builder{}}
	cmd.Stderr = r.errs
	var err error
	if r.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.out = bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return r
}

// line reads a line of its stdout, without the end.
func (r *running) line(t *testing.T) string {
	t.Helper()
	s, err := r.out.ReadString('\n')
	if err != nil {
		r.Wait()
		t.Fatalf("its output ended, %v, after %q; stderr %q", err, s, r.errs)
	}
	return strings.TrimSuffix(s, "\n")
}

// end waits for its end.
func (r *running) end() reexec.Result {
	out, _ := io.ReadAll(r.out)
	r.Wait()
	return reexec.Result{Out: string(out), Err: r.errs.String(), Status: r.ProcessState.ExitCode()}
}

// stop sends a signal and waits for the end.
func (r *running) stop(t *testing.T, sig syscall.Signal) reexec.Result {
	t.Helper()
	if err := r.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	return r.end()
}

// place is a directory for sockets, short enough, that must be empty at the end, locks apart.
func place(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "d")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	transporttest.Leaks(t, dir)
	return dir
}

// serve starts `prog serve` at a path of its own, and waits until it says that it listens.
func serve(t *testing.T, flags ...string) (*running, string) {
	t.Helper()
	at := filepath.Join(place(t), "s.sock")
	r := run(t, reexec.Command(t, "prog", append([]string{"serve", "--socket", at}, flags...)...))
	if got, want := r.line(t), `{"event":"listening","at":"`+at+`"}`; got != want {
		t.Fatalf("it said %q, want %q", got, want)
	}
	return r, at
}

func knock(t *testing.T, at string) net.Conn {
	t.Helper()
	conn, err := net.Dial("unix", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// framed is a body behind its length.
func framed(body string) string {
	n := len(body)
	return string([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}) + body
}

// answer reads one frame.
func answer(t *testing.T, conn net.Conn) string {
	t.Helper()
	head := make([]byte, 4)
	if _, err := io.ReadFull(conn, head); err != nil {
		t.Fatal(err)
	}
	body := make([]byte, int(head[0])<<24|int(head[1])<<16|int(head[2])<<8|int(head[3]))
	if _, err := io.ReadFull(conn, body); err != nil {
		t.Fatal(err)
	}
	return string(body)
}
