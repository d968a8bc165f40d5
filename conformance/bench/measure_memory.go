package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"time"
)

var memoryMeasures = []measure{
	{
		name: "allocs", title: "Allocations of one echo, both ends",
		columns: []string{"both ends", "client", "server", "bytes"}, base: "",
		takes: called, server: true, run: runAllocs,
		goals: valueAtMost(6, 0),
	},
	{
		name: "idle", title: "1,000 idle connections, each after one call: the server's memory",
		columns: []string{"KiB per connection", "resident MiB"}, base: "",
		takes: served, server: true, run: runIdle,
		goals: concat(valueAtMost(4.5, 0), valueAtMost(8, 1)),
	},
}

const allocCalls = 5000

func runAllocs(s slice) ([]float64, error) {
	c, err := s.dialOne()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	calls := allocCalls
	if s.time < smokeSlice*2 {
		calls /= 10
	}
	for range calls / 10 {
		if err := checkedEcho(c); err != nil {
			return nil, err
		}
	}
	before, err := ask(s.control, "stats")
	if err != nil {
		return nil, err
	}
	var ours, after runtime.MemStats
	runtime.ReadMemStats(&ours)
	for range calls {
		if err := checkedEcho(c); err != nil {
			return nil, err
		}
	}
	runtime.ReadMemStats(&after)
	then, err := ask(s.control, "stats")
	if err != nil {
		return nil, err
	}
	n := float64(calls)
	client := tenths(float64(after.Mallocs-ours.Mallocs) / n)
	server := tenths(float64(then.mallocs-before.mallocs) / n)
	size := float64(after.TotalAlloc-ours.TotalAlloc+then.bytes-before.bytes) / n
	return []float64{client + server, client, server, size}, nil
}

// tenths leaves out what the runtime and the question itself allocate now and then.
func tenths(v float64) float64 { return math.Round(10*v) / 10 }

// runIdle compares the server's resident memory with one connection and with a thousand more. Both times it has returned to the
// system what it does not use, which a Go program that idles does within some minutes by itself.
func runIdle(s slice) ([]float64, error) {
	first, err := s.dialMany(1)
	if err != nil {
		return nil, err
	}
	before, err := restingSet(s.control)
	if err != nil {
		return nil, err
	}
	many, err := s.dialMany(idlers)
	if err != nil {
		return nil, err
	}
	after, err := restingSet(s.control)
	if err != nil {
		return nil, err
	}
	for _, c := range append(first, many...) {
		if err := c.Close(); err != nil {
			return nil, err
		}
	}
	return []float64{float64(after-before) / idlers, float64(after) / 1024}, nil
}

// restingSet returns the KiB a server has resident after it was asked to rest.
func restingSet(control string) (int, error) {
	time.Sleep(time.Second) // a connection that has just been used is not idle
	st, err := ask(control, "rest")
	if err != nil {
		return 0, err
	}
	at := fmt.Sprintf("/proc/%d/smaps_rollup", st.pid)
	text, err := os.ReadFile(at)
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(text) {
		if f := bytes.Fields(line); len(f) == 3 && string(f[0]) == "Rss:" {
			return strconv.Atoi(string(f[1]))
		}
	}
	return 0, fmt.Errorf("%s has no Rss line", at)
}
