package conformance

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/kith-wire/kith/conformance/internal/value"
)

// cliChecks are about argv: words in, one object out, an exit status.
var cliChecks = []check{
	{"stdout", "ARGV-1", "stdout is one object: JSON ends with one newline, CBOR with nothing", cliDoor, false, checkStdout},
	{"refusal-exit", "ARGV-2", "a refusal exits 0", cliDoor, false, checkRefusalExit},
	{"no-verb", "ARGV-2", "without a verb: exit 2, why on stderr, stdout empty", cliDoor, false, checkNoVerb},
	{"bad-list", "ARGV-2", "--args that is no list: exit 2, why on stderr, stdout empty", cliDoor, false, checkBadList},
	{"help", "ARGV-2", "help is text on stdout, exit 0", cliDoor, false, checkHelp},
	{"flags", "ARGV-3", "flags may stand before the verb, and -- ends them", cliDoor, false, checkFlags},
	{"unknown-flag", "ARGV-3", "an unknown flag is refused by name", cliDoor, false, checkUnknownFlag},
	{"words-and-list", "ARGV-3", "words beside --args are refused", cliDoor, false, checkWordsAndList},
	{"not-utf8", "ARGV-3", "a word that is not UTF-8 is refused", cliDoor, false, checkNotUTF8},
	{"list-on-stdin", "ARGV-3", "--args - reads the list from stdin, in either encoding", cliDoor, false, checkListOnStdin},
	{"stdin", "ARGV-4", "stdin is not read when nobody asks for it", cliDoor, false, checkStdin},
	{"broken-stdout", "ARGV-5", "a reply that cannot be written: exit 1, and no death by signal", cliDoor, false, checkBrokenStdout},
}

func checkStdout(p *probe) {
	for _, args := range [][]string{{"verbs"}, {"verbs", "--json"}, {strange}} {
		o := p.run(args...)
		line, rest, ended := bytes.Cut(o.stdout, []byte("\n"))
		if len(line) > 0 && (!ended || len(rest) > 0 || line[0] != '{' || line[len(line)-1] != '}') {
			p.fail(o, o, "one JSON object and one newline on stdout, and nothing else")
		}
	}
	for _, args := range [][]string{{"verbs", "--cbor"}, {strange, "--cbor"}} {
		o := p.run(args...)
		if r := readReply(o.stdout); len(o.stdout) > 0 && r.enc == value.CBOR && r.err != nil {
			p.fail(o, o, "one CBOR map on stdout, and nothing behind it: %v", r.err)
		}
	}
}

func checkRefusalExit(p *probe) {
	for _, args := range [][]string{{strange}, {strange, "--cbor"}} {
		if o := p.run(args...); len(o.stdout) > 0 && !o.exited(0) {
			p.fail(o, o, "exit 0: a reply was written")
		}
	}
	if o := p.run("verbs"); !o.exited(0) {
		p.fail(o, o, "exit 0: a reply was written")
	}
}

// nothing reports a run that does not end with exit 2, a word on stderr and an empty stdout.
func (p *probe) nothing(o outcome) {
	if !o.exited(2) || len(o.stdout) > 0 || o.stderr == "" {
		p.fail(o, o, "exit 2, why on stderr, and nothing on stdout: there was no call to answer")
	}
}

func checkNoVerb(p *probe) { p.nothing(p.run()) }

func checkBadList(p *probe) {
	for _, args := range [][]string{{"verbs", "--args"}, {"verbs", "--args", "["}, {"verbs", "--args", "{}"}, {"verbs", "--args", ""}} {
		p.nothing(p.run(args...))
	}
	p.nothing(p.runWith(text("[1,"), "verbs", "--args", "-"))
	p.nothing(p.runWith(text(`["`).thenTimes("x", caps[Pipe]).then(`"]`), "verbs", "--args", "-"))
}

func checkHelp(p *probe) {
	for _, args := range [][]string{{"--help"}, {"-h"}, {"help"}, {"verbs", "--help"}, {"verbs", "-h"}} {
		o := p.run(args...)
		if !o.exited(0) || len(o.stdout) == 0 || bytes.HasPrefix(o.stdout, []byte("{")) {
			p.fail(o, o, "text for people on stdout, and exit 0")
		}
	}
}

