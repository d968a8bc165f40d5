package pipe_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kith-wire/kith/transport/internal/reexec"
	"github.com/kith-wire/kith/transport/transporttest"
)

const (
	echo      = `{"call":"echo","args":["a"]}`
	echoed    = `{"ok":true,"family":1,"n":1,"result":["a"]}` + "\n"
	malformed = `{"ok":false,"family":1,"n":0,"result":[],"error":"`
)

// TestEndOfInput: every line that was read is answered, the last one without its end too, and then it exits 0, every time, however
// the end and the answers race (PIPE-3).
func TestEndOfInput(t *testing.T) {
	runs := 200
	if testing.Short() || raceDetector {
		runs = 40
	}
	for range runs {
		r := reexec.Run(t, echo+"\n"+`{"call":"door"}`, "serve")
		if want := echoed + `{"ok":true,"family":1,"n":1,"result":["pipe"]}` + "\n"; r.Out != want || r.Status != 0 || r.Err != "" {
			t.Fatalf("exit %d, %q, stderr %q", r.Status, r.Out, r.Err)
		}
	}
	for in, want := range map[string]string{"": "", "\n": "", echo: echoed, echo + "\n" + echo + "\n": echoed + echoed} {
		if r := reexec.Run(t, in, "serve"); r.Out != want || r.Status != 0 {
			t.Errorf("%q: exit %d, %q", in, r.Status, r.Out)
		}
	}
	if r := reexec.Run(t, strings.Repeat(echo+"\n", 5000), "serve"); r.Out != strings.Repeat(echoed, 5000) || r.Status != 0 {
		t.Errorf("5000 lines: exit %d, %d bytes", r.Status, len(r.Out))
	}
}

// TestLines: CRLF and outer space are tolerated, blank lines ignored, a bad line gets one reply and the next is served, an event
// none; only LF is written (PIPE-1, PIPE-2, SHAPE-6, ENC-2).
func TestLines(t *testing.T) {
	for in, want := range map[string]string{
		echo + "\r\n":                                echoed,
		" \t" + echo + "  \t\r\n":                    echoed,
		"\n\r\n \t\n\n" + echo + "\n\n":              echoed,
		"nonsense\n" + echo + "\n":                   malformed,
		"[]\n" + echo + "\n":                         malformed,
		`{"call":""}` + "\n" + echo + "\n":           malformed,
		"\xef\xbb\xbf{}\n" + echo + "\n":             malformed,
		"\xa1\x64call\x64echo\n" + echo + "\n":       malformed,
		`{"event":"x"}` + "\n" + echo + "\n":         echoed,
		`{"event":"x","a":1e999}` + "\n" + echo:      echoed,
		`{"event":1}` + "\n" + echo + "\n":           echoed,
		`{"call":"echo","args":["\n\u2028"]}` + "\n": `{"ok":true,"family":1,"n":1,"result":["\n` + "\u2028" + `"]}` + "\n",
	} {
		r := reexec.Run(t, in, "serve")
		lines := strings.SplitAfter(r.Out, "\n")
		bad := want == malformed
		switch {
		case r.Status != 0 || strings.Contains(r.Out, "\r"):
			t.Errorf("%q: exit %d, %q", in, r.Status, r.Out)
		case !bad && r.Out != want:
			t.Errorf("%q: %q", in, r.Out)
		case bad && (len(lines) != 3 || !strings.HasPrefix(lines[0], malformed) ||
			!strings.HasSuffix(lines[0], `,"fault":"malformed"}`+"\n") || lines[1] != echoed):
			t.Errorf("%q: %q", in, r.Out)
		case in[0] == '\xa1' && !strings.Contains(lines[0], "socket"):
			t.Errorf("CBOR: %q", lines[0])
		}
	}
}

// TestLongLines: around the sizes that buffers have, and around the cap: a line over it is answered with its size and the cap, and
// the next line is served (LIMIT-1, LIMIT-4).
func TestLongLines(t *testing.T) {
	line := func(size int) string {
		const around = len(`{"call":"echo","args":[""]}`)
		return `{"call":"echo","args":["` + strings.Repeat("x", size-around) + `"]}`
	}
	const limit = 16 << 20
	for _, size := range []int{4095, 4096, 4097, 65535, 65536, 65537, 1 << 20} {
		r := reexec.Run(t, line(size)+"\n"+echo+"\n", "serve")
		want := `{"ok":true,"family":1,"n":1,"result":["` + line(size)[24:size-3] + `"]}` + "\n" + echoed
		if r.Out != want || r.Status != 0 {
			t.Errorf("a line of %d bytes: exit %d, %d bytes, want %d", size, r.Status, len(r.Out), len(want))
		}
	}
	// A reply is a little longer than its line: one of the largest lines does not fit, and says so (LIMIT-3).
	r := reexec.Run(t, line(limit)+"\r\n"+echo+"\n", "serve")
	if want := fmt.Sprintf("the reply is %d bytes and the cap is %d\",\"fault\":\"failed\"}\n", limit+15, limit); !strings.Contains(r.Out, want+echoed) {
		t.Errorf("a line of the cap: %.300q", r.Out)
	}
	for _, end := range []string{"\n", "\r\n"} {
		r = reexec.Run(t, line(limit+1)+end+echo+"\n", "serve")
		want := fmt.Sprintf("%sa line of %d bytes is over the cap of %d\",\"fault\":\"malformed\"}\n%s", malformed, limit+1, limit, echoed)
		if r.Out != want || r.Status != 0 {
			t.Errorf("a line over the cap: exit %d, %.300q", r.Status, r.Out)
		}
	}
	cmd := reexec.Command(t, "serve")
	cmd.Env, cmd.Stdin = append(cmd.Env, "FRAME=200"), strings.NewReader(line(201)+"\n"+echo)
	if r := reexec.Wait(t, cmd); !strings.Contains(r.Out, "a line of 201 bytes is over the cap of 200") || !strings.HasSuffix(r.Out, echoed) {
		t.Errorf("a cap of 200: %q", r.Out)
	}
}

