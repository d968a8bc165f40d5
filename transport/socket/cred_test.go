package socket

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/kith-wire/kith/transport"
)

// SOCK-4: handlers see who the kernel says is calling, and nothing in a message can claim it.
func TestCallerIsWhoTheKernelSays(t *testing.T) {
	path := place(t)
	startServer(t, path)
	r := dialRaw(t, path)
	r.send(framed(`{"call":"who","uid":1,"pid":1,"from":"init","token":"root"}`))
	got := whoIn(t, r.frame())
	want := who{os.Geteuid(), os.Getegid(), os.Getpid(), "pid " + strconv.Itoa(os.Getpid()), os.Getpid()}
	if runtime.GOOS != "linux" {
		want.Pinned = 0
	}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// whoIn reads the row of who out of a reply.
func whoIn(t *testing.T, reply string) who {
	t.Helper()
	var in struct{ Result []who }
	if err := json.Unmarshal([]byte(reply), &in); err != nil || len(in.Result) != 1 {
		t.Fatalf("%s: %v", reply, err)
	}
	return in.Result[0]
}

// SOCK-4: a caller of another uid is closed without a byte, though the file lets it connect, unless a policy says otherwise.
func TestStrangers(t *testing.T) {
	asRoot(t)
	const nobody = 65534
	dir := shortDir(t)
	must(t, os.Chmod(dir, 0o755))
	binary := filepath.Join(dir, "caller") // the directory of a test binary is closed to others
	copyFile(t, os.Args[0], binary)
	for _, c := range []struct {
		flags  []string
		served bool
	}{{nil, false}, {[]string{"-max", "1"}, false}, {[]string{"-anyone"}, true}} {
		path := filepath.Join(dir, fmt.Sprintf("%d%v.sock", len(c.flags), c.served))
		startServer(t, append(c.flags, path)...)
		must(t, os.Chmod(path, 0o666))
		if !c.served { // nor is it told that there are too many
			r := dialRaw(t, path)
			r.send(framed(alive))
			r.want(aliveReply)
		}
		cmd := command("caller", path)
		cmd.Path = binary
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		caller := start(t, cmd)
		got, err := strconv.Unquote(caller.line())
		must(t, err)
		if !c.served {
			if got != "" {
				t.Errorf("a stranger got %q", got)
			}
			continue
		}
		if got := whoIn(t, got[4:]); got.UID != nobody || got.GID != nobody || got.PID != cmd.Process.Pid {
			t.Errorf("got %+v, want uid and gid %d and pid %d", got, nobody, cmd.Process.Pid)
		}
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	must(t, err)
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	must(t, err)
	_, err = io.Copy(out, in)
	must(t, err)
	must(t, out.Close())
	must(t, os.Chmod(to, 0o755))
}

// A policy has the last word: of the caller's own user too.
func TestAllowRefusesOwnUser(t *testing.T) {
	path := place(t)
	asked := make(chan transport.Cred, 1)
	l, err := Listen(path, Options{Allow: func(c transport.Cred) bool {
		asked <- c
		return false
	}})
	must(t, err)
	serveHere(t, l)
	r := dialRaw(t, path)
	r.wantEnd()
	if got := <-asked; got.UID != os.Geteuid() {
		t.Errorf("asked about %+v", got)
	}
}

// A dialer knows who listens.
func TestServerIsWhoTheKernelSays(t *testing.T) {
	path := place(t)
	server := startServer(t, path)
	peer, err := Dial(context.Background(), path, transport.Config{})
	must(t, err)
	defer peer.Close()
	want := transport.Cred{UID: os.Geteuid(), GID: os.Getegid(), PID: server.cmd.Process.Pid}
	if got, ok := peer.Cred(); !ok || got.UID != want.UID || runtime.GOOS == "linux" && got != want {
		t.Errorf("got %+v, %v, want %+v", got, ok, want)
	}
	if peer.Name() != path || peer.Door() != transport.Socket || strings.Contains(peer.Name(), "pid") {
		t.Errorf("name %q, door %v", peer.Name(), peer.Door())
	}
}
