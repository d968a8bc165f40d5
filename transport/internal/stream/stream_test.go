package stream

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// ends makes one stream and the files that are its other end: r, what the stream writes, and w, what it reads.
type ends struct {
	name string
	make func(t *testing.T) (s Stream, r io.ReadCloser, w io.WriteCloser)
}

func pipes(t *testing.T) (near, far [2]*os.File) {
	t.Helper()
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, f := range []*os.File{inR, inW, outR, outW} {
			f.Close()
		}
	})
	return [2]*os.File{inR, outW}, [2]*os.File{outR, inW}
}

var all = []ends{
	{"socket", func(t *testing.T) (Stream, io.ReadCloser, io.WriteCloser) {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		var conns [2]*net.UnixConn
		for i, fd := range fds {
			f := os.NewFile(uintptr(fd), "")
			c, err := net.FileConn(f)
			f.Close()
			if err != nil {
				t.Fatal(err)
			}
			conns[i] = c.(*net.UnixConn)
		}
		t.Cleanup(func() { conns[1].Close() })
		return Of(conns[0]), conns[1], writeEnd{conns[1]}
	}},
	{"files", func(t *testing.T) (Stream, io.ReadCloser, io.WriteCloser) {
		near, far := pipes(t)
		s, err := Files(near[0], near[1])
		if err != nil {
			t.Fatal(err)
		}
		return s, far[0], far[1]
	}},
	{"stdio", func(t *testing.T) (Stream, io.ReadCloser, io.WriteCloser) {
		near, far := pipes(t)
		in, out := blocking(t, near[0]), blocking(t, near[1])
		near[0].Close()
		near[1].Close()
		s, err := NewStdio(in, out)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if nonblocking(t, in) || nonblocking(t, out) {
				t.Error("O_NONBLOCK was set on an inherited descriptor")
			}
			unix.Close(in)
			unix.Close(out)
		})
		return s, far[0], far[1]
	}},
	{"memory", func(t *testing.T) (Stream, io.ReadCloser, io.WriteCloser) {
		a, b := Memory()
		return a, b, writeEnd{b}
	}},
}

type halfCloser interface {
	io.Writer
	CloseWrite() error
}

type writeEnd struct{ halfCloser }

func (w writeEnd) Close() error { return w.CloseWrite() }

// blocking returns a descriptor of its own for f's file, as a program inherits one.
func blocking(t *testing.T, f *os.File) int {
	t.Helper()
	fd, err := unix.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.SetNonblock(fd, false); err != nil {
		t.Fatal(err)
	}
	return fd
}

func nonblocking(t *testing.T, fd int) bool {
	t.Helper()
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		t.Fatal(err)
	}
	return flags&unix.O_NONBLOCK != 0
}

func each(t *testing.T, f func(t *testing.T, s Stream, r io.ReadCloser, w io.WriteCloser)) {
	for _, e := range all {
		t.Run(e.name, func(t *testing.T) {
			s, r, w := e.make(t)
			defer s.Close()
			f(t, s, r, w)
		})
	}
}

func TestReadAndEnd(t *testing.T) {
	each(t, func(t *testing.T, s Stream, r io.ReadCloser, w io.WriteCloser) {
		if n, err := s.TryRead(make([]byte, 10)); n != 0 || err != nil {
			t.Errorf("an idle stream gave %d, %v", n, err)
		}
		io.WriteString(w, "hello")
		buf := make([]byte, 10)
		if n, err := s.ReadNext(fixed(buf)); string(buf[:n]) != "hello" || err != nil {
			t.Errorf("got %q, %v", buf[:n], err)
		}
		io.WriteString(w, "again")
		if n, err := s.TryRead(buf); string(buf[:n]) != "again" || err != nil {
			t.Errorf("got %q, %v", buf[:n], err)
		}
		w.Close()
		if n, err := s.ReadNext(fixed(buf)); n != 0 || err != io.EOF {
			t.Errorf("the end is %d, %v", n, err)
		}
		if n, err := s.TryRead(buf); n != 0 || err != io.EOF {
			t.Errorf("the end is %d, %v", n, err)
		}
	})
}

// What is done once nothing is there is done before the wait, and once, and not where something is there or nothing comes any more.
func TestReadAfter(t *testing.T) {
	each(t, func(t *testing.T, s Stream, r io.ReadCloser, w io.WriteCloser) {
		buf, asked := make([]byte, 10), 0
		ask := func() {
			asked++
			io.WriteString(w, "answer")
		}
		for i := range 3 {
			if n, err := ReadAfter(s, fixed(buf), ask); string(buf[:n]) != "answer" || err != nil || asked != i+1 {
				t.Fatalf("got %q, %v, asked %d times", buf[:n], err, asked)
			}
		}
		io.WriteString(w, "before")
		if n, err := ReadAfter(s, fixed(buf), ask); string(buf[:n]) != "before" || err != nil {
			t.Errorf("got %q, %v", buf[:n], err)
		}
		w.Close()
		if n, err := ReadAfter(s, fixed(buf), ask); n != 0 || err != io.EOF || asked != 3 {
			t.Errorf("the end is %d, %v, asked %d times", n, err, asked)
		}
	})
}

