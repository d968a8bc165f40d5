package conformance_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/kith-wire/kith/conformance"
)

func run(t *testing.T, target string, o conformance.Options) conformance.Report {
	t.Helper()
	r, err := conformance.Check(t.Context(), target, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestTargets has each way to name a target check the doors it names, and no other.
func TestTargets(t *testing.T) {
	prog := peer(t, "right")
	dir, err := os.MkdirTemp("", "k") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "s.sock")
	serve := exec.Command(prog, "serve", "--socket", path)
	out, err := serve.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	defer serve.Wait()
	defer serve.Process.Signal(syscall.SIGTERM)
	for target, door := range map[string]string{"argv:" + prog: "cli", "pipe:" + prog: "pipe", "unix:" + path: "socket", path: "socket"} {
		r := run(t, target, conformance.Options{})
		if !r.OK() || len(r.Checks) == 0 {
			t.Errorf("%s: %s", target, text(r))
		}
		for _, c := range r.Checks {
			if !strings.HasPrefix(c.Name, door+"/") {
				t.Errorf("%s: checked %s", target, c.Name)
			}
			if c.State == conformance.Skipped && door != "socket" {
				t.Errorf("%s: skipped %s", target, c.Name)
			}
		}
	}
	if c, _ := run(t, path, conformance.Options{}).Get("socket/sigterm"); c.State != conformance.Skipped || c.Why == "" {
		t.Errorf("a check that would end a server somebody else started: %+v", c)
	}
	if err := serve.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the server that somebody else started is gone: %v", err)
	}
}

// TestKnown has a known failure not fail the run, one that passes fail it, and a name of nothing be an error.
func TestKnown(t *testing.T) {
	door := []string{"cli"}
	r := run(t, peer(t, "banner"), conformance.Options{Doors: door, Known: []string{"cli/stdout"}})
	if c, _ := r.Get("cli/stdout"); c.State != conformance.Known || !r.OK() || r.Counts[conformance.Known] != 1 {
		t.Errorf("a known failure: %+v\n%s", c, text(r))
	}
	r = run(t, peer(t, "right"), conformance.Options{Doors: door, Known: []string{"cli/stdout"}})
	if c, _ := r.Get("cli/stdout"); c.State != conformance.Failed || r.OK() || len(c.Findings) != 1 {
		t.Errorf("a known failure that passes: %+v", c)
	}
	if _, err := conformance.Check(t.Context(), peer(t, "right"), conformance.Options{Known: []string{"cli/nothing"}}); err == nil {
		t.Error("a known failure of a check that does not exist is taken")
	}
}

