package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// What is linked into a server is part of its memory and of its start, used or not. So the program that `go run .` makes, which has
// all contenders, only drives; each contender's processes are a build of this module with itself alone: the tag alone leaves out every
// file of a contender but those with its own tag.
const aloneTag = "alone"

// build makes the programs of all contenders of the run. One that cannot be built is missing, and its results say why.
func (r *runner) build(ctx context.Context) error {
	r.programs, r.missing = map[string]string{}, map[string]string{}
	var broken []string
	for _, m := range r.measures {
		for _, c := range r.field(m) {
			if _, done := r.programs[c.name]; done || r.missing[c.name] != "" {
				continue
			}
			r.progress("build %s", c.name)
			path, err := r.buildOne(ctx, c)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				r.missing[c.name] = err.Error()
				if c.native == "" {
					broken = append(broken, fmt.Sprintf("%s: %v", c.name, err))
				}
				continue
			}
			r.programs[c.name] = path
		}
	}
	if len(r.programs) == 0 {
		return fmt.Errorf("nothing can be built; run it in its own folder: %s", strings.Join(broken, "; "))
	}
	return nil
}

func (r *runner) buildOne(ctx context.Context, c contender) (string, error) {
	switch {
	case c.native != "":
		path := filepath.Join(r.dir, c.name)
		if _, err := exec.LookPath("cc"); err != nil {
			return "", fmt.Errorf("no C compiler (cc) is here")
		}
		return path, run(exec.CommandContext(ctx, "cc", "-O2", "-o", path, c.native))
	case c.program != "":
		path := filepath.Join(r.dir, c.name)
		return path, goBuild(ctx, path, "./"+c.program)
	}
	path := filepath.Join(r.dir, "alone-"+c.tag)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	return path, goBuild(ctx, path, "-tags", aloneTag+","+c.tag, ".")
}

// goBuild builds as kith's README says; its two lines stand in the programs of argv, in the minimal one too.
func goBuild(ctx context.Context, path string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-o", path}, args...)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	return run(cmd)
}

func run(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %.500s", cmd.Args[0], err, out)
	}
	return nil
}