func checkFlags(p *probe) {
	if o := p.run("--cbor", "verbs"); printed(o.stdout).enc != value.CBOR || !printed(o.stdout).is(true) {
		p.fail(o, o, "the reply to verbs in CBOR")
	}
	if o := p.run("verbs", "--"); !printed(o.stdout).is(true) {
		p.fail(o, o, "the reply to verbs: -- ends the flags, and no word follows")
	}
	if o := p.run("verbs", "--", "--cbor"); printed(o.stdout).enc != value.JSON || !printed(o.stdout).is(false) {
		p.fail(o, o, "a refusal in JSON: behind -- it is a word, and verbs takes none")
	}
}

// refusedRun reports a run that does not end with exit 0 and a refusal, whose error names what it is about.
func (p *probe) refusedRun(o outcome, named ...string) {
	r := printed(o.stdout)
	if !r.refused("refused") || !o.exited(0) || len(named) > 0 && !names(r.text("error"), named...) {
		p.fail(o, o, "exit 0, and a refusal on stdout %s", strings.TrimSpace("that names "+strings.Join(named, " or ")))
	}
}

func checkUnknownFlag(p *probe) {
	p.refusedRun(p.run("verbs", "--kith-check-flag"), "kith-check-flag")
	p.refusedRun(p.run("--kith-check-flag", "verbs"), "kith-check-flag")
}

func checkWordsAndList(p *probe) {
	p.refusedRun(p.run("verbs", "word", "--args", "[]"), "word", "args")
}

func checkNotUTF8(p *probe) {
	p.refusedRun(p.run("\xff"))
	p.refusedRun(p.run("verbs", "a\xffb"))
}

func checkListOnStdin(p *probe) {
	for _, list := range []string{"[]", " [ ]\n", "\x80", "\x9f\xff"} {
		if o := p.runWith(text(list), "verbs", "--args", "-"); !printed(o.stdout).is(true) || printed(o.stdout).enc != value.JSON {
			p.fail(o, o, "the reply to verbs, in JSON: the encoding of the list is not that of the reply")
		}
	}
}

// checkStdin gives the program a pipe that holds something and stays open. It must end, and leave all of it there.
func checkStdin(p *probe) {
	const held = "left alone\n"
	e := told{"the command line " + p.target.at + " verbs with stdin open, " + held + " in it",
		"(printf 'left alone\\n'; sleep 5) | { " + word(p.target.at) + " verbs; cat; }"}
	r, w, err := os.Pipe()
	if err != nil {
		p.broke("%v", err)
		return
	}
	defer r.Close()
	defer w.Close()
	w.WriteString(held)
	proc, err := p.start(launch{args: []string{"verbs"}, stdin: r})
	if err != nil {
		p.broke("%v", err)
		return
	}
	defer proc.kill()
	if end := proc.wait(p.wait); end.hung > 0 {
		p.fail(e, end, "an end, though stdin stays open: verbs has no use for it")
		proc.kill()
	}
	w.Close()
	r.SetReadDeadline(time.Now().Add(p.wait))
	left := make([]byte, len(held)+1)
	if n, _ := r.Read(left); string(left[:n]) != held {
		p.fail(e, "of what stdin held this is left: "+show(left[:n]), "all of it, for whoever reads the same stdin next")
	}
}

func checkBrokenStdout(p *probe) {
	r, w, err := os.Pipe()
	if err != nil {
		p.broke("%v", err)
		return
	}
	r.Close()
	p.cannotWrite(w, word(p.target.at)+" verbs | true; echo \"exit ${PIPESTATUS[0]}\"", "verbs")
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		p.broke("%v", err)
		return
	}
	p.cannotWrite(full, word(p.target.at)+" verbs > /dev/full; echo \"exit $?\"", "verbs")
}

// cannotWrite runs the program with a stdout that takes nothing, and closes that.
func (p *probe) cannotWrite(stdout *os.File, line string, args ...string) {
	defer stdout.Close()
	proc, err := p.start(launch{args: args, stdout: stdout})
	if err != nil {
		p.broke("%v", err)
		return
	}
	defer proc.kill()
	proc.in.SetWriteDeadline(time.Now().Add(p.wait))
	proc.in.Write(lined(verbsCall).bytes()) // for a pipe; the cli does not read it
	proc.in.Close()
	if end := proc.wait(p.wait); !end.exited(1) {
		p.fail(told{"a call whose reply cannot be written to stdout", line}, end, "exit 1, by itself and not by a signal")
	}
}
