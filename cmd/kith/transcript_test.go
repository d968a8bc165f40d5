package main

import (
	testflag "flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kith-wire/kith/cmd/internal/built"
)

func TestMain(m *testing.M) {
	testflag.Parse()
	os.Exit(built.Main(m, "scribe", "kith"))
}

var update = testflag.Bool("update", false, "write what the transcripts get as what they expect")

// section is a part of a transcript: a line -- name --, and what stands below it.
type section struct{ name, body string }

// sections reads a transcript, which is in the txtar format; before is the comment at its head.
func sections(text string) (before string, list []section) {
	for line := range strings.Lines(text) {
		name, found := strings.CutPrefix(strings.TrimRight(line, "\n"), "-- ")
		if name, ends := strings.CutSuffix(name, " --"); found && ends {
			list = append(list, section{name: name})
		} else if len(list) == 0 {
			before += line
		} else {
			list[len(list)-1].body += line
		}
	}
	return before, list
}

// TestTranscripts runs the shell lines of the transcripts, and compares what they write and exit with. A section is
//
//	-- file NAME --  a program to be there
//	-- $ LINE --     a line of shell; what stands below is its stdin
//	-- stdout --, -- stderr --, -- exit N --  how the line before it ends, where there is something or N is not 0
func TestTranscripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d transcripts: %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(b))
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(b), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// play runs a transcript and returns it as it went.
func play(t *testing.T, text string) string {
	e := built.NewEnv(t)
	before, list := sections(text)
	out := strings.Builder{}
	out.WriteString(before)
	serving := map[string]bool{}
	for _, s := range list {
		if file, found := strings.CutPrefix(s.name, "file "); found {
			if err := os.WriteFile(filepath.Join(e.Dir, file), []byte(s.body), 0o755); err != nil {
				t.Fatal(err)
			}
			out.WriteString(txtar(s.name, s.body))
			continue
		}
		line, found := strings.CutPrefix(s.name, "$ ")
		if !found {
			continue // what was expected
		}
		out.WriteString(txtar(s.name, s.body))
		for file, flags := range map[string][]string{"main.sock": nil, "daemon.sock": {"--wire", "daemon"}} {
			if !serving[file] && strings.Contains(line, file) {
				serving[file] = true
				e.Serve(t, flags...)
			}
		}
		r := e.Run(t, s.body, "sh", "-c", line)
		if r.Out != "" {
			out.WriteString(txtar("stdout", plain(e, r.Out)))
		}
		if r.Err != "" {
			out.WriteString(txtar("stderr", plain(e, r.Err)))
		}
		if r.Status != 0 {
			out.WriteString(fmt.Sprintf("-- exit %d --\n", r.Status))
		}
	}
	return out.String()
}

func txtar(name, body string) string {
	if body != "" && !strings.HasSuffix(body, "\n") {
		body += "\\ no newline\n"
	}
	return "-- " + name + " --\n" + body
}

var changing = []struct {
	what *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`"at":( ?)"\d{4}-\d\d-\d\dT[0-9:.]+Z"`), `"at":$1"TIME"`},
	{regexp.MustCompile(`"pid":\d+`), `"pid":PID`},
}

// plain writes what differs from run to run as what it is.
func plain(e *built.Env, text string) string {
	text = strings.ReplaceAll(text, e.Dir, "DIR")
	for _, c := range changing {
		text = c.what.ReplaceAllString(text, c.to)
	}
	return text
}
