package vectors_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// sessions reads the conversations. Each is a txtar file: text about it, with a line rules: and a line door:, and then sections.
func sessions(t testing.TB) (cases []testCase) {
	t.Helper()
	paths, err := filepath.Glob("sessions/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		c := testCase{Name: strings.TrimSuffix(filepath.Base(path), ".txtar"), Kind: "session"}
		head, list := sections(string(b))
		for line := range strings.Lines(head) {
			switch name, value, _ := strings.Cut(strings.TrimSpace(line), ": "); name {
			case "rules":
				c.Rules = strings.Fields(value)
			case "door":
				c.Door = value
			default:
				c.About += line
			}
		}
		c.sections = list
		cases = append(cases, c)
	}
	return cases
}

type section struct{ name, body string }

func sections(text string) (head string, list []section) {
	for line := range strings.Lines(text) {
		name, found := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "-- ")
		if name, ends := strings.CutSuffix(name, " --"); found && ends {
			list = append(list, section{name: name})
		} else if len(list) == 0 {
			head += line
		} else {
			list[len(list)-1].body += line
		}
	}
	return head, list
}

// runSession plays a conversation with the program under test.
func runSession(t *testing.T, c testCase) {
	if len(c.sections) == 0 {
		t.Fatal("nothing is said")
	}
	st := newStage(t)
	if c.Door == "cli" {
		runWords(t, st, c.sections)
		return
	}
	var w *wire
	switch c.Door {
	case "pipe":
		st.take(t, step{Do: "start", As: "s", Words: []string{"pipe"}})
		w = st.wires["s"]
	case "socket":
		st.take(t, step{Do: "start", As: "p", Words: []string{"serve"}})
		st.take(t, step{Do: "expect", On: "p", Replies: []string{`{"event":"listening","at":"$DIR/run/scribe/main.sock"}`}})
		st.take(t, step{Do: "connect", As: "s", At: "$DIR/run/scribe/main.sock"})
		w = st.wires["s"]
	default:
		t.Fatalf("door %q", c.Door)
	}
	for _, s := range c.sections {
		switch s.name {
		case "send":
			for line := range strings.Lines(s.body) {
				w.send(t, step{Bytes: framed(strings.TrimSuffix(line, "\n"), w.order != nil)})
			}
		case "expect":
			w.expect(t, step{Replies: strings.Split(strings.TrimSuffix(s.body, "\n"), "\n")})
		default:
			t.Fatalf("section %q at the door %s", s.name, c.Door)
		}
	}
	w.end()
	w.closed(t)
	if status := 0; c.Door == "pipe" {
		st.take(t, step{Do: "exit", Of: "s", Status: &status})
	}
}

func framed(body string, frames bool) data {
	p := piece{Line: data(body)}
	if frames {
		p = piece{Frame: data(body)}
	}
	b, err := p.make()
	if err != nil {
		panic(err)
	}
	return b
}

// runWords runs command lines: a section words, one word a line, and behind it what is given and what must come.
func runWords(t *testing.T, st *stage, list []section) {
	for i := 0; i < len(list); {
		if list[i].name != "words" {
			t.Fatalf("section %q stands before words", list[i].name)
		}
		none := ""
		s := step{Do: "run", Words: strings.Split(strings.TrimSuffix(list[i].body, "\n"), "\n"), Stdout: &none, Stderr: &none}
		if list[i].body == "" {
			s.Words = nil
		}
		for i++; i < len(list) && list[i].name != "words"; i++ {
			body := list[i].body
			switch list[i].name {
			case "stdin":
				in := data(bytes.Clone([]byte(body)))
				s.Stdin = &in
			case "stdout":
				s.Stdout = &body
			case "stderr":
				s.Stderr = &body
			case "status":
				n, err := strconv.Atoi(strings.TrimSpace(body))
				if err != nil {
					t.Fatal(err)
				}
				s.Status = &n
			default:
				t.Fatalf("section %q at the cli", list[i].name)
			}
		}
		st.take(t, s)
	}
}
