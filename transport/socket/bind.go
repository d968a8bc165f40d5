package socket

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
)

// listenAt binds and listens; the file is left where it is when the listener is closed.
func listenAt(path string, cfg net.ListenConfig) (*net.UnixListener, error) {
	ln, err := cfg.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, err
	}
	unixLn := ln.(*net.UnixListener)
	unixLn.SetUnlinkOnClose(false)
	return unixLn, nil
}

// bindAside binds inside a fresh directory that is ours alone and moves the file to its place once its mode is right, for
// systems where a socket has no mode before it is bound.
func bindAside(path string) (*net.UnixListener, error) {
	dir, err := os.MkdirTemp(filepath.Dir(path), ".k")
	if err != nil {
		return nil, err
	}
	defer os.Remove(dir)
	aside := filepath.Join(dir, "s")
	if len(aside) > maxPath {
		return nil, fmt.Errorf("%s is bound as %s first, which is %d bytes, and the limit is %d", path, aside, len(aside), maxPath)
	}
	ln, err := listenAt(aside, net.ListenConfig{})
	if err != nil {
		return nil, err
	}
	if err = os.Chmod(aside, 0o600); err == nil {
		err = os.Rename(aside, path)
	}
	if err != nil {
		os.Remove(aside)
		ln.Close()
		return nil, err
	}
	return ln, nil
}
