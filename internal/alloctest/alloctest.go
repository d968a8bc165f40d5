// Package alloctest measures, for tests, what a function allocates.
package alloctest

import (
	"runtime"
	"testing"
)

// Bytes returns how many bytes one run of a function allocates, in this process as a whole: the mean of so many runs, after as many that
// do not count. An error ends the test.
func Bytes(t testing.TB, runs int, once func() error) int {
	t.Helper()
	var before, after runtime.MemStats
	for i := range 2 * runs {
		if i == runs {
			runtime.ReadMemStats(&before)
		}
		if err := once(); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc-before.TotalAlloc) / runs
}
