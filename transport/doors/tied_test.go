package doors_test

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kith-wire/kith/transport/internal/reexec"
)

// owner is a process that lives until it is killed.
func owner(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "3600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd
}

func tiedTo(cmd *exec.Cmd) []string { return []string{"--tied", strconv.Itoa(cmd.Process.Pid)} }

// TestTied: the program ends in order when the process it is tied to does, killed or not, at both doors (PIPE-5).
func TestTied(t *testing.T) {
	who := owner(t)
	served, at := serve(t, tiedTo(who)...)
	piped := run(t, reexec.Command(t, "prog", append([]string{"pipe"}, tiedTo(who)...)...))
	io.WriteString(piped.in, echo+"\n") // and its input stays open
	if got := piped.line(t); got != echoed {
		t.Errorf("pipe: %q", got)
	}
	conn := knock(t, at)
	io.WriteString(conn, framed(echo))
	if got := answer(t, conn); got != echoed {
		t.Errorf("serve: %q", got)
	}
	who.Process.Kill() // it is a zombie from now on, and has ended
	for _, r := range []*running{served, piped} {
		if end := r.end(); end.Status != 0 || end.Out != "" || end.Err != "" {
			t.Errorf("%q: exit %d, %q, stderr %q", r.Args, end.Status, end.Out, end.Err)
		}
	}
	if _, err := os.Lstat(at); !os.IsNotExist(err) {
		t.Errorf("the socket is still there, %v", err)
	}
}

// TestTiedToNobody: a process that is not there has ended, a zombie too; the program ends at once, without a word on stdout, and in
// order (PIPE-5).
func TestTiedToNobody(t *testing.T) {
	gone, zombie := owner(t), owner(t)
	gone.Process.Kill()
	gone.Wait()
	zombie.Process.Kill()
	reexec.Eventually(t, "a zombie", func() bool { return !reexec.Running(zombie.Process.Pid) })
	for _, who := range []*exec.Cmd{gone, zombie} {
		for _, door := range []string{"serve", "pipe"} {
			r := run(t, reexec.Command(t, "prog", append([]string{door}, tiedTo(who)...)...))
			if end := r.end(); end.Status != 0 || end.Out != "" || !strings.HasSuffix(end.Err, "it has ended\n") {
				t.Errorf("%s: exit %d, %q, stderr %q", door, end.Status, end.Out, end.Err)
			}
		}
	}
}

// TestTiedToAnother: a process that started after us has only the number of the one that was meant (PIPE-5).
func TestTiedToAnother(t *testing.T) {
	if runtime.GOOS == "freebsd" {
		return // it cannot be told there, and the package says so
	}
	// The shell is started first, and becomes the program once it is told the number: a process keeps its start.
	cmd := reexec.Command(t, "prog", "-c", `read pid; exec "$0" pipe --tied "$pid"`, reexec.Self())
	cmd.Path = "/bin/sh"
	r := run(t, cmd)
	var who *exec.Cmd
	for begin := time.Now(); time.Since(begin) < 50*time.Millisecond; { // what starts within one tick of 10 ms cannot be told apart
		who = owner(t)
	}
	io.WriteString(r.in, strconv.Itoa(who.Process.Pid)+"\n")
	if end := r.end(); end.Status != 0 || end.Out != "" || !strings.HasSuffix(end.Err, "it has ended\n") {
		t.Errorf("exit %d, %q, stderr %q", end.Status, end.Out, end.Err)
	}
}
