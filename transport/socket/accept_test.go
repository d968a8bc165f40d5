package socket

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// SOCK-5: a server without a descriptor to spare lives, does not spin, and serves new callers once there is one again.
func TestAcceptSurvivesEMFILE(t *testing.T) {
	path := place(t)
	server := start(t, viaShell(command("serve", path), "ulimit -n 32;"))
	server.says("listening")
	first := dialRaw(t, path)
	first.send(framed(alive))
	first.want(aliveReply)
	var crowd []raw
	for range 40 {
		crowd = append(crowd, dialRaw(t, path))
	}
	if got := server.line(); !strings.Contains(got, "too many open files") {
		t.Fatalf("the server says %q", got)
	}
	before := cpuOf(t, first)
	const window = 500 * time.Millisecond // time that is measured, not waited for
	time.Sleep(window)
	if used := cpuOf(t, first) - before; used > window/5 {
		t.Errorf("it used %v of processor time in %v", used, window)
	}
	for _, r := range crowd {
		r.Close()
	}
	began := time.Now()
	wantAlive(t, path)
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("a new caller waited %v", took)
	}
	first.send(framed(alive))
	first.want(aliveReply)
}

// cpuOf asks over a connection that is open.
func cpuOf(t *testing.T, r raw) time.Duration {
	t.Helper()
	r.send(framed(`{"call":"usage"}`))
	_, rest, _ := strings.Cut(r.frame(), `"cpu":`)
	var ms int
	for _, digit := range rest {
		if digit < '0' || digit > '9' {
			break
		}
		ms = 10*ms + int(digit-'0')
	}
	return time.Duration(ms) * time.Millisecond
}

// LIMIT-2: connections that announce the cap and send nothing cost kilobytes each, and not the cap.
func TestPromisesCostNothing(t *testing.T) {
	const count = 1000
	path := place(t)
	startServer(t, path)
	before := ask[usage](t, path, "usage")
	for range count {
		r := dialRaw(t, path)
		r.send("\x00\x10\x00\x00") // 1 MiB follows
		eventually(t, "the header is read", func() bool { return unread(t, r) == 0 })
	}
	after := ask[usage](t, path, "usage")
	rss, sys := (after.RSS-before.RSS)/count, (after.Sys-before.Sys)/count
	t.Logf("%d KiB resident and %d KiB taken by the runtime each", rss, sys)
	if rss > 128 || sys > 64 { // the race detector shadows what is resident
		t.Errorf("each costs %d KiB resident and %d KiB taken by the runtime, want at most 128 and 64", rss, sys)
	}
}

// unread is how many bytes the other end has not read.
func unread(t *testing.T, r raw) (n int) {
	t.Helper()
	conn, err := r.SyscallConn()
	must(t, err)
	must(t, conn.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), unix.TIOCOUTQ) }))
	must(t, err)
	return n
}
