package conformance

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/kith-wire/kith/conformance/internal/value"
)

// pipeChecks are about lines.
var pipeChecks = []check{
	{"last-line", "PIPE-3", "the last line is answered without its end too", pipeDoor, false, checkLastLine},
	{"crlf", "PIPE-1", "CRLF ends a line too", pipeDoor, false, checkCRLF},
	{"only-lf", "PIPE-1", "only LF is written", pipeDoor, false, checkOnlyLF},
	{"blank-lines", "PIPE-1", "blank lines are ignored", pipeDoor, false, checkBlankLines},
	{"cbor-body", "ENC-2", "CBOR is malformed, in JSON, and the error names the socket", pipeDoor, false, checkCBORBody},
	{"sigterm", "PIPE-3", "SIGTERM is the end of the input: exit 0", pipeDoor, true, checkPipeSIGTERM},
	{"reader-gone", "ARGV-5", "a parent that reads no more: exit 1, and no death by signal", pipeDoor, true, checkReaderGone},
	{"endless-line", "LIMIT-2", "a line that never ends does not fill the memory", pipeDoor, true, checkEndlessLine},
}

func checkLastLine(p *probe) {
	for _, last := range []recipe{verbsCall, join(lined(verbsCall), verbsCall)} {
		t := p.endAtOnce(last)
		if len(t.replies) == 0 || !readReply(t.replies[len(t.replies)-1]).is(true) || !t.ending.exited(0) {
			p.fail(t, t, "the reply to verbs, whose line has no end, and exit 0")
		}
	}
}

func checkCRLF(p *probe) {
	t := p.talk(2, verbsCall.then("\r\n"), verbsCall.then("\r\n"))
	p.wantOK(t, 0)
	p.wantOK(t, 1)
}

func checkOnlyLF(p *probe) {
	t := p.talk(2, lined(verbsCall), lined(strangeCall))
	for _, b := range t.replies {
		if bytes.HasSuffix(b, []byte("\r")) {
			p.fail(t, t, "LF alone behind each reply")
		}
	}
	if len(t.rest) > 0 {
		p.fail(t, t, "LF behind each reply, the last one too")
	}
}

func checkBlankLines(p *probe) {
	t := p.talk(1, text("\n\r\n \t\n\n"), lined(verbsCall), text("\n\n"))
	if len(t.replies) != 1 || !readReply(t.replies[0]).is(true) {
		p.fail(t, t, "one reply, that to the call")
	}
}

func checkCBORBody(p *probe) {
	t := p.talk(2, lined(cborCall("verbs")), lined(verbsCall))
	if r, there := p.reply(t, 0); there && (!r.refused("malformed") || r.enc != value.JSON || !names(r.text("error"), "socket")) {
		p.fail(t, r, `a reply in JSON with the fault "malformed" whose error names the socket as the place for CBOR`)
	}
}

func checkPipeSIGTERM(p *probe) {
	e := told{"a call, its reply read, and then SIGTERM", "mkfifo /tmp/in; " + word(p.target.at) +
		` pipe < /tmp/in & exec 9> /tmp/in; printf '{"call":"verbs"}\n' >&9; sleep 1; kill -TERM %1; wait %1; echo "exit $?"`}
	s, err := p.open()
	if err != nil {
		p.broke("%v", err)
		return
	}
	defer s.close()
	s.write(lined(verbsCall).bytes())
	s.frame(time.Now().Add(p.wait)) // it runs now
	s.proc.cmd.Process.Signal(syscall.SIGTERM)
	if end := s.proc.wait(p.stopTime()); !end.exited(0) {
		p.fail(e, end, "exit 0")
	}
}

func checkReaderGone(p *probe) {
	r, w, err := os.Pipe()
	if err != nil {
		p.broke("%v", err)
		return
	}
	r.Close()
	p.cannotWrite(w, `printf '{"call":"verbs"}\n' | { `+word(p.target.at)+` pipe; echo "exit $?" >&2; } | true`, "pipe")
}

// What checkEndlessLine sends, and what it may cost: a buffer that doubles on its way to the cap, and its copy.
const (
	endless     = 96 << 20
	endlessCost = 80 << 20
)

func checkEndlessLine(p *probe) {
	s, err := p.open()
	if err != nil {
		p.broke("%v", err)
		return
	}
	defer s.close()
	before, known := memory(s.proc.cmd.Process.Pid, "VmHWM")
	if !known {
		p.skip("the memory of a process is not told by this system")
		return
	}
	t := transcript{d: p.door, pieces: []recipe{times("x", endless), lined(nil), lined(verbsCall)}}
	block := bytes.Repeat([]byte("x"), 1<<20)
	for range endless / len(block) {
		if err := s.write(block); err != nil {
			p.fail(t, fmt.Sprintf("it stopped reading: %v", err), "it reads the line to its end, and keeps no more than the cap of it")
			return
		}
	}
	after, _ := memory(s.proc.cmd.Process.Pid, "VmHWM")
	if after-before > endlessCost {
		p.fail(t, fmt.Sprintf("its memory grew by %d MiB", (after-before)>>20), "less than %d MiB for a cap of 16", endlessCost>>20)
	}
	s.write(join(lined(nil), lined(verbsCall)).bytes())
	s.closeWrite()
	t.read(s, 2, p.wait)
	if len(t.replies) < 2 || !readReply(t.replies[0]).refused("malformed") || !readReply(t.replies[1]).is(true) {
		p.fail(t, t, "one malformed reply to that line, and the next line is served")
	}
}

// memory is what the system says of a process, in bytes.
func memory(pid int, what string) (n int, known bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(b)) {
		if rest, found := strings.CutPrefix(line, what+":"); found {
			n, err := strconv.Atoi(strings.Fields(rest)[0])
			return n << 10, err == nil
		}
	}
	return 0, false
}
