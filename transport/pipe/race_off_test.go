//go:build !race

package pipe_test

const raceDetector = false
