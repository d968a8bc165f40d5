package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kith-wire/kith/cmd/internal/built"
	"github.com/kith-wire/kith/conformance"
)

// TestCheckScribe has the scribe pass every check there is, in the time that is promised.
func TestCheckScribe(t *testing.T) {
	e := built.NewEnv(t)
	scribe := filepath.Join(t.TempDir(), "scribe") // without the race detector, whose memory is not the scribe's
	if out, err := exec.Command("go", "build", "-o", scribe, "github.com/kith-wire/kith/cmd/scribe").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	start := time.Now()
	r := e.Run(t, "", "kith", "check", scribe, "--json")
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %v, and 10 s is the most", took)
	}
	var report conformance.Report
	if err := json.Unmarshal([]byte(r.Out), &report); err != nil {
		t.Fatalf("%v in %+v", err, r)
	}
	for _, c := range report.Checks {
		if c.State != conformance.Passed {
			t.Errorf("%s: %s %s %+v", c.Name, c.State, c.Why, c.Findings)
		}
	}
	if r.Status != 0 || len(report.Checks) != len(conformance.Checks()) {
		t.Errorf("exit %d, and %d of %d checks", r.Status, len(report.Checks), len(conformance.Checks()))
	}
}

// TestCheckExits has check exit as its help says: 0, 5 and 2.
func TestCheckExits(t *testing.T) {
	e := built.NewEnv(t)
	scribe := "argv:" + built.Path("scribe")
	known := filepath.Join(e.Dir, "known")
	if err := os.WriteFile(known, []byte("# none of them\n\ncli/stdout # says who\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   []string
		status int
		out    string
	}{
		{[]string{scribe}, 0, " passed, 0 failed, "},
		{[]string{"--door", "cli", scribe}, 0, " passed, 0 failed, "},
		{[]string{"--door", "socket", scribe}, 5, "nothing was checked, and that is a failure"},
		{[]string{"--known", known, scribe}, 5, "take it out of the list"},
		{[]string{"--known", "/nowhere", scribe}, 2, ""},
		{[]string{"--door", "window", scribe}, 2, ""},
		{[]string{"argv:/nowhere/prog"}, 2, ""},
		{nil, 2, ""},
		{[]string{"--list"}, 0, "socket/promises           LIMIT-2    "},
		{[]string{"--list", scribe}, 2, ""},
	} {
		r := e.Run(t, "", "kith", append([]string{"check"}, c.args...)...)
		if r.Status != c.status || !strings.Contains(r.Out, c.out) || (c.status == 2) != (r.Out == "") || c.status == 2 && r.Err == "" {
			t.Errorf("kith check %q: %+v", c.args, r)
		}
	}
}

// TestCheckList has the list name each check once, with its rule.
func TestCheckList(t *testing.T) {
	e := built.NewEnv(t)
	seen := map[string]bool{}
	for line := range strings.Lines(e.OK(t, "", "kith", "check", "--list", "--json")) {
		var item conformance.Item
		if err := json.Unmarshal([]byte(line), &item); err != nil || item.Rule == "" || item.About == "" || seen[item.Name] {
			t.Errorf("%v, or a check that is there already: %s", err, line)
		}
		seen[item.Name] = true
	}
	if all := len(conformance.Checks()) + len(conformance.Checks(conformance.Daemon)); len(seen) != all {
		t.Errorf("%d of %d checks", len(seen), all)
	}
}
