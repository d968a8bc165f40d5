package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

var startMeasures = []measure{
	{
		name: "argv", title: "A program run for one call, its stderr a pipe: from its start to its whole reply, and until it is reaped",
		columns: []string{"us to the reply", "us to the end"}, base: "argv-minimal",
		takes: func(c contender) bool { return c.program != "" }, run: runArgv,
		goals: []goal{{who: "argv-doors", than: "argv-minimal", atMost: 1.3}, {who: "argv-alone", than: "argv-minimal", atMost: 1.2}},
	},
	{
		name: "pipe", title: "Sequential echo with a child on two pipes",
		columns: []string{"us per call", "median us"}, base: "c",
		takes: func(c contender) bool { return c.pipe != nil }, run: runPipe,
		goals: []goal{{who: "kith-json", than: "c", atMost: 1.2}, {who: "kith-json", than: "mcp", faster: 20}},
	},
	{
		name: "dial", title: "Dial, one call, close",
		columns: []string{"us per connection", "median us"}, base: "raw",
		takes: served, server: true, run: runDial,
		goals: concat(atMost(1.15, 1.15, "raw"), faster(5, "grpc")),
	},
}

// runArgv counts medians: what starts a process now and then waits for the system, and that is nobody's.
func runArgv(s slice) ([]float64, error) {
	if _, _, err := spawn(s.path); err != nil { // from here on it is in the cache
		return nil, err
	}
	var replies, ends []float64
	for start := time.Now(); len(ends) == 0 || time.Since(start) < s.time; {
		reply, end, err := spawn(s.path)
		if err != nil {
			return nil, err
		}
		replies, ends = append(replies, float64(reply)/micro), append(ends, float64(end)/micro)
	}
	return []float64{median(replies), median(ends)}, nil
}

// spawn runs a program for one call; it has replied when its output has a whole line.
func spawn(path string) (reply, end time.Duration, err error) {
	in, out, err := os.Pipe()
	if err != nil {
		return 0, 0, err
	}
	defer in.Close()
	start := time.Now()
	p, err := os.StartProcess(path, []string{path, "echo", echoText}, &os.ProcAttr{Files: []*os.File{nil, out, os.Stderr}})
	out.Close()
	if err != nil {
		return 0, 0, err
	}
	text, buf := make([]byte, 0, 512), make([]byte, 512)
	for err == nil && !strings.HasSuffix(string(text), "\n") {
		var n int
		n, err = in.Read(buf)
		text = append(text, buf[:n]...)
	}
	reply = time.Since(start)
	state, waitErr := p.Wait()
	end = time.Since(start)
	switch {
	case waitErr != nil:
		return 0, 0, waitErr
	case !state.Success() || err != nil && err != io.EOF || !isEcho(string(text)):
		return 0, 0, fmt.Errorf("the program wrote %.200q and ended with %v (%v)", text, state, err)
	}
	return reply, end, nil
}

// isEcho says whether a reply is that of an echo.
func isEcho(reply string) bool {
	return strings.HasPrefix(reply, `{"ok":true,`) && strings.Contains(reply, echoText)
}

func runPipe(s slice) ([]float64, error) {
	c, err := s.pipe()
	if err != nil {
		return nil, err
	}
	mean, middle, err := timed(s.time, func() error { return checkedEcho(c) })
	if closed := c.Close(); err == nil {
		err = closed
	}
	return []float64{mean, middle}, err
}

func runDial(s slice) ([]float64, error) {
	mean, middle, err := timed(s.time, func() error {
		c, err := s.dialOne()
		if err != nil {
			return err
		}
		if err := checkedEcho(c); err != nil {
			return err
		}
		return c.Close()
	})
	return []float64{mean, middle}, err
}
