package socket

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/transporttest"
)

// SOCK-2: where an instance listens.
func TestPath(t *testing.T) {
	tmp := fmt.Sprintf("/var/tmp/scribe-%d/main.sock", os.Geteuid())
	for _, c := range []struct{ runtime, instance, want string }{
		{"/run/user/7", "", "/run/user/7/scribe/main.sock"},
		{"/run/user/7", "work", "/run/user/7/scribe/work.sock"},
		{"/run/user/7/", "a b", "/run/user/7/scribe/a b.sock"},
		{"", "", tmp},
	} {
		t.Setenv("XDG_RUNTIME_DIR", c.runtime)
		t.Setenv("TMPDIR", "/var/tmp")
		if got, err := Path("scribe", c.instance); err != nil || got != c.want {
			t.Errorf("%q %q: got %q, %v; want %q", c.runtime, c.instance, got, err, c.want)
		}
	}
	os.Unsetenv("XDG_RUNTIME_DIR") // Setenv above puts it back
	if got, err := Path("scribe", ""); err != nil || got != tmp {
		t.Errorf("unset: got %q, %v", got, err)
	}
}

// SOCK-2: a name is one part of a path, and nothing is made of one that is not.
func TestPathRefusesNames(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	for _, name := range []string{"..", ".", ".hidden", "a/b", "/", "../x", "a\x00b"} {
		if got, err := Path("scribe", name); err == nil {
			t.Errorf("instance %q is %q", name, got)
		}
		if got, err := Path(name, "main"); err == nil {
			t.Errorf("program %q is %q", name, got)
		}
	}
	if got, err := Path("", "main"); err == nil {
		t.Errorf("no program is %q", got)
	}
	t.Setenv("XDG_RUNTIME_DIR", "run")
	if got, err := Path("scribe", ""); err == nil || !strings.Contains(err.Error(), "XDG_RUNTIME_DIR") {
		t.Errorf("relative: %q, %v", got, err)
	}
}

// padded returns a path of exactly n bytes inside dir.
func padded(dir string, n int) string {
	return filepath.Join(dir, strings.Repeat("x", n-len(dir)-1))
}

// shortDir is a directory whose name leaves room for a long one.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "k")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// SOCK-2: the longest path works, one byte more is refused by name before anything is created.
func TestPathLength(t *testing.T) {
	dir := shortDir(t)
	transporttest.Leaks(t, dir)
	longest := padded(dir, maxPath)
	server := startServer(t, longest)
	wantAlive(t, longest)
	server.signal(syscall.SIGTERM)
	server.stops()

	made := filepath.Join(dir, "made")
	tooLong := padded(made, maxPath+1)
	says := func(what string, err error) {
		t.Helper()
		for _, part := range []string{fmt.Sprint(maxPath), fmt.Sprint(maxPath + 1), tooLong} {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v, want %q in it", what, err, part)
			}
		}
	}
	_, err := Listen(tooLong, Options{MakeDir: true})
	says("listen", err)
	if exists(made) {
		t.Error("the directory was made")
	}
	_, err = Dial(context.Background(), tooLong, transport.Config{})
	says("dial", err)
	if !errors.Is(err, shape.Unavailable) {
		t.Errorf("dial: %#v", err)
	}
	t.Setenv("XDG_RUNTIME_DIR", dir)
	_, err = Path("made", strings.TrimSuffix(filepath.Base(tooLong), ".sock")) // .sock more than too long
	if err == nil || !strings.Contains(err.Error(), fmt.Sprint(maxPath+1+len(".sock"))) {
		t.Errorf("path: %v", err)
	}
}

// Abstract names have no owner and no mode: refused, and so are paths that are none.
func TestNoAbstractNames(t *testing.T) {
	for _, path := range []string{"@kith", "\x00kith", "a\x00b", ""} {
		if l, err := Listen(path, Options{}); err == nil {
			l.Close()
			t.Errorf("listens at %q", path)
		}
		if _, err := Dial(context.Background(), path, transport.Config{}); !errors.Is(err, shape.Unavailable) {
			t.Errorf("dial %q: %v", path, err)
		}
	}
}
