package conformance

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// State says how a check ended.
type State string

const (
	Passed  State = "passed"
	Failed  State = "failed"
	Known   State = "known"         // it failed, and was listed as one that does
	Skipped State = "skipped"       // it does not apply to this target
	NotRun  State = "could-not-run" // it applies, and what it needs was not there
)

// Report is what a run found.
type Report struct {
	Target string         `json:"target"`
	Counts map[State]int  `json:"counts"`
	Checks []Result       `json:"checks"`
	byName map[string]int // of Checks
}

// Result is how one check at one door ended.
type Result struct {
	Name     string    `json:"name"` // door/check, as Options.Known has it
	Rule     string    `json:"rule"` // of WIRE
	State    State     `json:"state"`
	Why      string    `json:"why,omitempty"` // where skipped or could-not-run
	Findings []Finding `json:"findings,omitempty"`
}

// Finding is one way in which the program broke a rule.
type Finding struct {
	Rule      string `json:"rule"`
	Sent      string `json:"sent"`      // text, or hex after the word hex; bounded
	Came      string `json:"came"`      // what the program did
	Allowed   string `json:"allowed"`   // what it may do
	Reproduce string `json:"reproduce"` // a line of shell that shows it
}

// OK reports whether at least one check ran, none failed, and none was kept from running.
func (r Report) OK() bool {
	return r.Counts[Passed]+r.Counts[Known] > 0 && r.Counts[Failed] == 0 && r.Counts[NotRun] == 0
}

// Get returns the result of a check by name, door/check.
func (r Report) Get(name string) (Result, bool) {
	i, found := r.byName[name]
	if !found {
		return Result{}, false
	}
	return r.Checks[i], true
}

func (r *Report) add(results ...Result) {
	if r.Counts == nil {
		r.Counts, r.byName = map[State]int{Passed: 0, Failed: 0, Known: 0, Skipped: 0, NotRun: 0}, map[string]int{}
	}
	for _, result := range results {
		r.Counts[result.State]++
		r.byName[result.Name] = len(r.Checks)
		r.Checks = append(r.Checks, result)
	}
}

// WriteText writes the report for people: what did not pass, and the counts.
func (r Report) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, c := range r.Checks {
		if c.State == Passed {
			continue
		}
		fmt.Fprintf(&b, "%-13s  %s  (%s)", c.State, c.Name, c.Rule)
		if c.Why != "" {
			fmt.Fprintf(&b, ": %s", c.Why)
		}
		b.WriteByte('\n')
		if c.State == Known {
			continue
		}
		for _, f := range c.Findings {
			fmt.Fprintf(&b, "    rule     %s\n    sent     %s\n    came     %s\n    allowed  %s\n    shell    %s\n\n",
				f.Rule, f.Sent, f.Came, f.Allowed, f.Reproduce)
		}
	}
	fmt.Fprintf(&b, "%s: %d passed, %d failed, %d known, %d skipped, %d could not run\n", r.Target,
		r.Counts[Passed], r.Counts[Failed], r.Counts[Known], r.Counts[Skipped], r.Counts[NotRun])
	if r.Counts[Passed]+r.Counts[Failed]+r.Counts[Known] == 0 {
		b.WriteString("nothing was checked, and that is a failure\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteJSON writes the report as one line of JSON.
func (r Report) WriteJSON(w io.Writer) error {
	to := json.NewEncoder(w)
	to.SetEscapeHTML(false)
	return to.Encode(r)
}
