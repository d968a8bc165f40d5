package rpc_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/rpc"
	"github.com/kith-wire/kith/transport/socket"
)

// Options that no program can mean are refused before anything listens, and leave nothing behind.
func TestOptionsAreChecked(t *testing.T) {
	none := transport.HandlerFunc(nil)
	for _, o := range []rpc.Options{
		{Namespaces: map[string]transport.Handler{"": none}},
		{Namespaces: map[string]transport.Handler{"a.b": none}},
		{Namespaces: map[string]transport.Handler{"a": nil}},
		{Namespaces: map[string]transport.Handler{"a": none}, Upgrades: []string{"b.take"}},
	} {
		dir := t.TempDir()
		l, err := socket.Listen(filepath.Join(dir, "s"), socket.Options{Wire: o})
		if err == nil {
			l.Close()
			t.Errorf("%+v listens", o)
			continue
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 || !strings.HasPrefix(err.Error(), "rpc: ") {
			t.Errorf("%v, and %v is left", err, left)
		}
	}
}
