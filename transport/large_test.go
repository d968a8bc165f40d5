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

// large is a connection to a program whose verbs take and give much: blob gives a text, list a listing, and size takes a text.
type large struct {
	*transport.Peer
	served *transport.Peer
	text   string
	rows   int
}

func newLarge(t testing.TB, enc shape.Encoding) *large {
	text := strings.Repeat("all plain text, of which there is a lot. ", 1<<20/41)
	rows := make([]largeRow, 10000)
	for i := range rows {
		rows[i] = largeRow{"n-000123", "2024-05-01T12:00:00Z", "remember the milk, it is 012345"}
	}
	set := verbs.New("large", 1)
	verbs.Add(set, "blob", "one large text", func(context.Context, struct{}) ([]string, error) { return []string{text}, nil })
	verbs.Add(set, "list", "many rows", func(context.Context, struct{}) ([]largeRow, error) { return rows, nil })
	verbs.Add(set, "size", "how long a text is", func(_ context.Context, a struct {
		Text string `json:"text"`
	}) ([]int, error) {
		return []int{len(a.Text)}, nil
	})
	near, far := socketPair(t)
	limits := shape.Limits{Frame: 4 << 20}
	return &large{
		served: transport.Connect(context.Background(), far, transport.Lengths, transport.Config{Handler: set, Limits: limits}),
		Peer:   transport.Connect(context.Background(), near, transport.Lengths, transport.Config{Encoding: enc, Limits: limits}),
		text:   text, rows: len(rows),
	}
}

func (l *large) close() {
	l.Close()
	<-l.Done()
	<-l.served.Done()
}

func (l *large) blob() error {
	texts, err := transport.Call[string](context.Background(), l.Peer, "blob")
	if err == nil && (len(texts) != 1 || texts[0] != l.text) {
		err = errors.New("not the text")
	}
	return err
}

func (l *large) lent() error {
	return transport.Lend(context.Background(), l.Peer, shape.Call{Verb: "blob"}, func(rows shape.Rows) error {
		if got, is := rows.Raw(0).Text(); !is || len(got) != len(l.text) {
			return errors.New("not the text")
		}
		return nil
	})
}

func (l *large) list() error {
	rows, err := transport.Call[largeRow](context.Background(), l.Peer, "list")
	if err == nil && len(rows) != l.rows {
		err = errors.New("not the rows")
	}
	return err
}

func (l *large) size(text string) error {
	n, err := transport.Call[int](context.Background(), l.Peer, "size", text)
	if err == nil && (len(n) != 1 || n[0] != len(text)) {
		err = errors.New("not the size")
	}
	return err
}

func (l *large) send() error { return l.size(l.text) }

// mixed has a small call before a listing.
func (l *large) mixed() error {
	if err := l.size("small"); err != nil {
		return err
	}
	return l.list()
}

// BenchmarkLarge moves a text of 1 MiB either way and a typed listing of 10,000 rows over a socket within one process.
func BenchmarkLarge(b *testing.B) {
	for _, enc := range []shape.Encoding{shape.JSON, shape.CBOR} {
		l := newLarge(b, enc)
		for _, do := range []struct {
			name string
			call func() error
		}{{"blob", l.blob}, {"blob-lent", l.lent}, {"list", l.list}, {"mixed", l.mixed}, {"send", l.send}} {
			b.Run("do="+do.name+"/enc="+enc.String(), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := do.call(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		l.close()
	}
}
