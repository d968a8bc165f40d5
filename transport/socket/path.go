package socket

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/kith-wire/kith/shape"
)

// maxPath is how many bytes of a path the kernel takes: 107 on Linux, 103 on the BSDs.
const maxPath = len(unix.RawSockaddrUnix{}.Path) - 1

// Path returns where an instance of a program listens: $XDG_RUNTIME_DIR/<prog>/<instance>.sock, and where that variable is
// unset or empty <prog>-<uid>/<instance>.sock in the directory for temporary files (SOCK-2). An empty instance is main. A name
// that is empty, begins with a dot or holds a slash or a NUL is an error, and so is a path of more than 107 bytes (103 on the
// BSDs). Nothing is created; [Listen] makes the directory of such a path when [Options].MakeDir says so.
func Path(prog, instance string) (string, error) {
	if instance == "" {
		instance = "main"
	}
	if err := checkName("program", prog); err != nil {
		return "", err
	}
	if err := checkName("instance", instance); err != nil {
		return "", err
	}
	dir, from := filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), prog), "XDG_RUNTIME_DIR"
	if os.Getenv("XDG_RUNTIME_DIR") == "" {
		dir, from = filepath.Join(os.TempDir(), fmt.Sprintf("%s-%d", prog, os.Geteuid())), "TMPDIR"
	}
	if !filepath.IsAbs(dir) {
		return "", fmt.Errorf("%s must be an absolute path, and with it the socket's directory is %s", from, shape.Quote(dir))
	}
	path := filepath.Join(dir, instance+".sock")
	return path, checkPath(path)
}

func checkName(what, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("the name of the %s is empty", what)
	case name[0] == '.' || strings.ContainsAny(name, "/\x00"):
		return fmt.Errorf("%s %s: a name holds no slash and no NUL and begins with no dot", what, shape.Quote(name))
	}
	return nil
}

// checkPath refuses what cannot be the path of a socket, before anything is created (SOCK-2).
func checkPath(path string) error {
	switch {
	case path == "":
		return fmt.Errorf("the path of a socket is empty")
	case path[0] == '@' || path[0] == 0:
		return fmt.Errorf("%s is an abstract name, which has no owner and no mode: a socket here is a file", shape.Quote(path))
	case strings.IndexByte(path, 0) >= 0:
		return fmt.Errorf("the path of a socket holds no NUL, and %s does", shape.Quote(path))
	case len(path) > maxPath:
		return fmt.Errorf("the path of a socket is at most %d bytes, and this one is %d: %q", maxPath, len(path), path)
	}
	return nil
}
