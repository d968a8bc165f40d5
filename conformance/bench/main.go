// Command bench measures kith against other ways for two Go programs on one machine to talk, and against what the machine itself
// allows: bytes over net.UnixConn, and C.
//
//	go run .                          all of it, some quarter of an hour, to RESULTS.md
//	go run . -measure echo,blob       some measures, to stdout alone
//	go run . -only kith-json,raw      some contenders
//	go run . -smoke                   a tiny round of everything: does it still run
//
// Client and server are processes of their own, new for every slice of time. In a round each contender has one slice of each measure,
// and every other round goes backwards. A slice waits until the machine is idle, and is taken again where others took more than a
// tenth of it. What counts is the median of the rounds' ratios. A run that is interrupted shows its whole rounds, and writes no file.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

const smokeSlice = 10 * time.Millisecond

type options struct {
	rounds   int
	slice    time.Duration
	smoke    bool
	out      string
	measures []measure
	only     []string
}

func main() {
	if len(os.Args) > 1 && (os.Args[1] == roleServe || os.Args[1] == roleCall) {
		if err := play(os.Args[1], os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if err := bench(os.Args[1:]); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
		os.Exit(1)
	}
}

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	rounds := f.Int("rounds", 9, "how many rounds")
	names := f.String("measure", "", "only these measures, with commas")
	only := f.String("only", "", "only these contenders, with commas")
	slice := f.Duration("slice", 350*time.Millisecond, "how long each is measured in a round")
	smoke := f.Bool("smoke", false, "one tiny round that waits for nothing")
	out := f.String("o", "", "write the tables to this file; - for none (default RESULTS.md for a run of everything)")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	o = options{rounds: *rounds, slice: *slice, smoke: *smoke, out: *out, measures: measures}
	if o.smoke {
		o.rounds, o.slice = 1, smokeSlice
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("%q is no flag; -h lists them", f.Arg(0))
	case o.rounds < 1 || o.slice <= 0:
		return o, errors.New("-rounds must be 1 or more, -slice more than 0")
	case o.out == "" && !o.smoke && *names == "" && *only == "":
		o.out = "RESULTS.md"
	case o.out == "-":
		o.out = ""
	}
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	for _, name := range o.only {
		if _, err := find(name); err != nil {
			return o, err
		}
	}
	if *names != "" {
		o.measures = nil
		for _, name := range strings.Split(*names, ",") {
			m, err := findMeasure(name)
			if err != nil {
				return o, err
			}
			o.measures = append(o.measures, m)
		}
	}
	return o, nil
}

// field are the contenders that this run measures.
func (o options) field(m measure) []contender {
	return slices.DeleteFunc(m.field(), func(c contender) bool { return o.only != nil && !slices.Contains(o.only, c.name) })
}

func bench(args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r := &runner{options: o, dir: dir, results: results{}}
	if err := r.build(ctx); err != nil {
		return err
	}
	interrupted := r.rounds(ctx)
	if interrupted != nil && r.options.rounds == 0 {
		return interrupted
	}
	var text strings.Builder
	r.report(&text)
	if o.out != "" && interrupted == nil {
		if err := os.WriteFile(o.out, []byte(text.String()), 0o644); err != nil {
			return err
		}
	}
	if _, err := io.WriteString(os.Stdout, text.String()); err != nil {
		return err
	}
	if interrupted != nil {
		return interrupted
	}
	if n := r.results.failures(); n > 0 {
		return fmt.Errorf("%d contenders failed in a measure; the tables say how", n)
	}
	return nil
}