// TestStrayPrints: what a handler and its child print is on stderr (ARGV-5).
func TestStrayPrints(t *testing.T) {
	r := reexec.Run(t, `{"call":"print"}`+"\n"+echo, "serve")
	if want := `{"ok":true,"family":1,"n":1,"result":["printed"]}` + "\n" + echoed; r.Out != want || r.Status != 0 {
		t.Errorf("exit %d, %q", r.Status, r.Out)
	}
	if r.Err != "stray\nfrom a child\n" {
		t.Errorf("stderr %q", r.Err)
	}
}

// TestNobodyReads: a full disk, and a parent that has closed its end, exit 1 with a sentence, and by no signal (ARGV-5).
func TestNobodyReads(t *testing.T) {
	r, unread, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	targets := []*os.File{unread}
	if full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0); err == nil {
		targets = append(targets, full)
	} else if os.Getenv("KITH_REQUIRE") == "1" {
		t.Fatal(err)
	}
	for _, stdout := range targets {
		cmd := reexec.Command(t, "serve")
		in, _ := cmd.StdinPipe()
		io.WriteString(in, echo+"\n") // and stays open
		cmd.Stdout = stdout
		got := reexec.Wait(t, cmd)
		if got.Status != 1 || !strings.HasPrefix(got.Err, "serve: ") || strings.Count(got.Err, "\n") != 1 {
			t.Errorf("%s: exit %d, stderr %q", stdout.Name(), got.Status, got.Err)
		}
		stdout.Close()
	}
}

// TestUnwantedReply: a reply nobody waits for ends the connection with exit 1, and is not answered (CLIENT-3).
func TestUnwantedReply(t *testing.T) {
	r := reexec.Run(t, echo+"\n"+good+"\n"+echo+"\n", "serve")
	if r.Status != 1 || strings.Contains(r.Out, `"ok":false`) || r.Err != "serve: a reply came that nobody waited for\n" {
		t.Errorf("exit %d, %q, stderr %q", r.Status, r.Out, r.Err)
	}
}

// held is a served pipe whose ends the test holds.
type held struct {
	*exec.Cmd
	in     io.WriteCloser
	stdout io.ReadCloser
	out    *bufio.Reader // of it
	errs   *bufio.Reader
}

func hold(t *testing.T, program string) *held {
	t.Helper()
	cmd := reexec.Command(t, program)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return &held{cmd, in, out, bufio.NewReader(out), bufio.NewReader(errs)}
}

// line reads one line.
func line(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	s, err := r.ReadString('\n')
	if err != nil {
		t.Fatalf("%q, %v", s, err)
	}
	return s
}

// end reads the rest, and waits.
func (h *held) end(t *testing.T) reexec.Result {
	t.Helper()
	out, _ := io.ReadAll(h.out)
	errs, _ := io.ReadAll(h.errs)
	h.Wait()
	return reexec.Result{Out: string(out), Err: string(errs), Status: h.ProcessState.ExitCode()}
}

// TestSIGTERM is an end of input: idle it exits 0 at once; what has arrived is answered first, a call under way too (PIPE-3).
func TestSIGTERM(t *testing.T) {
	h := hold(t, "serve")
	io.WriteString(h.in, echo+"\n")
	line(t, h.out)
	h.Process.Signal(syscall.SIGTERM)
	if r := h.end(t); r.Status != 0 || r.Out != "" || r.Err != "" {
		t.Errorf("idle: exit %d, %q, stderr %q", r.Status, r.Out, r.Err)
	}

	path := filepath.Join(t.TempDir(), "go on")
	h = hold(t, "serve")
	io.WriteString(h.in, fmt.Sprintf(`{"call":"wait","args":[%q]}`, path)+"\n")
	line(t, h.errs)
	io.WriteString(h.in, echo+"\n"+echo+"\n"+`{"call":"ec`) // a started line is cut
	h.Process.Signal(syscall.SIGTERM)
	h.Process.Signal(syscall.SIGTERM)
	os.WriteFile(path, nil, 0o600)
	want := `{"ok":true,"family":1,"n":1,"result":["waited"]}` + "\n" + echoed + echoed
	if r := h.end(t); r.Status != 0 || r.Out != want || r.Err != "" {
		t.Errorf("at work: exit %d, %q, stderr %q", r.Status, r.Out, r.Err)
	}
}

