package socket

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kith-wire/kith/transport/transporttest"
)

// SOCK-2: the directory of a path that Path made is made 0700, whatever the umask is.
func TestOwnDirectoryIsMade(t *testing.T) {
	for _, umask := range []string{"0", "18", "63", "511"} {
		t.Run(umask, func(t *testing.T) {
			top := t.TempDir()
			path := filepath.Join(top, "scribe", "main.sock")
			startServer(t, "-made", "-umask", umask, path)
			for file, want := range map[string]string{
				filepath.Dir(path): "drwx------",
				path:               "Srw-------",
				path + ".lock":     "-rw-------",
			} {
				if info, err := os.Lstat(file); err != nil || info.Mode().String() != want {
					t.Errorf("%s: %v, %v, want %s", file, info.Mode(), err, want)
				}
			}
			wantAlive(t, path)
		})
	}
}

// SOCK-2: a directory of ours alone, or nothing is served. What is refused is left as it was.
func TestOwnDirectoryIsRefused(t *testing.T) {
	for _, c := range []struct {
		name, part string
		make       func(t *testing.T, dir string)
	}{
		{"link to a directory", "a link", func(t *testing.T, dir string) { must(t, os.Symlink(t.TempDir(), dir)) }},
		{"link to nothing", "a link", func(t *testing.T, dir string) { must(t, os.Symlink(dir+"-none", dir)) }},
		{"file", "a regular file", func(t *testing.T, dir string) { must(t, os.WriteFile(dir, nil, 0o600)) }},
		{"group may look", "0750", func(t *testing.T, dir string) { makeDir(t, dir, 0o750) }},
		{"group may write", "0770", func(t *testing.T, dir string) { makeDir(t, dir, 0o770) }},
		{"sticky is not enough", "0777", func(t *testing.T, dir string) { makeDir(t, dir, 0o777|os.ModeSticky) }},
		{"somebody else's", "user 65534's", func(t *testing.T, dir string) {
			asRoot(t)
			makeDir(t, dir, 0o700)
			must(t, os.Chown(dir, 65534, 65534))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "scribe")
			c.make(t, dir)
			before, _ := os.Lstat(dir)
			wantRefused(t, filepath.Join(dir, "main.sock"), Options{MakeDir: true}, c.part)
			if after, err := os.Lstat(dir); err != nil || after.Mode() != before.Mode() {
				t.Errorf("it was %v and is %v, %v", before.Mode(), after.Mode(), err)
			}
			if exists(dir + "-none") {
				t.Error("the link was followed")
			}
		})
	}
}

// SOCK-2: a directory named by hand may be root's or looked into, but is never made, and nobody else may change what is in it.
func TestDirectoryNamedByHand(t *testing.T) {
	for _, c := range []struct {
		name, part string // no part: it is served
		make       func(t *testing.T, dir string)
	}{
		{"ours", "", func(t *testing.T, dir string) { makeDir(t, dir, 0o700) }},
		{"others may look", "", func(t *testing.T, dir string) { makeDir(t, dir, 0o755) }},
		{"sticky", "", func(t *testing.T, dir string) { makeDir(t, dir, 0o777|os.ModeSticky) }},
		{"missing", "no such file", func(*testing.T, string) {}},
		{"group may write", "0770", func(t *testing.T, dir string) { makeDir(t, dir, 0o770) }},
		{"others may write", "0707", func(t *testing.T, dir string) { makeDir(t, dir, 0o707) }},
		{"link", "a link", func(t *testing.T, dir string) { must(t, os.Symlink(t.TempDir(), dir)) }},
		{"somebody else's", "user 65534's", func(t *testing.T, dir string) {
			asRoot(t)
			makeDir(t, dir, 0o755)
			must(t, os.Chown(dir, 65534, 65534))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "hand")
			c.make(t, dir)
			path := filepath.Join(dir, "x.sock")
			if c.part != "" {
				wantRefused(t, path, Options{}, c.part)
				return
			}
			before, _ := os.Lstat(dir)
			l, err := Listen(path, Options{})
			must(t, err)
			l.Close()
			if after, _ := os.Lstat(dir); after.Mode() != before.Mode() {
				t.Errorf("mode was %v and is %v", before.Mode(), after.Mode())
			}
		})
	}
}

func makeDir(t *testing.T, dir string, mode os.FileMode) {
	t.Helper()
	must(t, os.Mkdir(dir, 0o700))
	must(t, os.Chmod(dir, mode))
}

// wantRefused checks that nothing is served and nothing left behind, lock and directory included.
func wantRefused(t *testing.T, path string, opts Options, part string) {
	t.Helper()
	transporttest.Leaks(t, filepath.Dir(path))
	l, err := Listen(path, opts)
	if err == nil {
		l.Close()
		t.Fatal("it is served")
	}
	if !strings.Contains(err.Error(), part) {
		t.Errorf("%v, want %q in it", err, part)
	}
	if exists(path) || exists(path+".lock") {
		t.Error("a file was made")
	}
}
