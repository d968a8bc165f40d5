package main

import (
	"fmt"
	"time"
)

var echoMeasures = []measure{
	{
		name: "echo", title: "Sequential echo over a socket (MCP and go-plugin: over what they have)",
		columns: []string{"us per call", "median us"}, base: "raw",
		takes: called, server: true, run: runEcho,
		goals: concat(atMost(1.15, 1.12, "raw"), faster(6, "grpc"), faster(2.8, "ttrpc"), faster(4, "jrpc2"), faster(1.7, "varlink"),
			faster(15, "mcp")),
	},
	{
		name: "parties", title: "16 connections, each with one caller",
		columns: []string{"us per call"}, base: "raw",
		takes: served, server: true, run: runParties, derive: &derived{"calls/s", perSecond},
		goals: concat(atMost(1.2, 1.2, "raw"), faster(6, "grpc"), faster(2, "ttrpc")),
	},
	{
		name: "sharing", title: "64 callers sharing one connection",
		columns: []string{"us per call"}, base: "kith-json",
		takes: shared, server: true, run: runSharing, derive: &derived{"calls/s", perSecond},
		goals: concat(faster(14, "grpc"), faster(6, "ttrpc"), faster(5, "net-rpc")),
	},
	{
		name: "pipelined", title: "64 calls outstanding on one connection (64 written, then 64 read, where the API has that; else 64 goroutines)",
		columns: []string{"us per call"}, base: "raw",
		takes: func(c contender) bool { return shared(c) || c.name == "raw" }, server: true, run: runPipelined, derive: &derived{"calls/s", perSecond},
		goals: concat(atMost(3.5, 2.5, "raw"), faster(10, bestPeer)),
	},
}

func concat(goals ...[]goal) (all []goal) {
	for _, g := range goals {
		all = append(all, g...)
	}
	return all
}

func runEcho(s slice) ([]float64, error) {
	c, err := s.dialOne()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	mean, median, err := timed(s.time, func() error { return checkedEcho(c) })
	return []float64{mean, median}, err
}

// dialMany opens n connections; each has carried a call when it returns.
func (s slice) dialMany(n int) (clients []client, err error) {
	for len(clients) < n {
		c, err := s.dialOne()
		if err == nil {
			err = checkedEcho(c)
		}
		if err != nil {
			return nil, fmt.Errorf("connection %d of %d: %w", len(clients)+1, n, err)
		}
		clients = append(clients, c)
	}
	return clients, nil
}

func runParties(s slice) ([]float64, error) {
	clients, err := s.dialMany(parties)
	if err != nil {
		return nil, err
	}
	each, err := together(parties, s.time, func(i int) error { return checkedEcho(clients[i]) })
	return []float64{each}, err
}

func runSharing(s slice) ([]float64, error) {
	c, err := s.dialOne()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return sharedBy(c, s.time)
}

func sharedBy(c client, d time.Duration) ([]float64, error) {
	each, err := together(callers, d, func(int) error { return checkedEcho(c) })
	return []float64{each}, err
}

func runPipelined(s slice) ([]float64, error) {
	c, err := s.dialOne()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	b, ok := c.(burster)
	if !ok {
		return sharedBy(c, s.time)
	}
	mean, _, err := timed(s.time, func() error { return b.Burst(callers) })
	return []float64{mean / callers}, err
}
