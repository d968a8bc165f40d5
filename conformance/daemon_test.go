package conformance_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kith-wire/kith/conformance"
	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/rpc"
	"github.com/kith-wire/kith/transport/socket"
)

// daemonWait is short for a daemon that never answers, and long for one that shares two cores with others.
const daemonWait = 1500 * time.Millisecond

// daemonsAtOnce is how many daemons are checked at the same time.
const daemonsAtOnce = 4

// buildDaemon builds the daemon that can be wrong.
func buildDaemon(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "brokend")
	if out, err := exec.Command("go", "build", "-o", path, "./internal/brokend").CombinedOutput(); err != nil {
		t.Fatalf("building the daemon: %v\n%s", err, out)
	}
	return path
}

// startDaemon starts a daemon that is wrong in that way, or right, and returns the target that it is and what ends it.
func startDaemon(prog string, way ...string) (target string, stop func(), err error) {
	path := filepath.Join(filepath.Dir(prog), strings.Join(append(way, "d.sock"), "."))
	cmd := exec.Command(prog, append([]string{path}, way...)...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", nil, err
	}
	stop = func() {
		cmd.Process.Kill()
		cmd.Wait()
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		stop()
		return "", nil, fmt.Errorf("it said nothing: %w", err)
	}
	return "daemon:" + path, stop, nil
}

// passesAll has a daemon pass everything, and nothing of the family be asked of it.
func passesAll(t *testing.T, target string) {
	t.Helper()
	r := run(t, target, conformance.Options{})
	if all := len(conformance.Checks(conformance.Daemon)); r.Counts[conformance.Passed] != all || len(r.Checks) != all {
		t.Errorf("not all of %d checks passed:\n%s", all, text(r))
	}
}

// TestRightDaemon has the daemon that is not wrong pass everything.
func TestRightDaemon(t *testing.T) {
	target, stop, err := startDaemon(buildDaemon(t))
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	start := time.Now()
	passesAll(t, target)
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %v, and 10 s is the most", took)
	}
}

// TestOurDaemon has the daemon wire of this module pass everything.
func TestOurDaemon(t *testing.T) {
	agents := transport.HandlerFunc(func(_ context.Context, call shape.Call) (shape.Rows, error) {
		return shape.Rows{}, rpc.UnknownMethod.Errorf("there is no %s", call.Verb)
	})
	path := filepath.Join(t.TempDir(), "d.sock")
	l, err := socket.Listen(path, socket.Options{Wire: rpc.Options{Namespaces: map[string]transport.Handler{"agent": agents}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.Serve(ctx) }()
	passesAll(t, "daemon:"+path)
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestBrokenDaemons has each daemon that is wrong in one way caught by the checks meant for it and by no other, and each check fail
// for at least one of them.
func TestBrokenDaemons(t *testing.T) {
	prog := buildDaemon(t)
	reports := make([]chan conformance.Report, len(daemonModes))
	next := make(chan int, len(daemonModes))
	for i := range daemonModes {
		reports[i] = make(chan conformance.Report, 1)
		next <- i
	}
	close(next)
	for range daemonsAtOnce {
		go func() {
			for i := range next {
				reports[i] <- checkDaemon(t, prog, daemonModes[i].name)
			}
		}()
	}
	failed := judgeAll(t, daemonModes, reports)
	for _, c := range conformance.Checks(conformance.Daemon) {
		if !failed[c.Name] {
			t.Errorf("%s caught no daemon", c.Name)
		}
	}
}

func checkDaemon(t *testing.T, prog, way string) (r conformance.Report) {
	target, stop, err := startDaemon(prog, way)
	if err != nil {
		t.Errorf("%s: %v", way, err)
		return r
	}
	defer stop()
	r, err = conformance.Check(t.Context(), target, conformance.Options{Wait: daemonWait})
	if err != nil {
		t.Errorf("%s: %v", way, err)
	}
	return r
}

// TestDaemonTargets has a daemon be checked as one and nothing else, a program never as one, and a socket that is not there be no
// target.
func TestDaemonTargets(t *testing.T) {
	target, stop, err := startDaemon(buildDaemon(t))
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	all := len(conformance.Checks(conformance.Daemon))
	for _, c := range []struct {
		target string
		doors  []string
		states map[conformance.State]int
	}{
		{target, []string{"daemon"}, map[conformance.State]int{conformance.Passed: all}},
		{target, []string{"cli"}, map[conformance.State]int{conformance.NotRun: len(conformance.Checks("cli"))}},
		{"argv:" + peer(t, "right"), []string{"daemon"}, map[conformance.State]int{conformance.NotRun: all}},
		{peer(t, "right"), []string{"daemon"}, map[conformance.State]int{conformance.NotRun: all}},
	} {
		r := run(t, c.target, conformance.Options{Doors: c.doors})
		for state, n := range r.Counts {
			if n != c.states[state] {
				t.Errorf("%s at %v: %d %s, want %d", c.target, c.doors, n, state, c.states[state])
			}
		}
	}
	if _, err := conformance.Check(t.Context(), "daemon:/nowhere/sock", conformance.Options{}); err == nil {
		t.Error("a socket that is not there is a target")
	}
	stop()
	if r := run(t, target, conformance.Options{}); r.Counts[conformance.NotRun] != all || r.OK() {
		t.Errorf("a daemon that is gone:\n%s", text(r))
	}
}

// TestDaemonReproduce has the line of shell of a finding show the fault.
func TestDaemonReproduce(t *testing.T) {
	if _, err := exec.LookPath("socat"); err != nil {
		if os.Getenv("KITH_REQUIRE") == "1" {
			t.Fatal("socat is missing and KITH_REQUIRE is 1")
		}
		t.Skip("socat is missing")
	}
	prog := buildDaemon(t)
	for _, c := range []struct{ way, check, shows string }{
		{"camel-case", "daemon/code", "UnknownMethod"},
		{"big-endian", "daemon/little-endian", "\x00\x00\x00\\{"},
		{"lists-taken", "daemon/not-a-map", "unknown_method"},
	} {
		target, stop, err := startDaemon(prog, c.way)
		if err != nil {
			t.Fatal(err)
		}
		result, _ := run(t, target, conformance.Options{Wait: daemonWait}).Get(c.check)
		if len(result.Findings) == 0 {
			t.Errorf("%s: nothing was found", c.way)
		} else {
			line := strings.Replace(result.Findings[0].Reproduce, "xxd", "cat", 1) // bytes as they come
			line = strings.Replace(line, "sleep 5; ", "", 1)                       // and without the wait that is for people
			out, err := exec.Command("bash", "-c", line).Output()
			if err != nil || !strings.Contains(string(out), c.shows) {
				t.Errorf("%s: %s\nprinted %q, %v, and not %q", c.way, line, out, err, c.shows)
			}
		}
		stop()
	}
}
