package socket

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kith-wire/kith/transport"
)

// raw is a caller that speaks bytes.
type raw struct {
	t testing.TB
	*net.UnixConn
}

func dialRaw(t testing.TB, path string) raw {
	t.Helper()
	conn, err := net.Dial("unix", path)
	must(t, err)
	conn.SetDeadline(time.Now().Add(20 * time.Second)) // a test that hangs says where
	t.Cleanup(func() { conn.Close() })
	return raw{t, conn.(*net.UnixConn)}
}

func framed(bodies ...string) string {
	var b []byte
	for _, body := range bodies {
		b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
		b = append(b, body...)
	}
	return string(b)
}

func (r raw) send(b string) {
	r.t.Helper()
	_, err := io.WriteString(r.UnixConn, b)
	must(r.t, err)
}

func (r raw) want(body string) {
	r.t.Helper()
	if got := r.frame(); got != body {
		r.t.Fatalf("got  %s\nwant %s", got, body)
	}
}

func (r raw) frame() string {
	r.t.Helper()
	var head [4]byte
	_, err := io.ReadFull(r.UnixConn, head[:])
	must(r.t, err)
	body := make([]byte, binary.BigEndian.Uint32(head[:]))
	_, err = io.ReadFull(r.UnixConn, body)
	must(r.t, err)
	return string(body)
}

// wantEnd checks that nothing more comes.
func (r raw) wantEnd() {
	r.t.Helper()
	got, err := io.ReadAll(r.UnixConn)
	if len(got) > 0 || err != nil && !errors.Is(err, unix.ECONNRESET) {
		r.t.Fatalf("got %q, %v, want the end", got, err)
	}
}

const (
	alive      = `{"call":"echo","args":["alive"]}`
	aliveReply = `{"ok":true,"family":1,"n":1,"result":["alive"]}`
)

// wantAlive checks that the program at path answers a new caller.
func wantAlive(t testing.TB, path string) {
	t.Helper()
	r := dialRaw(t, path)
	r.send(framed(alive))
	r.want(aliveReply)
	r.Close()
}

// ask calls a verb that returns one row.
func ask[Row any](t testing.TB, path, verb string) Row {
	t.Helper()
	peer, err := Dial(context.Background(), path, transport.Config{})
	must(t, err)
	defer func() {
		peer.Close()
		<-peer.Done()
	}()
	rows, err := transport.Call[Row](context.Background(), peer, verb)
	must(t, err)
	if len(rows) != 1 {
		t.Fatalf("%s: %d rows", verb, len(rows))
	}
	return rows[0]
}
