package vectors_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kith-wire/kith/shape"
)

// run runs a program to its end. Where the step gives no stdin, it is one that nobody writes to and nobody closes.
func (st *stage) run(t *testing.T, s step) {
	t.Helper()
	cmd := st.command(t, s)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	mine, theirs := twoPipes(t)
	defer mine.Close()
	defer theirs.Close()
	cmd.Stdin = theirs.in
	if s.Stdin != nil {
		cmd.Stdin = bytes.NewReader(*s.Stdin)
	}
	switch s.To {
	case "full":
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer full.Close()
		cmd.Stdout = full
	case "nobody":
		mine.in.Close()
		cmd.Stdout = theirs.out
	}
	timer := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	err := cmd.Run()
	if timer.Stop(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	want := 0
	if s.Status != nil {
		want = *s.Status
	}
	if got := cmd.ProcessState; got.ExitCode() != want {
		t.Errorf("%q ended with %v, want status %d", s.Words, got, want)
	}
	if s.Stdout != nil {
		sameOutput(t, "stdout", s.In, *s.Stdout, out.Bytes())
	}
	if s.Stderr != nil {
		sameOutput(t, "stderr", "", *s.Stderr, errs.Bytes())
	}
}

// sameOutput compares all that was written. hex: is before the hex of it; in CBOR it is compared as JSON.
func sameOutput(t *testing.T, what, in, pattern string, b []byte) {
	t.Helper()
	text := string(b)
	wantHex, isHex := strings.CutPrefix(pattern, "hex:")
	switch {
	case isHex:
		pattern, text = wantHex, hex.EncodeToString(b)
	case in == "cbor":
		value, err := shape.Limits{}.Value(b, shape.CBOR)
		if err != nil {
			t.Errorf("%s is %x: %v", what, b, err)
			return
		}
		text = string(value.Append(nil, shape.JSON))
	}
	if !matches(pattern, text) {
		t.Errorf("%s is\n%.600s\nwant\n%.600s", what, text, pattern)
	}
}

func (st *stage) connect(t *testing.T, s step) {
	t.Helper()
	dial := func() (*net.UnixConn, error) {
		return net.DialUnix("unix", nil, &net.UnixAddr{Name: s.At, Net: "unix"})
	}
	if s.UID != 0 {
		asHimself := dial
		dial = func() (conn *net.UnixConn, err error) {
			err = asUID(s.UID, func() error { conn, err = asHimself(); return err })
			return conn, err
		}
	}
	conn, err := dial()
	if err != nil {
		t.Fatal(err)
	}
	st.wires[s.As] = wireOf(conn, lengthAt("socket"))
}

// file checks what is at a path.
func (st *stage) file(t *testing.T, s step) {
	t.Helper()
	info, err := os.Lstat(s.At)
	kind := "absent"
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		t.Fatal(err)
	case err != nil:
	case info.Mode().IsRegular():
		kind = "file"
	case info.IsDir():
		kind = "directory"
	case info.Mode()&fs.ModeSocket != 0:
		kind = "socket"
	default:
		kind = info.Mode().String()
	}
	if kind != s.Is {
		t.Errorf("at %s is: %s; want: %s", s.At, kind, s.Is)
	}
	if s.Mode != "" && err == nil && fmt.Sprintf("%04o", info.Mode().Perm()) != s.Mode {
		t.Errorf("%s is of mode %04o, want %s", s.At, info.Mode().Perm(), s.Mode)
	}
}

// make makes something at a path.
func (st *stage) make(t *testing.T, s step) {
	t.Helper()
	var err error
	switch s.Is {
	case "directory":
		err = os.Mkdir(s.At, 0o700)
	case "file":
		err = os.WriteFile(s.At, []byte(s.Text), 0o600)
	case "link":
		err = os.Symlink(s.Link, s.At)
	case "dead-socket":
		var fd int
		if fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); err == nil {
			err = unix.Bind(fd, &unix.SockaddrUnix{Name: s.At})
			unix.Close(fd)
		}
	default:
		err = fmt.Errorf("nobody makes a %q", s.Is)
	}
	if err != nil {
		t.Fatal(err)
	}
}
