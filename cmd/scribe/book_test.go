package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kith-wire/kith/cmd/internal/built"
)

func bookOf(e *built.Env) string { return filepath.Join(e.Dir, "state", "scribe", "book.jsonl") }

func contents(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestNotebook(t *testing.T) {
	e := built.NewEnv(t)
	first := kept(t, e, "note", "Grüße aus Łódź", "Reise")[0]
	if at, err := time.Parse(time.RFC3339Nano, first.At); err != nil || at.Location() != time.UTC || time.Since(at) > time.Hour {
		t.Errorf("at is %q: %v", first.At, err)
	}
	kept(t, e, "note", "second")
	kept(t, e, "note", "third", "a", "B")
	same(t, "list", ids(kept(t, e, "list")), []int64{1, 2, 3})
	same(t, "list 2", ids(kept(t, e, "list", "2")), []int64{2, 3})
	same(t, "list 9", ids(kept(t, e, "list", "9")), []int64{1, 2, 3})
	same(t, "list 0", ids(kept(t, e, "list", "0")), []int64(nil))
	same(t, "find in a text", ids(kept(t, e, "find", "GRÜSSE")), []int64(nil)) // ß has no single capital
	same(t, "find in a text", ids(kept(t, e, "find", "łóD")), []int64{1})
	same(t, "find in a tag", ids(kept(t, e, "find", "b")), []int64{3})
	same(t, "get", kept(t, e, "get", "1"), []note{first})
	same(t, "forget", kept(t, e, "forget", "1"), []note{first})
	for _, verb := range []string{"get", "forget"} {
		if a := ask(t, e, verb, "1"); a.OK || a.Fault != "refused" {
			t.Errorf("%s 1 once it is forgotten: %+v", verb, a)
		}
	}
	same(t, "list without it", ids(kept(t, e, "list")), []int64{2, 3})
}

// TestIDs are never used twice: not when the highest was forgotten, not in another process, not where a line is lost.
func TestIDs(t *testing.T) {
	e := built.NewEnv(t)
	_, at := e.Serve(t)
	kept(t, e, "note", "one")
	kept(t, e, "note", "two")
	kept(t, e, "forget", "2")
	same(t, "behind a forgotten one", kept(t, e, "note", "three")[0].ID, int64(3))
	var by []note
	for _, reply := range strings.Split(strings.TrimSpace(e.OK(t, "", "kith", "call", at, "note", "four")), "\n") {
		by = append(by, read(t, reply).Result...)
	}
	same(t, "by the daemon", ids(by), []int64{4})
	same(t, "and behind it", kept(t, e, "note", "five")[0].ID, int64(5))
	appendTo(t, bookOf(e), `{"id":6,"at":"2026-01-01T00:00:00Z","te`+"\x00\n")
	r := e.Run(t, "", "scribe", "note", "seven")
	same(t, "behind a line that is lost", one(t, r.Out).ID, int64(7))
	appendTo(t, bookOf(e), `{"forget":20,"at":"2026-01-01T00:00:00Z"}`+"\n")
	same(t, "behind one whose note is lost and forgotten", one(t, e.Run(t, "", "scribe", "note", "x").Out).ID, int64(21))
}

func appendTo(t testing.TB, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// TestBookIsPrivate makes the book and its directories for their owner alone, under any umask.
func TestBookIsPrivate(t *testing.T) {
	e := built.NewEnv(t)
	e.Set("SCRIBE_BOOK", filepath.Join(e.Dir, "a", "b", "book"))
	e.Sh(t, "umask 0; scribe list; test ! -e a; scribe note x")
	for path, want := range map[string]os.FileMode{"a": 0o700, "a/b": 0o700, "a/b/book": 0o600} {
		info, err := os.Stat(filepath.Join(e.Dir, path))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s is %v, %v", path, info.Mode(), err)
		}
	}
}

// TestTogether lets two daemons, four pipes and one-shot runs write at once: every note is there, every id is its own.
func TestTogether(t *testing.T) {
	e := built.NewEnv(t)
	const each = 50
	_, a := e.Serve(t, "--instance", "a")
	_, b := e.Serve(t, "--instance", "b")
	script := "for i in 1 2 3 4; do (i=0; while [ $i -lt " + itoa(each) + " ]; do i=$((i+1)); echo '{\"call\":\"note\",\"args\":[\"pipe\"]}'; done | scribe pipe) & done\n" +
		"(i=0; while [ $i -lt " + itoa(each) + " ]; do i=$((i+1)); scribe note cli; done) &\n" +
		"for at in " + a + " " + b + "; do (i=0; while [ $i -lt " + itoa(each) + " ]; do i=$((i+1)); kith call unix:$at note daemon; done) & done; wait"
	seen := map[int64]bool{}
	for _, reply := range strings.Split(strings.TrimSpace(e.Sh(t, script)), "\n") {
		for _, n := range read(t, reply).Result {
			if seen[n.ID] {
				t.Errorf("id %d was given twice", n.ID)
			}
			seen[n.ID] = true
		}
	}
	if got := kept(t, e, "list"); len(got) != 7*each || len(seen) != 7*each || got[7*each-1].ID != 7*each {
		t.Errorf("%d notes are in the book, %d were promised, of %d", len(got), len(seen), 7*each)
	}
}

// TestKilled kills writers with SIGKILL in the middle: what was answered is there, and the book stays readable.
func TestKilled(t *testing.T) {
	e := built.NewEnv(t)
	promised := map[int64]bool{}
	for range 15 {
		p := e.Start(t, "scribe", "pipe")
		p.Say(t, `{"call":"note","args":["`+strings.Repeat("x", 5000)+`"]}`)
		for range rand.IntN(20) {
			promised[one(t, p.Line(t)).ID] = true
			p.Say(t, `{"call":"note","args":["`+strings.Repeat("y", rand.IntN(50000))+`"]}`)
		}
		p.Stop(t, syscall.SIGKILL)
	}
	r := e.Run(t, "", "scribe", "list")
	for _, n := range read(t, r.Out).Result {
		delete(promised, n.ID)
	}
	if len(promised) > 0 {
		t.Errorf("these were answered and are lost: %v", promised)
	}
	// A write that was cut is told on stderr, and costs no other note.
	if r := e.Run(t, "", "scribe", "note", "after all"); len(read(t, r.Out).Result) != 1 {
		t.Errorf("no note can be kept any more: %s%s", r.Out, r.Err)
	}
}

// quiet drops what the test's own process says on stderr.
func quiet(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	loud := os.Stderr
	os.Stderr = null
	t.Cleanup(func() {
		os.Stderr = loud
		null.Close()
	})
}

// TestTorn cuts the book anywhere in its last line: that note is lost, it is said once, and the next one is whole.
func TestTorn(t *testing.T) {
	e := built.NewEnv(t)
	kept(t, e, "note", "first")
	kept(t, e, "note", "second é")
	quiet(t)
	whole := contents(t, bookOf(e))
	start := strings.Index(whole, "\n") + 1
	for cut := start; cut <= len(whole); cut++ {
		if err := os.WriteFile(bookOf(e), []byte(whole[:cut]), 0o600); err != nil {
			t.Fatal(err)
		}
		b := newBook(bookOf(e), nil) // the program's own way, without its start-up for every byte
		want := []string{"first"}
		if cut >= len(whole)-1 { // only the end of the line is missing
			want = append(want, "second é")
		}
		notes, err := b.all(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		same(t, fmt.Sprintf("cut at %d", cut), texts(notes), want)
		if _, err := b.add(context.Background(), "third", nil); err != nil {
			t.Fatal(err)
		}
		for who, b := range map[string]*book{"by who added": b, "by another": newBook(bookOf(e), nil)} {
			notes, _ := b.all(context.Background())
			same(t, fmt.Sprintf("cut at %d, %s", cut, who), texts(notes), append(want, "third"))
		}
	}
	if err := os.WriteFile(bookOf(e), []byte(whole[:len(whole)-5]), 0o600); err != nil {
		t.Fatal(err)
	}
	r := e.Run(t, `{"call":"list"}`+"\n"+`{"call":"list"}`+"\n"+`{"call":"note","args":["next"]}`+"\n"+`{"call":"list"}`, "scribe", "pipe")
	if strings.Count(r.Err, "\n") != 1 || !strings.Contains(r.Err, fmt.Sprintf("the line at byte %d ", start)) {
		t.Errorf("stderr of one process: %q", r.Err)
	}
}

// TestUnreadable leaves out lines in the middle that are no notes, and says so once each.
func TestUnreadable(t *testing.T) {
	e := built.NewEnv(t)
	kept(t, e, "note", "first")
	appendTo(t, bookOf(e), "\n  \nno json\n[1]\n{\"id\":0,\"text\":\"x\"}\n{\"id\":1,\"at\":\"\",\"text\":\"again\",\"tags\":[]}\n{\"text\":\"no id\"}\n\xff\n")
	r := e.Run(t, "", "scribe", "note", "second")
	if strings.Count(r.Err, "\n") != 6 || strings.Count(r.Err, "left out") != 6 {
		t.Errorf("stderr: %q", r.Err)
	}
	r = e.Run(t, "", "scribe", "list")
	same(t, "the rest", texts(read(t, r.Out).Result), []string{"first", "second"})
}

// TestNotLanded makes writes fail as they do in life: the note is refused as failed, and nothing of it stays.
func TestNotLanded(t *testing.T) {
	e := built.NewEnv(t)
	kept(t, e, "note", "first")
	before := contents(t, bookOf(e))
	failed := func(what, reply string) {
		t.Helper()
		if a := read(t, reply); a.OK || a.Fault != "failed" {
			t.Errorf("%s: %+v", what, a)
		}
		if now := contents(t, bookOf(e)); now != before {
			t.Errorf("%s: the book is %q", what, now)
		}
	}
	long := strings.Repeat("x", 3000)
	failed("a file size limit (EFBIG)", e.Sh(t, "ulimit -f 2; exec scribe note "+long))
	failed("and forget beyond it", e.Sh(t, "ulimit -f 0; exec scribe forget 1"))
	same(t, "reading goes on", texts(read(t, e.Sh(t, "ulimit -f 0; exec scribe list")).Result), []string{"first"})

	// A daemon lives on, and keeps what fits.
	out := e.Sh(t, `printf '{"call":"note","args":["`+long+`"]}\n{"call":"note","args":["fits"]}\n' | (ulimit -f 2; exec scribe pipe)`)
	replies := strings.Split(out, "\n")
	if a := read(t, replies[0]); a.Fault != "failed" {
		t.Errorf("at the pipe: %+v", a)
	}
	same(t, "what fits", one(t, replies[1]).ID, int64(2))

	full := built.NewEnv(t)
	full.Set("SCRIBE_BOOK", "/dev/full")
	if a := ask(t, full, "note", "x"); a.Fault != "failed" || !strings.Contains(a.Error, "no space left") {
		t.Errorf("/dev/full: %+v", a)
	}
	for _, at := range []string{"/dev/null", full.Dir, filepath.Join(bookOf(e), "x")} {
		full.Set("SCRIBE_BOOK", at)
		if a := ask(t, full, "note", "x"); a.Fault != "failed" {
			t.Errorf("%s: %+v", at, a)
		}
	}
}

// TestReadOnly is a book that its user may read and not write.
func TestReadOnly(t *testing.T) {
	e := built.NewEnv(t)
	kept(t, e, "note", "first")
	run := func(args ...string) answer {
		cmd := e.Command(t, "scribe", args...)
		if os.Getuid() == 0 { // root may write whatever it may read: be somebody else
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return read(t, string(out))
	}
	for _, dir := range []string{filepath.Dir(built.Path("scribe")), e.Dir, filepath.Join(e.Dir, "state"), filepath.Dir(bookOf(e))} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(bookOf(e), 0o444); err != nil {
		t.Fatal(err)
	}
	same(t, "list", texts(run("list").Result), []string{"first"})
	for _, args := range [][]string{{"note", "x"}, {"forget", "1"}} {
		if a := run(args...); a.Fault != "failed" || !strings.Contains(a.Error, "permission denied") {
			t.Errorf("%q: %+v", args, a)
		}
	}
}

// TestReplaced changes the file under a daemon, which reads what is there now.
func TestReplaced(t *testing.T) {
	e := built.NewEnv(t)
	p := e.Start(t, "scribe", "pipe")
	list := func() []string {
		t.Helper()
		p.Say(t, `{"call":"list"}`)
		return texts(read(t, p.Line(t)).Result)
	}
	for _, text := range []string{"one", "two", "three"} {
		kept(t, e, "note", text)
		list()
	}
	book := contents(t, bookOf(e))
	cut := book[:strings.LastIndex(strings.TrimSuffix(book, "\n"), "\n")+1]
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(bookOf(e), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(cut)
	same(t, "cut", list(), []string{"one", "two"})
	write(strings.ReplaceAll(book, "one", "ONE"))
	same(t, "written over", list(), []string{"ONE", "two", "three"})
	write(strings.ReplaceAll(book, "two", "a longer one") + strings.ReplaceAll(book[len(cut):], `{"id":3`, `{"id":4`))
	same(t, "written over and longer", list(), []string{"one", "a longer one", "three", "three"})
	if err := os.Rename(bookOf(e), bookOf(e)+".old"); err != nil {
		t.Fatal(err)
	}
	same(t, "gone", list(), []string(nil))
	kept(t, e, "note", "new")
	same(t, "a new one", list(), []string{"new"})
	p.In.Close()
	if r := p.Wait(t); r.Status != 0 {
		t.Errorf("it ended with %+v", r)
	}
}
