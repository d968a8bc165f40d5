package main

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kith-wire/kith/cmd/internal/built"
)

func TestMain(m *testing.M) { os.Exit(built.Main(m, "scribe", "kith")) }

// answer is a reply, as a program that knows nothing of this module reads it.
type answer struct {
	OK      bool
	Family  int
	Surface int
	N       int
	Result  []note
	Error   string
	Fault   string
}

// ask runs the scribe once and reads its reply.
func ask(t testing.TB, e *built.Env, args ...string) answer {
	t.Helper()
	return read(t, e.OK(t, "", "scribe", args...))
}

func read(t testing.TB, reply string) (a answer) {
	t.Helper()
	if err := json.Unmarshal([]byte(reply), &a); err != nil {
		t.Fatalf("%v: %q", err, reply)
	}
	if a.Family != 1 || a.N != len(a.Result) {
		t.Fatalf("the reply is %q", reply)
	}
	return a
}

// kept asks for rows and fails where there are none.
func kept(t testing.TB, e *built.Env, args ...string) []note {
	t.Helper()
	a := ask(t, e, args...)
	if !a.OK {
		t.Fatalf("scribe %q: %s %s", args, a.Fault, a.Error)
	}
	return a.Result
}

// one reads a reply that must be one note.
func one(t testing.TB, reply string) note {
	t.Helper()
	a := read(t, reply)
	if len(a.Result) != 1 {
		t.Fatalf("the reply is %q, and one row was expected", reply)
	}
	return a.Result[0]
}

func texts(notes []note) []string {
	var list []string
	for _, n := range notes {
		list = append(list, n.Text)
	}
	return list
}

func ids(notes []note) []int64 {
	var list []int64
	for _, n := range notes {
		list = append(list, n.ID)
	}
	return list
}

func same(t testing.TB, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// knock connects to a socket by hand.
func knock(t testing.TB, at string) net.Conn {
	t.Helper()
	conn, err := net.Dial("unix", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// framed is a body behind its length (SOCK-1).
func framed(body string) string {
	return string(binary.BigEndian.AppendUint32(nil, uint32(len(body)))) + body
}

// unframe reads one frame.
func unframe(t testing.TB, r io.Reader) string {
	t.Helper()
	head := make([]byte, 4)
	if _, err := io.ReadFull(r, head); err != nil {
		t.Fatal(err)
	}
	body := make([]byte, binary.BigEndian.Uint32(head))
	if _, err := io.ReadFull(r, body); err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// unhex reads bytes that are written as hex, with spaces.
func unhex(t testing.TB, text string) string {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
