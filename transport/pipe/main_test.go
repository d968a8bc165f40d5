package pipe_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/internal/reexec"
	"github.com/kith-wire/kith/transport/pipe"
	"github.com/kith-wire/kith/transport/transporttest"
)

// TestMain makes this binary the programs of its own tests.
func TestMain(m *testing.M) { reexec.Main(m, programs) }

// programs are what a test runs. Those behind the first three are written by hand, with no code of kith.
var programs = map[string]func() int{
	"serve":   serve,
	"greeter": greeter,
	"parent":  parent,

	"dies": func() int { // answers the first call, and dies of the second
		in := bufio.NewReader(os.Stdin)
		in.ReadString('\n')
		fmt.Println(good)
		in.ReadString('\n')
		fmt.Fprintln(os.Stderr, "the reason")
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		return 0
	},
	"fails": func() int { // answers, and ends before anybody has asked for more
		fmt.Fprintln(os.Stderr, "not today")
		line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
		if line != "" {
			fmt.Println(good)
		}
		return 3
	},
	"noisy": func() int { // a MiB of stderr before each reply
		for in := bufio.NewReader(os.Stdin); ; {
			if _, err := in.ReadString('\n'); err != nil {
				return 0
			}
			os.Stderr.WriteString(strings.Repeat("noise\n", 1<<20/6))
			fmt.Println(good)
		}
	},
	"stubborn": func() int { // hears neither the end of its input nor SIGTERM
		signal.Ignore(syscall.SIGTERM)
		leave("stubborn")
		fmt.Println(`{"event":"up"}`)
		return forever()
	},
	"wrapper": func() int { // sh -c 'server & wait': the server is what stays behind
		leave("wrapper")
		start("stubborn", nil)
		io.Copy(io.Discard, os.Stdin)
		return forever()
	},
	"full": func() int { // writes events for ever, and ends in order when its input has
		go io.Copy(os.Stdout, repeated{})
		io.Copy(io.Discard, os.Stdin)
		leave("full")
		return 0
	},
	"left": func() int { // dies, and somebody in another session holds its stdout and stderr open
		start("stubborn", &syscall.SysProcAttr{Setsid: true})
		bufio.NewReader(os.Stdin).ReadString('\n')
		return 4
	},
	"deaf": func() int { // closes its stdout and lives on
		bufio.NewReader(os.Stdin).ReadString('\n')
		os.Stdout.Close()
		io.Copy(io.Discard, os.Stdin)
		return 0
	},
	"silent": func() int { leave("silent"); io.Copy(io.Discard, os.Stdin); return 0 },
	"descriptors": func() int { // what it was given, as rows
		var rows []string
		for fd := range 200 {
			if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err == nil {
				rows = append(rows, fmt.Sprintf("%d %v", fd, flags&unix.O_NONBLOCK != 0))
			}
		}
		bufio.NewReader(os.Stdin).ReadString('\n')
		fmt.Printf("{\"ok\":true,\"family\":1,\"n\":1,\"result\":[%q]}\n", strings.Join(rows, ", "))
		io.Copy(io.Discard, os.Stdin)
		return 0
	},
}

const good = `{"ok":true,"family":1,"n":1,"result":["good"]}`

// serve is a program's pipe: the suite's handler, and what only these tests ask for.
func serve() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	cfg := transport.Config{Handler: handler{transporttest.Handler()}}
	cfg.Limits.Frame, _ = strconv.Atoi(os.Getenv("FRAME"))
	if err := pipe.Serve(ctx, cfg); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		return 1
	}
	return 0
}

type handler struct{ transport.Handler }

func (h handler) Call(ctx context.Context, c shape.Call) (shape.Rows, error) {
	switch c.Verb {
	case "print":
		fmt.Println("stray")
		child := exec.Command("/bin/sh", "-c", "echo from a child")
		child.Stdout = os.Stdout
		child.Run()
		return shape.RowsOf("printed"), nil
	case "back": // says that it is about to call
		os.Stderr.WriteString("calling\n")
	case "hang": // whatever its context does
		os.Stderr.WriteString("hanging\n")
		time.Sleep(time.Hour)
	case "until": // its context ends
		os.Stderr.WriteString("waiting\n")
		<-ctx.Done()
		return shape.Rows{}, ctx.Err()
	case "wait": // until a file is there
		os.Stderr.WriteString("waiting\n")
		var path string
		c.Args.At(0).Decode(&path)
		for _, err := os.Stat(path); err != nil; _, err = os.Stat(path) {
			time.Sleep(time.Millisecond)
		}
		return shape.RowsOf("waited"), nil
	}
	return h.Handler.Call(ctx, c)
}

// parent holds a child, says which, and does nothing more.
func parent() int {
	c, err := pipe.Start(context.Background(), pipe.Command{Path: reexec.Self(), Env: reexec.Env("serve")})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	if _, err := transport.Call[string](context.Background(), c, "door"); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(c.PID())
	return forever()
}

func forever() int { time.Sleep(time.Hour); return 0 }

// start starts another of the programs with our descriptors.
func start(program string, attr *syscall.SysProcAttr) {
	cmd := exec.Command(reexec.Self())
	cmd.Env = reexec.Env(program)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = os.Stdin, os.Stdout, os.Stderr, attr
	if err := cmd.Start(); err != nil {
		panic(err)
	}
}

// repeated is events without an end.
type repeated struct{}

func (repeated) Read(p []byte) (int, error) {
	return copy(p, `{"event":"again","text":"`+strings.Repeat("a", 1000)+"\"}\n"), nil
}

// leave says in a file that a program was there, and its process id.
func leave(name string) {
	path := filepath.Join(os.Getenv("LEFT"), name)
	os.WriteFile(path+".new", []byte(strconv.Itoa(os.Getpid())), 0o600)
	os.Rename(path+".new", path)
}

// left waits until a program was there, and returns its process id.
func left(t *testing.T, dir, name string) (pid int) {
	t.Helper()
	reexec.Eventually(t, name+" is there", func() bool {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			pid, err = strconv.Atoi(string(b))
		}
		return err == nil
	})
	return pid
}