// TestSIGTERMIsBounded: a handler that ends with its context, and one that does not, hold the end up for 5 s and no longer; a call
// was not answered, so it is no end in order (PIPE-3).
func TestSIGTERMIsBounded(t *testing.T) {
	for _, verb := range []string{"until", "hang"} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			h := hold(t, "serve")
			io.WriteString(h.in, `{"call":"`+verb+`"}`+"\n")
			line(t, h.errs)
			start := time.Now()
			h.Process.Signal(syscall.SIGTERM)
			r := h.end(t)
			if took := time.Since(start); r.Status != 1 || took > 7*time.Second || took < 4*time.Second {
				t.Errorf("exit %d after %v, stderr %q", r.Status, took, r.Err)
			}
		})
	}
}

// TestParentIsGone: a handler is told by its context that nobody is there any more, and one that does not listen holds the end up
// for 5 s and no longer (CLIENT-7, PIPE-4).
func TestParentIsGone(t *testing.T) {
	for verb, limit := range map[string]time.Duration{"until": 4 * time.Second, "hang": 9 * time.Second} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			h := hold(t, "serve")
			io.WriteString(h.in, `{"call":"`+verb+`"}`+"\n")
			line(t, h.errs)
			start := time.Now()
			h.in.Close()
			h.stdout.Close()
			errs, _ := io.ReadAll(h.errs)
			h.Wait()
			if took := time.Since(start); h.ProcessState.ExitCode() != 1 || took > limit {
				t.Errorf("exit %d after %v, stderr %q", h.ProcessState.ExitCode(), took, errs)
			}
		})
	}
}

// TestOurCallAtTheEnd: a call of ours that waits when input ends fails at once, so that the end is not held up (PIPE-3).
func TestOurCallAtTheEnd(t *testing.T) {
	h := hold(t, "serve")
	io.WriteString(h.in, `{"call":"back","args":[1]}`+"\n")
	if got := line(t, h.out); got != `{"call":"echo","args":[1],"within":true}`+"\n" {
		t.Fatalf("it called %q", got)
	}
	h.in.Close()
	start := time.Now()
	r := h.end(t)
	if !strings.HasPrefix(r.Out, malformed) || !strings.Contains(r.Out, "ended before the reply") || r.Status != 0 {
		t.Errorf("exit %d, %q", r.Status, r.Out)
	}
	if took := time.Since(start); took > 4*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestSharedStdio: O_NONBLOCK is never set on what is inherited, and where somebody else has set it lines are waited for and
// replies that do not fit the pipe written whole (ARGV-5).
func TestSharedStdio(t *testing.T) {
	for _, nonblocking := range []bool{false, true} {
		in, out := rawPipe(t), rawPipe(t)
		unix.SetNonblock(in[0], nonblocking)
		unix.SetNonblock(out[1], nonblocking)
		pid, err := syscall.ForkExec(reexec.Self(), []string{"serve"}, &syscall.ProcAttr{
			Env: reexec.Env("serve"), Files: []uintptr{uintptr(in[0]), uintptr(out[1]), 2},
		})
		if err != nil {
			t.Fatal(err)
		}
		w, r := os.NewFile(uintptr(in[1]), "in"), bufio.NewReader(os.NewFile(uintptr(out[0]), "out"))
		io.WriteString(w, echo+"\n")
		if got := line(t, r); got != echoed {
			t.Errorf("%q", got)
		}
		io.WriteString(w, `{"call":"big","args":[1048576]}`+"\n") // it waits for this
		if got := line(t, r); len(got) != 1<<20+len(echoed)-1 {
			t.Errorf("non-blocking %v: a reply of %d bytes", nonblocking, len(got))
		}
		for _, fd := range []int{in[0], out[1]} {
			if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err != nil || flags&unix.O_NONBLOCK != 0 != nonblocking {
				t.Errorf("O_NONBLOCK is no longer %v, %v", nonblocking, err)
			}
		}
		w.Close()
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil || status.ExitStatus() != 0 {
			t.Errorf("it ended with %v, %v", status, err)
		}
		unix.Close(in[0])
		unix.Close(out[1])
	}
}

func rawPipe(t *testing.T) (fds [2]int) {
	t.Helper()
	if err := unix.Pipe(fds[:]); err != nil {
		t.Fatal(err)
	}
	unix.CloseOnExec(fds[0])
	unix.CloseOnExec(fds[1])
	return fds
}

// TestParentIsKilled: a child does not outlive its parent, whatever killed that: its input ends (PIPE-3, PIPE-5).
func TestParentIsKilled(t *testing.T) {
	transporttest.Leaks(t)
	h := hold(t, "parent")
	child, err := strconv.Atoi(strings.TrimSpace(line(t, h.out)))
	if err != nil || !reexec.Running(child) {
		t.Fatalf("child %d, %v", child, err)
	}
	h.Process.Kill()
	h.end(t)
	reexec.Eventually(t, "the child has ended", func() bool { return !reexec.Running(child) })
}
