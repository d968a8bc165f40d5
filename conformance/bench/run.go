package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

const (
	maxOthers = 0.1                    // of the processors' time; more is a disturbance
	idleLook  = 100 * time.Millisecond // how long the machine is looked at before a slice
	patience  = 10 * time.Minute       // of a run for an idle machine, all waits together; what is measured then counts as disturbed
	tries     = 3                      // of a slice; the last is kept, disturbed or not
	overtime  = 60 * time.Second       // a slice that takes so much longer is ended, and has failed
)

// runner drives the slices.
type runner struct {
	options
	dir      string            // of programs and sockets
	programs map[string]string // of each contender
	missing  map[string]string // why a contender has none
	results  results
	began    time.Time
	waited   time.Duration // for an idle machine, so far
	kept     int           // slices that were kept though they were disturbed
	slices   int
}

func (r *runner) progress(format string, a ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", a...)
}

// rounds takes a slice of each contender in each measure, round after round. Of a run that is interrupted the whole rounds are left.
func (r *runner) rounds(ctx context.Context) error {
	r.began = time.Now()
	for round := range r.options.rounds {
		for _, m := range r.measures {
			r.progress("round %d of %d: %s", round+1, r.options.rounds, m.name)
			field := r.field(m)
			for i := range field {
				if round%2 == 1 {
					i = len(field) - 1 - i
				}
				if r.take(ctx, m, field[i], round); ctx.Err() != nil {
					r.results.drop(round)
					all := r.options.rounds
					r.options.rounds = round
					return fmt.Errorf("it was interrupted in round %d of %d", round+1, all)
				}
			}
		}
	}
	return nil
}

// take takes one slice until it is undisturbed, and keeps what came of it.
func (r *runner) take(ctx context.Context, m measure, c contender, round int) {
	kept := r.results.of(m.name, c.name)
	if why := r.missing[c.name]; why != "" {
		kept.failure, kept.absent = why, true
	}
	if kept.failure != "" {
		return
	}
	r.slices++
	for try := 1; ; try++ {
		quiet := r.smoke || r.waitIdle(ctx)
		values, others, err := r.slice(ctx, m, c)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			kept.failure = err.Error()
			return
		}
		quiet = quiet && (r.smoke || others <= maxOthers)
		if quiet || try == tries {
			if !quiet {
				r.kept++
			}
			kept.rounds[round] = values
			return
		}
	}
}

// waitIdle waits until the processors have nothing to do, and reports whether that came.
func (r *runner) waitIdle(ctx context.Context) bool {
	for {
		before, err := busy()
		if err != nil {
			return true // it cannot be known here
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(idleLook):
		}
		after, err := busy()
		if err == nil && float64(after-before) <= maxOthers*float64(idleLook)*float64(runtime.NumCPU()) {
			return true
		}
		if r.waited += idleLook; r.waited > patience {
			return false
		}
	}
}

// slice runs the processes of one slice, and returns what the client measured and which part of the machine others took.
func (r *runner) slice(ctx context.Context, m measure, c contender) (values []float64, others float64, err error) {
	ctx, stop := context.WithTimeout(ctx, overtime+20*r.options.slice)
	defer stop()
	dir, err := os.MkdirTemp(r.dir, "slice")
	if err != nil {
		return nil, 0, err
	}
	defer os.RemoveAll(dir)
	start := time.Now()
	before, unknown := busy()
	path := filepath.Join(dir, "s")
	var server *process
	if m.server && c.serve != nil && !c.starts {
		if server, err = r.start(ctx, c, m, path); err != nil {
			return nil, 0, err
		}
	}
	cmd := r.client(ctx, m, c, path)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if _, err = cmd.StdinPipe(); err == nil { // Run closes it behind the client, for what the client may have left
		err = cmd.Run()
	}
	ours := worked(cmd)
	if server != nil {
		ours += server.stop()
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %.300s", err, strings.TrimSpace(complaint.String()))
	}
	if err := json.Unmarshal(out.Bytes(), &values); err != nil || len(values) != len(m.columns) {
		return nil, 0, fmt.Errorf("the client wrote %.200q and not %d values", out.String(), len(m.columns))
	}
	after, err := busy()
	if err == nil && unknown == nil {
		others = float64(after-before-ours) / float64(time.Since(start)) / float64(runtime.NumCPU())
	}
	return values, others, nil
}

func (r *runner) client(ctx context.Context, m measure, c contender, path string) *exec.Cmd {
	var cmd *exec.Cmd
	switch {
	case c.native != "":
		cmd = exec.CommandContext(ctx, r.programs[c.name], c.name, m.name, fmt.Sprint(r.options.slice.Seconds()))
	case c.program != "": // the driver's own build runs it: it measures from outside
		self, err := os.Executable()
		if err != nil {
			self = os.Args[0]
		}
		cmd = exec.CommandContext(ctx, self, roleCall, c.name, m.name, r.programs[c.name], r.options.slice.String())
	default:
		cmd = exec.CommandContext(ctx, r.programs[c.name], roleCall, c.name, m.name, path, r.options.slice.String())
	}
	cmd.Env = append(os.Environ(), controlVar+"="+path+"c")
	cmd.WaitDelay = time.Second
	return cmd
}

// process is a server that runs.
type process struct {
	cmd  *exec.Cmd
	hold io.Closer // its input: it ends with that
}

// start starts a server and waits until it can be dialed.
func (r *runner) start(ctx context.Context, c contender, m measure, path string) (*process, error) {
	cmd := exec.CommandContext(ctx, r.programs[c.name], roleServe, c.name, m.name, path)
	cmd.Env = append(os.Environ(), controlVar+"="+path+"c")
	cmd.WaitDelay = time.Second
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	hold, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd, hold}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		p.stop()
		return nil, fmt.Errorf("the server wrote %q (%v): %.300s", line, err, complaint.String())
	}
	return p, nil
}

// stop ends the server and returns the processor time it has taken.
func (p *process) stop() time.Duration {
	p.hold.Close()
	p.cmd.Wait() // a server that broke shows in what its client measured
	return worked(p.cmd)
}

// worked is the processor time that an ended process has taken, with that of the children it has waited for.
func worked(cmd *exec.Cmd) time.Duration {
	if cmd.ProcessState == nil {
		return 0 // it did not start
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}
