package socket

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/transporttest"
)

// helperEnv names what a re-executed test binary does instead of testing.
const helperEnv = "KITH_SOCKET_HELPER"

var helpers = map[string]func(args []string) error{
	"serve":     helpServe,
	"activated": helpActivated,
	"deaf":      helpDeaf,
	"caller":    helpCaller,
}

func TestMain(m *testing.M) {
	help := helpers[os.Getenv(helperEnv)]
	if help == nil {
		os.Exit(transporttest.Main(m))
	}
	os.Unsetenv(helperEnv)
	if err := help(os.Args[1:]); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

// helpServe serves one path until SIGTERM: it says "listening", and "stopped" at the end.
func helpServe(args []string) error {
	var opts Options
	flags := flag.NewFlagSet("serve", flag.ExitOnError)
	flags.BoolVar(&opts.MakeDir, "made", false, "")
	flags.IntVar(&opts.Max, "max", 0, "")
	flags.DurationVar(&opts.Grace, "grace", 0, "")
	anyone := flags.Bool("anyone", false, "")
	umask := flags.Int("umask", -1, "")
	gate := flags.Bool("gate", false, "")
	flags.Parse(args)
	if *anyone {
		opts.Allow = func(transport.Cred) bool { return true }
	}
	if *umask >= 0 {
		unix.Umask(*umask)
	}
	if *gate { // all who wait at it start at once
		io.Copy(io.Discard, os.Stdin)
	}
	opts.Handler = helperHandler{transporttest.Handler()}
	opts.Log = func(text string) { fmt.Println("log:", text) }
	l, err := Listen(flags.Arg(0), opts)
	if err != nil {
		return err
	}
	return helpUntilTerm(l)
}

func helpActivated([]string) error {
	l, passed, err := Activated(Options{Config: transport.Config{Handler: helperHandler{transporttest.Handler()}}})
	if err != nil || !passed {
		return errors.Join(err, fmt.Errorf("passed %v", passed))
	}
	fmt.Println("at", l.Path())
	fmt.Println("environment", os.Getenv("LISTEN_PID")+os.Getenv("LISTEN_FDS")+os.Getenv("LISTEN_FDNAMES"))
	flags, err := unix.FcntlInt(firstPassed, unix.F_GETFD, 0)
	fmt.Println("inherited", err == nil && flags&unix.FD_CLOEXEC == 0)
	return helpUntilTerm(l)
}

func helpUntilTerm(l *Listener) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	fmt.Println("listening")
	if err := l.Serve(ctx); err != nil {
		return err
	}
	fmt.Println("stopped")
	return nil
}

// helpDeaf listens as a server does that knows of no lock, and accepts nobody until its input ends.
func helpDeaf(args []string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrUnix{Name: args[0]}), unix.Listen(fd, 0)); err != nil {
		return err
	}
	fmt.Println("listening")
	io.Copy(io.Discard, os.Stdin)
	for {
		if _, _, err := unix.Accept(fd); err != nil {
			return err
		}
	}
}

// helpCaller connects, says who it claims to be, and prints what comes back and how it ends.
func helpCaller(args []string) error {
	conn, err := net.Dial("unix", args[0])
	if err != nil {
		return err
	}
	io.WriteString(conn, framed(`{"call":"who","from":"root","uid":0,"pid":1}`))
	conn.(*net.UnixConn).CloseWrite()
	got, err := io.ReadAll(conn)
	if errors.Is(err, unix.ECONNRESET) {
		err = nil
	}
	fmt.Printf("%q\n", got)
	return err
}

// helperHandler is transporttest's and some verbs about its process.
type helperHandler struct{ transport.Handler }

// who is the row of who.
type who struct {
	UID    int    `json:"uid"`
	GID    int    `json:"gid"`
	PID    int    `json:"pid"`
	Name   string `json:"name"`
	Pinned int    `json:"pinned"` // the process of the pidfd, 0 where there is none
}

// usage is the row of usage.
type usage struct {
	CPU int `json:"cpu"` // milliseconds so far
	RSS int `json:"rss"` // KiB, 0 where there is no /proc
	Sys int `json:"sys"` // KiB that the runtime has taken, touched or not
}