// A read that waits is woken, once, and what comes afterwards is read.
func TestInterrupt(t *testing.T) {
	each(t, func(t *testing.T, s Stream, r io.ReadCloser, w io.WriteCloser) {
		for range 3 {
			got := make(chan error)
			go func() {
				_, err := s.ReadNext(fixed(make([]byte, 10)))
				got <- err
			}()
			s.Interrupt() // before it reads, or while it does
			if err := <-got; !errors.Is(err, ErrInterrupted) {
				t.Fatalf("got %v", err)
			}
		}
		io.WriteString(w, "hello")
		buf := make([]byte, 10)
		if n, err := s.ReadNext(fixed(buf)); string(buf[:n]) != "hello" || err != nil {
			t.Errorf("got %q, %v", buf[:n], err)
		}
		s.Interrupt()
		io.WriteString(w, "more")
		if n, err := s.TryRead(buf); string(buf[:n]) != "more" || err != nil {
			t.Errorf("interrupted, TryRead got %q, %v", buf[:n], err)
		}
	})
}

func TestCloseWakesARead(t *testing.T) {
	each(t, func(t *testing.T, s Stream, r io.ReadCloser, w io.WriteCloser) {
		got := make(chan error)
		go func() {
			_, err := s.ReadNext(fixed(make([]byte, 10)))
			got <- err
		}()
		s.Close()
		if err := <-got; err == nil || err == io.EOF {
			t.Errorf("got %v", err)
		}
	})
}

// A write that does not fit is told so at once, the rest waits for room, and nothing of it is lost.
func TestWriteNeverWaitsUnasked(t *testing.T) {
	each(t, func(t *testing.T, s Stream, r io.ReadCloser, w io.WriteCloser) {
		big := []byte(strings.Repeat("0123456789abcdef", 1<<19)) // more than any buffer of the kernel
		done, err := s.TryWrite(big)
		if done == len(big) || err != nil {
			t.Fatalf("TryWrite took %d of %d, %v", done, len(big), err)
		}
		if n, err := s.TryWrite(big); n != 0 || err != nil {
			t.Errorf("a full stream took %d, %v", n, err)
		}
		read := make(chan string)
		go func() {
			got := make([]byte, len(big))
			n, _ := io.ReadFull(r, got)
			read <- string(got[:n])
		}()
		for done < len(big) {
			n, err := s.WriteSome(big[done:])
			if n == 0 || err != nil {
				t.Fatalf("WriteSome wrote %d, %v", n, err)
			}
			done += n
		}
		if got := <-read; got != string(big) {
			t.Errorf("%d bytes arrived", len(got))
		}
	})
}

func TestCloseWakesAWrite(t *testing.T) {
	each(t, func(t *testing.T, s Stream, r io.ReadCloser, w io.WriteCloser) {
		big := make([]byte, 1<<20)
		for n := 1; n > 0; {
			var err error
			if n, err = s.TryWrite(big); err != nil {
				t.Fatal(err)
			}
		}
		got := make(chan error)
		go func() {
			_, err := s.WriteSome(big)
			got <- err
		}()
		s.Close()
		if err := <-got; err == nil {
			t.Error("a write on a closed stream succeeded")
		}
	})
}

// CLIENT-7: gone is gone both ways; an end that has finished sending is still there.
func TestGone(t *testing.T) {
	each(t, func(t *testing.T, s Stream, r io.ReadCloser, w io.WriteCloser) {
		if s.Gone() {
			t.Error("gone before anything happened")
		}
		w.Close()
		if s.Gone() {
			t.Error("gone at a half-close")
		}
		r.Close()
		if !s.Gone() {
			t.Error("not gone with both ends closed")
		}
		if _, err := s.TryWrite([]byte("x")); err == nil {
			t.Error("a write to nobody succeeded")
		}
	})
}

// Descriptors that somebody else has made non-blocking work as others do (ARGV-5).
func TestStdioOnNonblockingDescriptors(t *testing.T) {
	near, far := pipes(t)
	in, out := blocking(t, near[0]), blocking(t, near[1])
	defer unix.Close(in)
	defer unix.Close(out)
	unix.SetNonblock(in, true)
	unix.SetNonblock(out, true)
	s, err := NewStdio(in, out)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got := make(chan string)
	go func() {
		buf := make([]byte, 10)
		n, _ := s.Read(buf)
		got <- string(buf[:n])
	}()
	io.WriteString(far[1], "hello")
	if g := <-got; g != "hello" {
		t.Errorf("got %q", g)
	}
	big := make([]byte, 1<<20)
	go s.Write(big)
	if n, err := io.ReadFull(far[0], make([]byte, len(big))); err != nil {
		t.Errorf("read %d, %v", n, err)
	}
	if !nonblocking(t, in) || !nonblocking(t, out) {
		t.Error("O_NONBLOCK was taken off")
	}
}
