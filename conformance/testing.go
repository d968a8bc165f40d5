package conformance

import (
	"context"
	"os"
	"strings"
)

// TB is what Test needs of a test; *testing.T is one.
type TB interface {
	Helper()
	Context() context.Context
	Errorf(format string, a ...any)
	Logf(format string, a ...any)
}

// Self is the target that is the test binary itself; see [Main].
const Self = "conformance:self"

// selfEnv tells a test binary that it is to be the program.
const selfEnv = "KITH_CONFORMANCE_SELF"

// Main runs the program instead of the tests where the checker has started the test binary as its target. Call it first in
// TestMain, with what main does; it returns where the tests are to run. program must exit by itself, as doors.Main does.
func Main(program func()) {
	if os.Getenv(selfEnv) == "1" {
		program()
		os.Exit(0)
	}
}

// Test checks the target and fails the test with every finding. The target is one of [Check], or [Self] where the test's
// TestMain begins with [Main]: then a Handler is checked at all three doors without a program being built.
func Test(t TB, target string, o Options) {
	t.Helper()
	if target == Self {
		exe, err := os.Executable()
		if err != nil {
			t.Errorf("the test binary: %v", err)
			return
		}
		if target = exe; o.Env == nil {
			o.Env = os.Environ()
		}
		o.Env = append(o.Env[:len(o.Env):len(o.Env)], selfEnv+"=1")
	}
	report, err := Check(t.Context(), target, o)
	if err != nil {
		t.Errorf("%v", err)
		return
	}
	var text strings.Builder
	report.WriteText(&text)
	if !report.OK() {
		t.Errorf("%s", text.String())
		return
	}
	t.Logf("%s", text.String())
}
