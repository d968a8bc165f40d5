//go:build race

package built

// Race reports whether the tests run with the race detector, and so what they build.
const Race = true
