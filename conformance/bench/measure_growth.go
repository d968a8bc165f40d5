package main

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

// The points of growth. What is flat costs at no later point more than flat times what it costs at the first.
var (
	connPoints = []int{1, 10, 100, 1000}
	rowPoints  = []int{10, 100, 1000, 10_000, largest}
	bytePoints = []int{1000, 10_000, largest}
)

const flat = 1.2

var dearest = &derived{"dearest over first", func(v []float64) float64 { return slices.Max(v[1:]) / v[0] }}

var growthMeasures = []measure{
	{
		name: "conns", title: "Calls on each of many open connections in turn, one caller",
		columns: columnsOf("us at", connPoints), derive: dearest,
		takes: func(c contender) bool { return served(c) && !c.peer }, server: true, run: runConns,
		goals: valueAtMost(flat, derivedColumn),
	},
	{
		name: "rows", title: "What one more row of a typed listing costs: a listing of n rows less one of none, over n",
		columns: columnsOf("ns at", rowPoints), derive: dearest,
		takes: grows, server: true, run: runRows,
		goals: valueAtMost(flat, derivedColumn),
	},
	{
		name: "bytes", title: "Bytes allocated for one row of a typed listing, both ends",
		columns: columnsOf("bytes at", bytePoints), derive: dearest,
		takes: grows, server: true, run: runBytes,
		goals: valueAtMost(flat, derivedColumn),
	},
}

// grows are the contenders whose limits let the largest listing in.
func grows(c contender) bool { return served(c) && c.module == kithModule }

func columnsOf(unit string, points []int) (columns []string) {
	for _, n := range points {
		columns = append(columns, fmt.Sprintf("%s %d", unit, n))
	}
	return columns
}

func runConns(s slice) (values []float64, err error) {
	var clients []client
	defer func() {
		for _, c := range clients {
			c.Close()
		}
	}()
	for _, n := range connPoints {
		more, err := s.dialMany(n - len(clients))
		if err != nil {
			return nil, err
		}
		clients = append(clients, more...)
		next := 0
		mean, _, err := timed(s.time/2, func() error {
			next = (next + 1) % n
			return checkedEcho(clients[next])
		})
		if err != nil {
			return nil, err
		}
		values = append(values, mean)
	}
	return values, nil
}

func runRows(s slice) (values []float64, err error) {
	c, err := s.dialOne()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	for _, n := range rowPoints {
		var none, all []float64
		for start := time.Now(); len(all) < 9 || time.Since(start) < s.time/2; {
			for _, of := range []struct {
				n    int
				took *[]float64
			}{{0, &none}, {n, &all}} {
				before := time.Now()
				if err := checkedList(c, of.n); err != nil {
					return nil, err
				}
				*of.took = append(*of.took, float64(time.Since(before)))
			}
		}
		values = append(values, (median(all)-median(none))/float64(n))
	}
	return values, nil
}

// runBytes allocates after some calls, when what is kept for reuse is there.
func runBytes(s slice) (values []float64, err error) {
	const calls = 5
	c, err := s.dialOne()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	for _, n := range bytePoints {
		var ours [2]runtime.MemStats
		var theirs [2]status
		for i := range theirs {
			for range calls {
				if err := checkedList(c, n); err != nil {
					return nil, err
				}
			}
			if theirs[i], err = ask(s.control, "stats"); err != nil {
				return nil, err
			}
			runtime.ReadMemStats(&ours[i])
		}
		all := ours[1].TotalAlloc - ours[0].TotalAlloc + theirs[1].bytes - theirs[0].bytes
		values = append(values, float64(all)/calls/float64(n))
	}
	return values, nil
}
