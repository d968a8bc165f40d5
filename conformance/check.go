package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// The doors, as they are named in reports, in Options and in the rows of verbs.
const (
	CLI    = "cli"
	Pipe   = "pipe"
	Socket = "socket"
	Daemon = "daemon" // a socket on the daemon wire; only daemon:PATH has it, and no other door
)

var (
	allDoors  = []string{CLI, Pipe, Socket} // of a program
	everyDoor = append(slices.Clip(allDoors), Daemon)
)

// Options are what a run may be told. The zero value checks every door that the target has.
type Options struct {
	Doors []string      // check these only; one that the target does not have could not be run
	Known []string      // checks that are known to fail, each door/check; one of them that passes is a failure
	Env   []string      // the environment of processes that are started; nil: that of this one
	Wait  time.Duration // the most that the program may take over any one thing; 0: 5 s
}

// target is whom to check.
type target struct {
	name string // as it was given
	door string // the one door; empty: all that the program has
	at   string // the program, or the path of the socket
}

// targetOf reads a target: argv:PROG, pipe:PROG, unix:PATH, daemon:PATH, or a bare one, a socket of the family where a socket
// file has that name and a program with all its doors everywhere else.
func targetOf(name string) (target, error) {
	t := target{name: name, at: name}
	for prefix, door := range map[string]string{"argv:": CLI, "pipe:": Pipe, "unix:": Socket, "daemon:": Daemon} {
		if at, found := strings.CutPrefix(name, prefix); found {
			t.door, t.at = door, at
		}
	}
	info, err := os.Stat(t.at)
	if t.door == "" && err == nil && info.Mode().Type() == os.ModeSocket {
		t.door = Socket
	}
	if t.door == Socket || t.door == Daemon {
		if err != nil {
			return t, fmt.Errorf("%s: no socket: %w", name, err)
		}
		return t, nil
	}
	path, err := exec.LookPath(t.at)
	if err != nil {
		return t, fmt.Errorf("%s: no program: %w", name, err)
	}
	t.at, err = filepath.Abs(path)
	return t, err
}

// checker is one run.
type checker struct {
	ctx    context.Context
	target target
	env    []string
	wait   time.Duration
	dir    string // ours, for sockets and what the program keeps
}

// defaultWait is long for anything that is asked here, and short enough to sit through a few times.
const defaultWait = 5 * time.Second

// Check runs every check that applies to the target and returns what it found; see [Report.OK]. The error is about the run
// itself: a target that does not exist, an option that names nothing. Nothing is called but verbs, client, verbs that do not
// exist, and verbs that declare typed arguments, with arguments of other types. $XDG_STATE_HOME and $XDG_RUNTIME_DIR of what
// is started are in a temporary directory.
func Check(ctx context.Context, name string, o Options) (Report, error) {
	t, err := targetOf(name)
	if err != nil {
		return Report{}, err
	}
	if err := o.good(); err != nil {
		return Report{}, err
	}
	c := &checker{ctx: ctx, target: t, wait: o.Wait, env: o.Env}
	if c.wait <= 0 {
		c.wait = defaultWait
	}
	if c.dir, err = tempDir(); err != nil {
		return Report{}, err
	}
	defer os.RemoveAll(c.dir)
	if c.env == nil {
		c.env = os.Environ()
	}
	c.env = append(slices.Clip(c.env), "XDG_STATE_HOME="+c.dir, "XDG_RUNTIME_DIR="+c.dir)
	report := Report{Target: name}
	for _, results := range c.doors(o.Doors) {
		report.add(known(results, o.Known)...)
	}
	return report, context.Cause(ctx)
}

func (o Options) good() error {
	for _, d := range o.Doors {
		if !slices.Contains(everyDoor, d) {
			return fmt.Errorf("%q is no door: cli, pipe, socket or daemon", d)
		}
	}
	for _, k := range o.Known {
		if !slices.ContainsFunc(Checks(everyDoor...), func(i Item) bool { return i.Name == k }) {
			return fmt.Errorf("there is no check %q to be known", k)
		}
	}
	return nil
}

// tempDir makes a directory whose path is short enough for the path of a socket in it.
func tempDir() (string, error) {
	dir, err := os.MkdirTemp("", "kith-check-")
	if err == nil && len(dir) > 80 {
		err = errors.Join(os.Remove(dir))
		if err == nil {
			dir, err = os.MkdirTemp("/tmp", "kith-check-")
		}
	}
	return dir, err
}

// known turns what was said to fail into what it is.
func known(results []Result, names []string) []Result {
	for i := range results {
		r := &results[i]
		switch {
		case !slices.Contains(names, r.Name):
		case r.State == Failed:
			r.State = Known
		case r.State == Passed:
			r.State = Failed
			r.Findings = []Finding{{Rule: r.Rule, Sent: "the list of known failures holds it", Came: "it passed",
				Allowed: "a known failure fails", Reproduce: "take it out of the list"}}
		}
	}
	return results
}

// doors checks the doors at the same time.
func (c *checker) doors(only []string) [][]Result {
	all := make([][]Result, len(everyDoor))
	offered := c.offered()
	var wg sync.WaitGroup
	for i, name := range everyDoor {
		asked := slices.Contains(only, name)
		other := c.target.door != name && (c.target.door != "" || name == Daemon)
		if len(only) > 0 && !asked || other && !asked {
			continue
		}
		d := &door{checker: c, name: name}
		if name == Daemon {
			d.path = c.target.at
		}
		if why := offered[name]; why != "" {
			state := Skipped
			if asked {
				state = NotRun
			}
			all[i] = d.none(state, why)
			continue
		}
		wg.Go(func() { all[i] = d.checks() })
	}
	wg.Wait()
	return all
}

// offered tells for each door that the target does not have why it is not checked.
func (c *checker) offered() map[string]string {
	why := map[string]string{}
	if c.target.door != "" {
		for _, name := range everyDoor {
			if name != c.target.door {
				why[name] = c.target.name + " is one door, " + c.target.door
			}
		}
		return why
	}
	why[Daemon] = "a program has no such door; daemon:PATH is one"
	rows := printed(c.run("verbs").stdout).rows()
	for _, name := range []string{Pipe, Socket} {
		why[name] = "verbs has no row of this door"
		for _, r := range rows {
			if rowText(r, "door") == name || rowText(r, "door") == CLI && rowText(r, "verb") == opener[name] {
				why[name] = ""
			}
		}
	}
	return why
}

// opener is the word of the cli that opens a door.
var opener = map[string]string{Pipe: "pipe", Socket: "serve"}

// none is a result for every check of a door that was not checked.
func (d *door) none(state State, why string) (results []Result) {
	for _, c := range table {
		if c.has(d.name) {
			results = append(results, Result{Name: d.name + "/" + c.name, Rule: c.rule, State: state, Why: why})
		}
	}
	return results
}
