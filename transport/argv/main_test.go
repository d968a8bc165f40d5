package argv_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/argv"
	"github.com/kith-wire/kith/transport/internal/reexec"
	"github.com/kith-wire/kith/transport/transporttest"
)

// TestMain makes this binary the programs of its own tests.
func TestMain(m *testing.M) { reexec.Main(m, programs) }

// programs are what a test runs. Those below the first are written by hand, with no code of kith.
var programs = map[string]func() int{
	"prog": func() int {
		return argv.Run(context.Background(), handler{transporttest.Handler()}, argv.Options{Name: "prog"})
	},

	"slow": func() int { // says that it is about to read its stdin
		os.Stderr.WriteString("up\n")
		return argv.Run(context.Background(), handler{transporttest.Handler()}, argv.Options{})
	},

	"greeter": func() int {
		return argv.Run(context.Background(), transport.HandlerFunc(greet), argv.Options{})
	},

	"says": func() int { // what it was asked, and its stdin, as rows
		in, _ := io.ReadAll(os.Stdin)
		fmt.Printf("{\"ok\":true,\"family\":1,\"n\":2,\"result\":[%q,%q]}\n", strings.Join(os.Args[1:], " "), in)
		return 0
	},
	"prints": func() int { fmt.Print(os.Getenv("PRINT")); return 0 },
	"silent": func() int { fmt.Fprintln(os.Stderr, "no words"); return 3 },
	"dies": func() int {
		fmt.Fprintln(os.Stderr, "the reason")
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		return 0
	},
	"noisy": func() int {
		os.Stderr.WriteString(strings.Repeat("noise\n", 1<<20/6))
		fmt.Print(good)
		return 0
	},
	"endless": func() int {
		for {
			if _, err := os.Stdout.WriteString(strings.Repeat("x", 1<<16)); err != nil {
				return 1
			}
		}
	},
	"hangs": func() int { leaveChild(nil); return forever() },
	"daemon": func() int { // its reply is whole, and somebody in another session holds its stdout open
		leaveChild(&syscall.SysProcAttr{Setsid: true})
		fmt.Print(good)
		return 0
	},
	"lingers": func() int { // its reply is whole and its stdout closed, and it does not end
		fmt.Print(good)
		os.Stdout.Close()
		return forever()
	},
	"sleeps": forever,
}

func forever() int { time.Sleep(time.Hour); return 0 }

const good = `{"ok":true,"family":1,"n":1,"result":["good"]}` + "\n"

// leaveChild starts a process that has our stdout and stderr and writes both pids to $PIDS.
func leaveChild(attr *syscall.SysProcAttr) {
	cmd := exec.Command(reexec.Self())
	cmd.Env = reexec.Env("sleeps")
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = os.Stdout, os.Stderr, attr
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	path := os.Getenv("PIDS")
	os.WriteFile(path+".new", fmt.Appendf(nil, "%d %d", os.Getpid(), cmd.Process.Pid), 0o600)
	os.Rename(path+".new", path)
}

// handler is that of the suite with what the cli alone has.
type handler struct{ transport.Handler }

type verbRow struct {
	Verb  string   `json:"verb"`
	About string   `json:"about"`
	Door  string   `json:"door"`
	Args  []argRow `json:"args,omitempty"`
}

type argRow struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Optional bool   `json:"optional,omitempty"`
	Rest     bool   `json:"rest,omitempty"`
}

// badRow cannot be written: it panics when it is.
type badRow struct{ A int }

func (badRow) MarshalText() ([]byte, error)  { panic("no row") }
func (*badRow) UnmarshalText(_ []byte) error { return nil }

func (h handler) Call(ctx context.Context, c shape.Call) (shape.Rows, error) {
	switch c.Verb {
	case "verbs":
		return shape.RowsOf(
			verbRow{"add", "add numbers", "cli", []argRow{{"first", "int", false, false}, {"more", "int", true, true}}},
			verbRow{"say", "say it", "cli", []argRow{{"text", "text", false, false}, {"how", "map", true, false}}},
			verbRow{"watch", "for others", "socket", nil},
		).WithSurface(3), nil
	case "client":
		return shape.RowsOf("import this\n"), nil
	case "add":
		sum := 0
		for i, arg := range c.Args.All() {
			n := 0
			if err := arg.Decode(&n); err != nil {
				return shape.Rows{}, shape.Refused.Errorf("add: argument %d%w", i, err)
			}
			sum += n
		}
		return shape.RowsOf(sum), nil
	case "print":
		fmt.Println("stray")
		os.Stdout.WriteString("print\n")
		child := exec.Command("/bin/sh", "-c", "echo from a child")
		child.Stdout = os.Stdout
		child.Run()
		printing := make(chan struct{})
		go func() { // and goes on after the reply
			for {
				os.Stdout.WriteString("late\n")
				select {
				case <-printing:
				default:
					close(printing)
				}
			}
		}()
		<-printing
		return shape.RowsOf("printed"), nil
	case "broken":
		return shape.RowsOf(badRow{}), nil
	case "within":
		return shape.RowsOf(c.More.Get("within")), nil
	}
	return h.Handler.Call(ctx, c)
}
