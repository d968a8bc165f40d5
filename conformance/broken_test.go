package conformance_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kith-wire/kith/conformance"
	"github.com/kith-wire/kith/transport/transporttest"
)

// built is where the programs of the tests are.
var built string

func TestMain(m *testing.M) {
	conformance.Main(self)
	os.Exit(func() int {
		var err error
		if built, err = os.MkdirTemp("", "kith-conformance-"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(built)
		build := exec.Command("go", "build", "-o", filepath.Join(built, "broken"), "./internal/broken")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "building the peer: %v\n%s", err, out)
			return 1
		}
		return transporttest.Main(m)
	}())
}

// peer returns the peer that is wrong in the way that its name says.
func peer(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.Symlink(filepath.Join(built, "broken"), path); err != nil {
		t.Fatal(err)
	}
	return path
}

// wait is short for a peer that never answers, and long for one that shares two cores with the others.
const wait = 3 * time.Second

func text(r conformance.Report) string {
	var b strings.Builder
	r.WriteText(&b)
	return b.String()
}

// TestRightPeer has the peer that is not wrong pass everything.
func TestRightPeer(t *testing.T) {
	start := time.Now()
	r, err := conformance.Check(t.Context(), peer(t, "right"), conformance.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if all := len(conformance.Checks()); r.Counts[conformance.Passed] != all || !r.OK() {
		t.Errorf("not all of %d checks passed:\n%s", all, text(r))
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %v, and 10 s is the most", took)
	}
}

// atOnce is how many peers are checked at the same time: more than there are cores, for most of them let the checker wait.
const atOnce = 8

// outcomes checks the peer of each mode, and returns where the report of each will be.
func outcomes(t *testing.T) []chan conformance.Report {
	turn := make(chan struct{}, atOnce)
	all := make([]chan conformance.Report, len(modes))
	for i, m := range modes {
		path := peer(t, m.name)
		all[i] = make(chan conformance.Report, 1)
		go func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			r, err := conformance.Check(t.Context(), path, conformance.Options{Wait: wait})
			if err != nil {
				t.Errorf("%s: %v", m.name, err)
			}
			all[i] <- r
		}()
	}
	return all
}

// TestBrokenPeers has each peer that is wrong in one way caught by the checks meant for it and by no other, and each check
// fail for at least one of them.
func TestBrokenPeers(t *testing.T) {
	if len(modes) < 40 {
		t.Errorf("there are %d modes, and 40 is the least", len(modes))
	}
	failed := judgeAll(t, modes, outcomes(t))
	for _, c := range conformance.Checks() {
		_, excused := uncaught[c.Name]
		if failed[c.Name] == excused {
			t.Errorf("%s: caught a peer: %v; said to catch none: %v", c.Name, failed[c.Name], excused)
		}
	}
}

// A path may hold the very digits that its error is to name, and says nothing by that.
func TestPathIsNoLimit(t *testing.T) {
	dir, err := os.MkdirTemp("", "k107-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	t.Setenv("TMPDIR", dir)
	r, err := conformance.Check(t.Context(), peer(t, "long-path-unnamed"), conformance.Options{Doors: []string{conformance.Socket}, Wait: wait})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Checks {
		if c.Name == "socket/path" && c.State != conformance.Failed {
			t.Errorf("%s is %s", c.Name, c.State)
		}
	}
}

// judgeAll holds the report of each mode against what the mode says, and returns the checks that caught one as they must.
func judgeAll(t *testing.T, modes []mode, reports []chan conformance.Report) map[string]bool {
	failed := map[string]bool{}
	for i, m := range modes {
		r := <-reports[i]
		t.Run(m.name, func(t *testing.T) {
			for _, c := range r.Checks {
				judge(t, m, c)
				if c.State == conformance.Failed && matches(m.caught, c.Name) {
					failed[c.Name] = true
				}
			}
			if len(r.Checks) == 0 {
				t.Error("nothing was checked")
			}
		})
	}
	return failed
}

// judge holds the result of one check against what the mode says.
func judge(t *testing.T, m mode, c conformance.Result) {
	t.Helper()
	must, may := matches(m.caught, c.Name), matches(m.may, c.Name)
	switch {
	case must && c.State != conformance.Failed:
		t.Errorf("%s must catch it, and is %s %s", c.Name, c.State, c.Why)
	case !must && !may && c.State == conformance.Failed:
		t.Errorf("%s failed, and must not:\n%v", c.Name, c.Findings[0])
	case !must && !may && c.State == conformance.NotRun:
		t.Errorf("%s could not run: %s", c.Name, c.Why)
	}
	for _, f := range c.Findings {
		if f.Rule == "" || f.Sent == "" || f.Came == "" || f.Allowed == "" || f.Reproduce == "" {
			t.Errorf("%s: a finding says not all of it: %+v", c.Name, f)
		}
	}
}