func (h helperHandler) Call(ctx context.Context, call shape.Call) (shape.Rows, error) {
	peer := transport.PeerFrom(ctx)
	switch call.Verb {
	case "who":
		cred, _ := peer.Cred()
		row := who{cred.UID, cred.GID, cred.PID, peer.Name(), 0}
		if fd, ok := peer.PIDFD(); ok {
			row.Pinned = procField(fmt.Sprintf("/proc/self/fdinfo/%d", fd), "Pid")
		}
		return shape.RowsOf(row), nil
	case "usage":
		var r unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
			return shape.Rows{}, err
		}
		cpu := time.Duration(r.Utime.Nano() + r.Stime.Nano())
		var mem runtime.MemStats
		runtime.ReadMemStats(&mem)
		rss := procField("/proc/self/status", "VmRSS")
		return shape.RowsOf(usage{int(cpu.Milliseconds()), rss, int(mem.Sys >> 10)}), nil
	case "child": // outlives us
		cmd := exec.Command("sleep", "1000")
		if err := cmd.Start(); err != nil {
			return shape.Rows{}, err
		}
		return shape.RowsOf(cmd.Process.Pid), nil
	case "wait": // for a line
		fmt.Println("waiting")
		bufio.NewReader(os.Stdin).ReadString('\n')
		return shape.RowsOf("late"), nil
	case "hold": // until told that it must end
		fmt.Println("holding")
		<-ctx.Done()
		fmt.Println("let go")
		return shape.Rows{}, ctx.Err()
	}
	return h.Handler.Call(ctx, call)
}

// procField reads a number from a file of /proc, 0 where there is none.
func procField(file, name string) (n int) {
	b, _ := os.ReadFile(file)
	for line := range strings.SplitSeq(string(b), "\n") {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			fmt.Sscan(rest, &n)
		}
	}
	return n
}

// process is a helper that runs.
type process struct {
	t   testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// command makes a helper ready; start starts it.
func command(help string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), helperEnv+"="+help)
	cmd.Stderr = os.Stderr
	return cmd
}

// viaShell makes a helper the successor of a shell that runs a line first.
func viaShell(cmd *exec.Cmd, line string) *exec.Cmd {
	cmd.Args = append([]string{"sh", "-c", line + ` exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	return cmd
}

// start starts a helper, which is killed at the end of the test if it still runs.
func start(t testing.TB, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd}
	if cmd.Stdin == nil {
		in, err := cmd.StdinPipe()
		must(t, err)
		p.in = in
	}
	out, err := cmd.StdoutPipe()
	must(t, err)
	p.out = bufio.NewScanner(out)
	must(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return p
}

// place is where a test may listen. Whatever runs or is open beyond its end fails it.
func place(t testing.TB) string {
	t.Helper()
	transporttest.Leaks(t)
	return filepath.Join(t.TempDir(), "main.sock")
}

// startServer starts a helper that serves, and returns once it listens.
func startServer(t testing.TB, args ...string) *process {
	t.Helper()
	p := start(t, command("serve", args...))
	p.says("listening")
	return p
}

// line reads a line of the helper's output, "" at its end.
func (p *process) line() string {
	if !p.out.Scan() {
		return ""
	}
	return p.out.Text()
}

func (p *process) says(want string) {
	p.t.Helper()
	if got := p.line(); got != want {
		p.t.Fatalf("the helper says %q, want %q", got, want)
	}
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	must(p.t, p.cmd.Process.Signal(s))
}

// kill ends the helper as a crash does.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	p.cmd.Wait()
}

// freeze stops the helper and returns once it stands still.
func (p *process) freeze() {
	p.t.Helper()
	p.signal(syscall.SIGSTOP)
	var status unix.WaitStatus
	_, err := unix.Wait4(p.cmd.Process.Pid, &status, unix.WUNTRACED, nil)
	must(p.t, err)
	if !status.Stopped() {
		p.t.Fatalf("status %#x, want stopped", status)
	}
}

// stops checks that the helper ends as it should.
func (p *process) stops() {
	p.t.Helper()
	p.says("stopped")
	must(p.t, p.cmd.Wait())
}

// asRoot skips a test that only root can make.
func asRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() == 0 {
		return
	}
	if os.Getenv("KITH_REQUIRE") != "" {
		t.Fatal("this test needs root, and KITH_REQUIRE is set")
	}
	t.Skip("needs root")
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
