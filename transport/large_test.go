package transport_test

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/verbs"
)

// largeRow is a row of the listing that BenchmarkLarge moves.
type largeRow struct {
	ID   string `json:"id"`
	At   string `json:"at"`
	Text string `json:"text"`
}

// socketPair is two ends of one socket.
func socketPair(t testing.TB) (near, far net.Conn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	conn := func(fd int) net.Conn {
		unix.SetNonblock(fd, true)
		f := os.NewFile(uintptr(fd), "socket")
		defer f.Close()
		c, err := net.FileConn(f)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	return conn(fds[0]), conn(fds[1])
}

// BenchmarkLarge moves a text of 1 MiB and a typed listing of 10,000 rows over a socket within one process.
func BenchmarkLarge(b *testing.B) {
	text := strings.Repeat("all plain text, of which there is a lot. ", 1<<20/41)
	rows := make([]largeRow, 10000)
	for i := range rows {
		rows[i] = largeRow{"n-000123", "2024-05-01T12:00:00Z", "remember the milk, it is 012345"}
	}
	set := verbs.New("bench", 1)
	verbs.Add(set, "blob", "for the benchmark", func(context.Context, struct{}) ([]string, error) { return []string{text}, nil })
	verbs.Add(set, "list", "for the benchmark", func(context.Context, struct{}) ([]largeRow, error) { return rows, nil })
	for _, enc := range []shape.Encoding{shape.JSON, shape.CBOR} {
		near, far := socketPair(b)
		served := transport.Connect(context.Background(), far, transport.Lengths, transport.Config{Handler: set, Limits: shape.Limits{Frame: 4 << 20}})
		c := transport.Connect(context.Background(), near, transport.Lengths, transport.Config{Encoding: enc, Limits: shape.Limits{Frame: 4 << 20}})
		b.Run("do=blob/enc="+enc.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := transport.Call[string](context.Background(), c, "blob"); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("do=blob-lent/enc="+enc.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := transport.Lend(context.Background(), c, shape.Call{Verb: "blob"}, func(rows shape.Rows) error {
					if got, is := rows.Raw(0).Text(); !is || len(got) != len(text) {
						return errors.New("not the text")
					}
					return nil
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("do=list/enc="+enc.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := transport.Call[largeRow](context.Background(), c, "list"); err != nil {
					b.Fatal(err)
				}
			}
		})
		c.Close()
		<-c.Done()
		<-served.Done()
	}
}