// TestNothingRun has a run that checked nothing fail, as a check that could not be made does.
func TestNothingRun(t *testing.T) {
	if (conformance.Report{}).OK() {
		t.Error("a report of nothing is OK")
	}
	r := run(t, "argv:"+peer(t, "right"), conformance.Options{Doors: []string{"socket"}})
	if r.OK() || r.Counts[conformance.NotRun] == 0 || r.Counts[conformance.NotRun] != len(r.Checks) {
		t.Errorf("a door that was asked for and is not there: %s", text(r))
	}
	for _, target := range []string{"argv:/nowhere/prog", "unix:/nowhere/sock", "/nowhere/prog"} {
		if _, err := conformance.Check(t.Context(), target, conformance.Options{}); err == nil {
			t.Errorf("%s is a target", target)
		}
	}
	silent := filepath.Join(t.TempDir(), "silent")
	if err := os.WriteFile(silent, []byte("#!/bin/sh\nexit 0\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if r := run(t, silent, conformance.Options{}); r.OK() || r.Counts[conformance.Failed] == 0 {
		t.Errorf("a program that says nothing: %s", text(r))
	}
}

// TestReportForms has both forms of a report tell the counts and each finding whole.
func TestReportForms(t *testing.T) {
	r := run(t, "argv:"+peer(t, "two-newlines"), conformance.Options{})
	var line bytes.Buffer
	if err := r.WriteJSON(&line); err != nil {
		t.Fatal(err)
	}
	var back conformance.Report
	if err := json.Unmarshal(line.Bytes(), &back); err != nil || bytes.Count(line.Bytes(), []byte("\n")) != 1 {
		t.Fatalf("not one line of JSON: %v, %s", err, line.String())
	}
	if len(back.Checks) != len(r.Checks) || back.Counts[conformance.Failed] != 1 || back.Counts[conformance.Passed] != len(r.Checks)-1 {
		t.Errorf("the counts are %v for %d checks", back.Counts, len(back.Checks))
	}
	for _, part := range []string{"failed         cli/stdout  (ARGV-1)", "    sent     the command line /", "    came     stdout {", "    allowed  one JSON object",
		"    shell    /", "1 failed, 0 known, 0 skipped, 0 could not run"} {
		if !strings.Contains(text(r), part) {
			t.Errorf("the report for people does not have %q:\n%s", part, text(r))
		}
	}
}

// TestReproduce has the line of shell of a finding show the fault.
func TestReproduce(t *testing.T) {
	if _, err := exec.LookPath("socat"); err != nil {
		if os.Getenv("KITH_REQUIRE") == "1" {
			t.Fatal("socat is missing and KITH_REQUIRE is 1")
		}
		t.Skip("socat is missing")
	}
	for _, c := range []struct{ mode, check, shows string }{
		{"two-newlines", "cli/stdout", "}\n\nexit 0"},
		{"depth-65", "pipe/depth", `{"ok":true`},
		{"zero-frame-closes", "socket/zero-frame", "length 0 holds"},
		{"family-2", "socket/family", "amily"},
	} {
		door, _, _ := strings.Cut(c.check, "/")
		result, _ := run(t, peer(t, c.mode), conformance.Options{Doors: []string{door}}).Get(c.check)
		if len(result.Findings) == 0 {
			t.Errorf("%s: nothing was found", c.mode)
			continue
		}
		line := strings.ReplaceAll(result.Findings[0].Reproduce, "/tmp/kith-check.sock", filepath.Join(t.TempDir(), "s.sock"))
		sh := exec.Command("bash", "-c", line+"; kill %1 2>/dev/null; true")
		out, err := sh.Output()
		if shown := strings.ReplaceAll(string(out), "\\n", "\n"); err != nil || !strings.Contains(shown, c.shows) {
			t.Errorf("%s: %s\nprinted %q, %v, and not %q", c.mode, line, out, err, c.shows)
		}
	}
}

// TestSelf has the test binary itself be the program.
func TestSelf(t *testing.T) {
	t.Setenv("KITH_TEST_PEER", filepath.Join(built, "broken"))
	conformance.Test(t, conformance.Self, conformance.Options{Doors: []string{"cli", "pipe"}})
	told := &teller{TB: t}
	t.Setenv("KITH_TEST_PEER_NAME", "family-2")
	conformance.Test(told, conformance.Self, conformance.Options{Doors: []string{"cli"}})
	if len(told.said) != 1 || !strings.Contains(told.said[0], "cli/family") {
		t.Errorf("of a peer with family 2 the test says %q", told.said)
	}
}

// teller is a test that is failed and keeps what it is told.
type teller struct {
	conformance.TB
	said []string
}

func (t *teller) Errorf(format string, a ...any) {
	t.said = append(t.said, strings.TrimSpace(a[0].(string)))
}

// self becomes the peer.
func self() {
	name := os.Getenv("KITH_TEST_PEER_NAME")
	if name == "" {
		name = "right"
	}
	syscall.Exec(os.Getenv("KITH_TEST_PEER"), append([]string{name}, os.Args[1:]...), os.Environ())
}

// TestImports has the checker stand on nothing that it checks.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}}", ".", "./internal/broken").Output()
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/kith-wire/kith/"
	for name := range strings.FieldsSeq(string(out)) {
		rest, ours := strings.CutPrefix(name, module)
		if ours && !strings.HasPrefix(rest, "conformance") || !ours && strings.Contains(name, ".") && !strings.HasPrefix(name, "golang.org/x/sys/") &&
			!strings.HasPrefix(name, "vendor/") {
			t.Errorf("it imports %s", name)
		}
	}
}
