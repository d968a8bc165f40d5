package socket

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/kith-wire/kith/transport/transporttest"
)

// SOCK-2: under a umask of 0 nobody who watches ever sees a socket or lock that others may open, nor another umask.
func TestNeverLoose(t *testing.T) {
	for name, bind := range map[string]func(string) (*net.UnixListener, error){"bind": bind, "bindAside": bindAside} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			transporttest.Leaks(t, dir)
			old := unix.Umask(0)
			defer unix.Umask(old)
			path := filepath.Join(dir, "main.sock")
			w := watch(path, path+".lock")
			for range 200 {
				lock, err := takeName(path)
				must(t, err)
				ln, err := bind(path)
				must(t, err)
				info, err := os.Lstat(path)
				if err != nil || info.Mode() != os.ModeSocket|0o600 {
					t.Errorf("bound: %v, %v", info, err)
				}
				must(t, os.Remove(path))
				ln.Close()
				lock.Close()
			}
			seen, loose := w.stop()
			for _, what := range loose {
				t.Error(what)
			}
			if seen == 0 {
				t.Error("the watcher saw nothing")
			}
		})
	}
}

// watcher looks at files all the time.
type watcher struct {
	end  chan struct{}
	done sync.WaitGroup

	seen  int
	loose []string
}

func watch(files ...string) *watcher {
	w := &watcher{end: make(chan struct{})}
	w.done.Go(func() {
		for {
			select {
			case <-w.end:
				return
			default:
				w.look(files)
			}
		}
	})
	return w
}

func (w *watcher) look(files []string) {
	for _, file := range files {
		info, err := os.Lstat(file)
		if err != nil {
			continue
		}
		w.seen++
		if info.Mode().Perm()&0o077 != 0 {
			w.loose = append(w.loose, fmt.Sprintf("%s was %v", file, info.Mode()))
		}
	}
	if umask := umaskNow(); umask != "" && strings.Trim(umask, "0") != "" {
		w.loose = append(w.loose, "the umask was "+umask)
	}
}

// umaskNow reads the umask without setting it, "" where there is no /proc.
func umaskNow() string {
	b, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(b), "\nUmask:\t")
	umask, _, _ := strings.Cut(rest, "\n")
	return umask
}

func (w *watcher) stop() (seen int, loose []string) {
	close(w.end)
	w.done.Wait()
	return w.seen, w.loose
}

// Whatever goes wrong aside, nothing is left there.
func TestBindAsideLeavesNothing(t *testing.T) {
	dir := shortDir(t)
	transporttest.Leaks(t, dir)
	long := padded(dir, maxPath)
	deep := filepath.Join(dir, strings.Repeat("y", maxPath-len(dir)-3)) // room for a name of one byte and no more
	must(t, os.Mkdir(deep, 0o700))
	for _, path := range []string{filepath.Join(deep, "s"), filepath.Join(dir, "none", "x.sock")} {
		if ln, err := bindAside(path); err == nil {
			ln.Close()
			t.Errorf("%s was bound", path)
		}
	}
	must(t, os.Remove(deep)) // it is empty
	ln, err := bindAside(long)
	must(t, err)
	must(t, os.Remove(long))
	ln.Close()
	must(t, os.Mkdir(filepath.Join(dir, "taken"), 0o700))
	if ln, err := bindAside(filepath.Join(dir, "taken")); err == nil {
		ln.Close()
		t.Error("a directory was replaced")
	}
	must(t, os.Remove(filepath.Join(dir, "taken")))
}
