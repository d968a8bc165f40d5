// Package vectors_test runs the vectors: what README.md tells any program to do with them, done with kith.
package vectors_test

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// runners say how a case of each kind is run. One that is described runs nothing, and covers nothing.
var runners = map[string]func(*testing.T, testCase){
	"message":           runMessage,
	"value":             runValue,
	"refused-value":     runRefusedValue,
	"write":             runWrite,
	"connection":        runConnection,
	"program":           runProgram,
	"parent":            runParent,
	"session":           runSession,
	"request":           runRequest,
	"response":          runResponse,
	"daemon-connection": runDaemonConnection,
	"described":         nil,
}

// files reads every data file, and every conversation as a case of the kind session.
func files(t testing.TB) (all []file) {
	t.Helper()
	paths, err := filepath.Glob("*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if path == "schema.json" {
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var f file
		if err := strict(b, &f); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if f.Area+".json" != path {
			t.Errorf("%s says it is about %q", path, f.Area)
		}
		all = append(all, f)
	}
	return append(all, file{Area: "sessions", Cases: sessions(t)})
}

// specRules are the ids of the rules in SPEC.md and DAEMON.md: every heading of a rule begins with its id.
func specRules(t testing.TB) (ids []string) {
	t.Helper()
	for _, path := range []string{"../SPEC.md", "../DAEMON.md"} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all := regexp.MustCompile(`(?m)^\*\*([A-Z]+-[0-9]+)\*\*`).FindAllSubmatch(b, -1)
		for _, found := range all {
			ids = append(ids, string(found[1]))
		}
		if len(all) == 0 {
			t.Fatalf("%s has no rules", path)
		}
	}
	return ids
}

// TestVectors runs every case, and then says which rules no case that ran has hit.
func TestVectors(t *testing.T) {
	known := specRules(t)
	ran, described := map[string]int{}, map[string][]string{}
	cases, names := 0, map[string]bool{}
	for _, f := range files(t) {
		t.Run(f.Area, func(t *testing.T) {
			for _, c := range f.Cases {
				if names[c.Name] {
					t.Errorf("two cases are named %s", c.Name)
				}
				names[c.Name] = true
				for _, rule := range c.Rules {
					if !slices.Contains(known, rule) {
						t.Errorf("%s is about %s, which no document has", c.Name, rule)
					}
				}
				run, is := runners[c.Kind]
				switch {
				case !is:
					t.Errorf("%s is of an unknown kind, %q", c.Name, c.Kind)
				case run == nil || missing(c.Needs):
					for _, rule := range c.Rules {
						described[rule] = append(described[rule], c.Name)
					}
				default:
					t.Run(c.Name, func(t *testing.T) {
						run(t, c)
						cases++
						for _, rule := range c.Rules {
							ran[rule]++
						}
					})
				}
			}
		})
	}
	t.Run("coverage", func(t *testing.T) { coverage(t, known, ran, described, cases) })
}

// missing tells whether a case needs what is not here. It is counted with those that are only described.
func missing(needs []string) bool {
	return slices.Contains(needs, "root") && !canChange() || slices.Contains(needs, "linux") && runtime.GOOS != "linux"
}

// atLeast is how many cases there have to be, so that a folder that got lost is missed.
const atLeast = 850

func coverage(t *testing.T, known []string, ran map[string]int, described map[string][]string, cases int) {
	if cases < atLeast {
		t.Errorf("%d cases ran, and at least %d must", cases, atLeast)
	}
	only := 0
	for _, rule := range known {
		if ran[rule] == 0 {
			t.Errorf("%s: no case ran; not run: %s", rule, strings.Join(described[rule], ", "))
		}
	}
	names := map[string]bool{}
	for rule, list := range described {
		for _, name := range list {
			if !names[name] {
				names[name] = true
				only++
				t.Logf("described only, or not possible here: %s (%s)", name, rule)
			}
		}
	}
	t.Logf("%d rules, %d cases ran, %d did not", len(known), cases, only)
}
