package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/kith-wire/kith/conformance"
)

func (t *tool) checkCommand() command {
	c := checking{tool: t}
	return command{
		name:  "check",
		words: "TARGET",
		about: "check that a program, in any language, keeps to the wire",
		more: `
It needs nothing of the program but verbs. It calls verbs, client, verbs that do not exist, and verbs whose declared arguments
it gets wrong on purpose; never what could do something. A bare program is checked at every door that its verbs lists, and its
serve is started for it. daemon:PATH is a socket on the daemon wire, which somebody serves: it is checked for that wire alone,
by requests for methods that nobody has. What fails is told with the rule, what was sent, what came, what is allowed, and a
line of shell that shows it. A file of known failures holds one check a line, as --list has it; a known failure that passes is
a failure.
Exit: 0 nothing failed and something was checked, 5 otherwise, 2 where nothing could be started.`,
		min: 0, max: 1,
		flags: []flag{
			{name: "door", value: "DOOR", about: "check this door only: cli, pipe, socket, daemon; may be given again", set: func(s string) error {
				c.opts.Doors = append(c.opts.Doors, s)
				return nil
			}},
			textFlag(&c.known, "known", "FILE", "checks that are known to fail"),
			durationFlag(&c.opts.Wait, "wait", "the most that the program may take over any one thing; default 5s"),
			boolFlag(&c.json, "json", "print the report as one line of JSON; with --list, a line for each check"),
			boolFlag(&c.list, "list", "print what is checked, and check nothing"),
		},
		run: func(ctx context.Context, words []string) int { return c.run(ctx, words) },
	}
}

// checking is one run of check.
type checking struct {
	*tool
	opts       conformance.Options
	known      *string
	json, list bool
}

func (c *checking) run(ctx context.Context, words []string) int {
	switch {
	case c.list && len(words) == 0:
		return c.printList()
	case c.list:
		return c.fail(exitUsage, "check: --list takes no TARGET")
	case len(words) == 0:
		return c.fail(exitUsage, "check takes TARGET; kith help check tells more")
	}
	if c.known != nil {
		b, err := os.ReadFile(*c.known)
		if err != nil {
			return c.fail(exitUsage, "check: --known: %v", err)
		}
		c.opts.Known = names(string(b))
	}
	start := time.Now()
	report, err := conformance.Check(ctx, words[0], c.opts)
	if err != nil {
		return c.fail(exitUsage, "check: %v", err)
	}
	write := report.WriteText
	if c.json {
		write = report.WriteJSON
	}
	if err := write(c.out); err != nil {
		return c.fail(exitOutput, "the output could not be written: %v", err)
	}
	if !c.json {
		fmt.Fprintf(c.err, "kith: check took %v\n", time.Since(start).Round(time.Millisecond))
	}
	if !report.OK() {
		return exitFailed
	}
	return exitOK
}

// names are the lines of a file, comments and blank lines apart.
func names(text string) (all []string) {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// printList prints the checks of the doors that were asked for.
func (c *checking) printList() int {
	var b strings.Builder
	doors := c.opts.Doors
	if len(doors) == 0 {
		doors = []string{conformance.CLI, conformance.Pipe, conformance.Socket, conformance.Daemon}
	}
	for _, item := range conformance.Checks(doors...) {
		if c.json {
			row, err := json.Marshal(item)
			if err != nil {
				return c.fail(exitFailed, "check: %v", err)
			}
			b.Write(append(row, '\n'))
			continue
		}
		fmt.Fprintf(&b, "%-24s  %-9s  %s\n", item.Name, item.Rule, item.About)
	}
	return c.print([]byte(b.String()))
}
