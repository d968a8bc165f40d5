package socket

import (
	"context"
	"io"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
)

// BenchmarkIdle is what so many connections hold that have had one call each and then nothing for a second. Their callers are
// descriptors, which hold nothing.
func BenchmarkIdle(b *testing.B) {
	const conns = 1000
	path := servesVerb(b)
	b.Run("conns=1000", func(b *testing.B) {
		b.ReportAllocs()
		var heap, stack float64
		for b.Loop() {
			before := memory()
			var callers []*os.File
			for range conns {
				callers = append(callers, knock(b, path))
			}
			runtime.GC() // from it the runtime learns how small a stack may begin
			time.Sleep(time.Second)
			after := memory()
			heap += float64(after.HeapAlloc) - float64(before.HeapAlloc)
			stack += float64(after.StackInuse) - float64(before.StackInuse)
			for _, c := range callers {
				c.Close()
			}
		}
		n := float64(b.N) * conns
		b.ReportMetric(heap/n, "heap-B/conn")
		b.ReportMetric(stack/n, "stack-B/conn")
	})
}

// BenchmarkDial is a connection that is made, carries one call and is closed; both of its ends are counted.
func BenchmarkDial(b *testing.B) {
	path := servesVerb(b)
	b.ReportAllocs()
	for b.Loop() {
		p, err := Dial(b.Context(), path, transport.Config{})
		must(b, err)
		_, err = p.Call(b.Context(), shape.Call{Verb: "hello"})
		must(b, err)
		must(b, p.Close())
	}
}

// servesVerb is the path of a socket that answers a call with its verb.
func servesVerb(b *testing.B) string {
	path := place(b)
	l, err := Listen(path, Options{Config: transport.Config{Handler: transport.HandlerFunc(
		func(_ context.Context, call shape.Call) (shape.Rows, error) { return shape.RowsOf(call.Verb), nil })}})
	must(b, err)
	serveHere(b, l)
	return path
}

// memory is what is in use once what is not has been given back.
func memory() (m runtime.MemStats) {
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m
}

// knock connects and makes one call.
func knock(b *testing.B, path string) *os.File {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	must(b, err)
	must(b, unix.Connect(fd, &unix.SockaddrUnix{Name: path}))
	conn := os.NewFile(uintptr(fd), path)
	_, err = io.WriteString(conn, framed(`{"call":"hello"}`))
	must(b, err)
	_, err = conn.Read(make([]byte, 256))
	must(b, err)
	return conn
}
