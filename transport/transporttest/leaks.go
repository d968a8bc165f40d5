package transporttest

import (
	"testing"

	"github.com/kith-wire/kith/transport/internal/leaks"
)

// Leaks fails the test at its end if it left something behind that was not there when Leaks was called: a goroutine, an open
// descriptor, a child process or zombie (where there is /proc), or a file in one of dirs, lock files apart. Call it first, but
// after making dirs: what the test registers with Cleanup later is done before Leaks looks. It looks at the whole process, so
// tests that use it do not run in parallel with others.
func Leaks(t testing.TB, dirs ...string) {
	t.Helper()
	before := leaks.Take(dirs)
	t.Cleanup(func() {
		for _, left := range before.Left(dirs, leaks.Patience) {
			t.Errorf("left behind: %s", left)
		}
	})
}

// Main is for a TestMain: it runs the tests of a package and returns the exit status, 1 where all of them together left something
// behind as [Leaks] has it. Their temporary directory is a fresh one, in which no file may be left.
func Main(m *testing.M) int { return leaks.Main(m) }
