package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
)

// number writes three digits that count, or all that stand before the point.
func number(v float64) string {
	digits := 2
	for _, bound := range []float64{10, 100} {
		if v >= bound || v <= -bound {
			digits--
		}
	}
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// report writes all of it as Markdown.
func (r *runner) report(w io.Writer) {
	fmt.Fprintf(w, "# Measured\n\nMedians of %d rounds of slices of %v, %s; ratios are the medians of the rounds' ratios, with their middle half.\n",
		r.options.rounds, r.options.slice, r.began.UTC().Format(time.DateOnly))
	fmt.Fprintf(w, "Lower is better in all but the last column of some tables. `go run .` in this folder makes this file.\n\n")
	if r.kept > 0 && !r.smoke {
		fmt.Fprintf(w, "%d of %d slices were disturbed by other processes in each of %d tries, and count all the same.\n\n",
			r.kept, r.slices, tries)
	}
	fmt.Fprintf(w, "Machine: %s\n\n", machine())
	r.reportVersions(w)
	r.reportGoals(w)
	for _, m := range r.measures {
		r.reportMeasure(w, m)
	}
}

func (r *runner) reportGoals(w io.Writer) {
	fmt.Fprintf(w, "## Goals\n\n| measure | goal | measured | met |\n|---|---|---|---|\n")
	met, known := 0, 0
	for _, m := range r.measures {
		for _, g := range m.goals {
			v := r.results.judge(m, g)
			word := "**no**"
			if v.met {
				word = "yes"
				met++
			}
			if v.measured == "" {
				v.measured, word = "not measured", ""
			} else {
				known++
			}
			fmt.Fprintf(w, "| %s | %s | %s | %s |\n", m.name, v.goal, v.measured, word)
		}
	}
	fmt.Fprintf(w, "\n%d of %d are met.\n\n", met, known)
}

// reportMeasure writes one table, its best contender first.
func (r *runner) reportMeasure(w io.Writer, m measure) {
	fmt.Fprintf(w, "## %s\n\n%s.\n\n", m.name, m.title)
	head := append([]string{"contender"}, m.columns...)
	if m.base != "" {
		head = append(head, "x "+m.base)
	}
	if m.derive != nil {
		head = append(head, m.derive.title)
	}
	fmt.Fprintf(w, "| %s |\n|---%s|\n", strings.Join(head, " | "), strings.Repeat("|--:", len(head)-1))
	field := r.field(m)
	first := func(c contender) float64 {
		if values := r.results.of(m.name, c.name).column(0); len(values) > 0 {
			return median(values)
		}
		return 1e300
	}
	slices.SortStableFunc(field, func(a, b contender) int { return cmp.Compare(first(a), first(b)) })
	for _, c := range field {
		fmt.Fprintf(w, "| %s |\n", strings.Join(r.line(m, c), " | "))
	}
	fmt.Fprintln(w)
}

func (r *runner) line(m measure, c contender) []string {
	got := r.results.of(m.name, c.name)
	line := []string{c.title}
	if len(got.rounds) == 0 {
		return append(line, strings.Join(strings.Fields(strings.ReplaceAll(got.failure, "|", "/")), " "))
	}
	values := got.medians(len(m.columns))
	for _, v := range values {
		line = append(line, number(v))
	}
	if m.base != "" {
		ratio := "–"
		if ratios := got.ratios(r.results.of(m.name, m.base)); len(ratios) > 0 {
			low, middle, high := quartiles(ratios)
			ratio = fmt.Sprintf("%s (%s–%s)", number(middle), number(low), number(high))
		}
		line = append(line, ratio)
	}
	if m.derive != nil {
		line = append(line, number(m.derive.of(values)))
	}
	if got.failure != "" {
		line[0] += fmt.Sprintf(" (failed in round %d: %.200s)", len(got.rounds)+1, got.failure)
	}
	return line
}

// reportVersions names what was measured: the contenders of this run and where they are from.
func (r *runner) reportVersions(w io.Writer) {
	versions := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			versions[d.Path] = d.Version
		}
	}
	var seen []string
	fmt.Fprintf(w, "| contender | of | version |\n|---|---|---|\n")
	for _, m := range r.measures {
		for _, c := range r.field(m) {
			if slices.Contains(seen, c.name) {
				continue
			}
			seen = append(seen, c.name)
			of, version := c.module, versions[c.module]
			switch {
			case c.native != "":
				of, version = "C", output("cc", "--version")
			case c.module == "":
				of, version = "Go", runtime.Version()
			case c.module == kithModule:
				version = "this tree, " + output("git", "describe", "--always", "--dirty")
			}
			fmt.Fprintf(w, "| %s | %s | %s |\n", c.title, of, version)
		}
	}
	fmt.Fprintln(w)
}

// machine tells what it was measured on, as far as the system says.
func machine() string {
	text := fmt.Sprintf("%d processors", runtime.NumCPU())
	if model := fileLine("/proc/cpuinfo", "model name"); model != "" {
		text += " of " + model
	}
	if memory := fileLine("/proc/meminfo", "MemTotal"); memory != "" {
		text += ", " + memory + " of memory"
	}
	text += ", " + runtime.GOOS + "/" + runtime.GOARCH
	if kernel, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		text += " " + strings.TrimSpace(string(kernel))
	}
	if strings.Contains(fileLine("/proc/cpuinfo", "flags"), "hypervisor") {
		text += ", a virtual machine"
	}
	return text + ", " + runtime.Version() + "."
}

// fileLine returns what stands behind a name and a colon in a file; nothing where that is not to be had.
func fileLine(path, name string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// output is the first line that a program writes; one that is not here has an unknown version.
func output(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return "unknown"
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line
}
