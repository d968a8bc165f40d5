package conformance

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// stream is one open pipe or connection to the program.
type stream struct {
	d      *door
	in     writer
	out    reader
	proc   *process      // the pipe's
	conn   *net.UnixConn // the socket's
	buf    []byte        // what came and is no frame yet
	little bool          // a frame's length was little-endian
}

type writer interface {
	io.Writer
	syscall.Conn
	SetWriteDeadline(time.Time) error
}

type reader interface {
	io.Reader
	SetReadDeadline(time.Time) error
}

// open starts `PROG pipe`, or connects to the socket. Whoever calls it closes the stream.
func (d *door) open() (*stream, error) {
	if d.name == Socket {
		conn, err := d.dial()
		if err != nil {
			return nil, err
		}
		return &stream{d: d, in: conn, out: conn, conn: conn}, nil
	}
	p, err := d.start(launch{args: []string{"pipe"}})
	if err != nil {
		return nil, err
	}
	return &stream{d: d, in: p.in, out: p.out, proc: p}, nil
}

func (d *door) dial() (*net.UnixConn, error) { return dial(d.path, d.wait) }

// dial connects, and waits where the program has more waiting than it takes.
func dial(path string, wait time.Duration) (*net.UnixConn, error) {
	for end := time.Now().Add(wait); ; time.Sleep(time.Millisecond) {
		conn, err := net.DialTimeout("unix", path, wait)
		if err == nil {
			return conn.(*net.UnixConn), nil
		}
		if !errors.Is(err, syscall.EAGAIN) || time.Now().After(end) {
			return nil, err
		}
	}
}

func (s *stream) close() {
	if s.conn != nil {
		s.conn.Close()
		return
	}
	s.proc.kill()
}

// closeWrite tells the program that no more will come.
func (s *stream) closeWrite() {
	if s.conn != nil {
		s.conn.CloseWrite()
		return
	}
	s.proc.in.Close()
}

func (s *stream) write(b []byte) error {
	s.in.SetWriteDeadline(time.Now().Add(s.d.wait))
	_, err := s.in.Write(b)
	return err
}

// oneWrite is how long a piece may be that is written at once. Longer ones take no more memory than that.
const oneWrite = 2 << 20

// send writes a piece.
func (s *stream) send(p recipe) error {
	if p.len() <= oneWrite {
		return s.write(p.bytes())
	}
	for part := range p.parts(oneWrite) {
		if err := s.write([]byte(part)); err != nil {
			return err
		}
	}
	return nil
}

// pause is how long a program has to take up one piece before the next comes, where the system does not tell.
const pause = 2 * time.Millisecond

// awaitTaken waits until the program has read what was written, or would have by any measure.
func (s *stream) awaitTaken() {
	for end := time.Now().Add(hurry); ; {
		time.Sleep(pause)
		if s.untaken() == 0 || time.Now().After(end) {
			return
		}
	}
}

// frame reads the next frame: the body of it, or the line without its end. io.EOF is a clean end.
func (s *stream) frame(until time.Time) ([]byte, error) {
	for {
		if body, ok := s.cut(); ok {
			return body, nil
		}
		s.out.SetReadDeadline(until)
		var b [64 << 10]byte
		n, err := s.out.Read(b[:])
		s.buf = append(s.buf, b[:n]...)
		if n == 0 && err != nil {
			return nil, err
		}
		if len(s.buf) > most {
			return nil, errors.New("more than 64 MiB without the end of a frame")
		}
	}
}

// cut takes one whole frame off the front.
func (s *stream) cut() ([]byte, bool) {
	if s.conn == nil {
		line, rest, found := bytes.Cut(s.buf, []byte("\n"))
		if found {
			s.buf = rest
		}
		return line, found
	}
	if len(s.buf) < 4 {
		return nil, false
	}
	size := uint64(binary.BigEndian.Uint32(s.buf))
	if little := uint64(binary.LittleEndian.Uint32(s.buf)); size > most && little <= most {
		size, s.little = little, true // read all the same, so that no other check sees more than its own rule
	}
	if uint64(len(s.buf))-4 < size {
		return nil, false
	}
	body := s.buf[4 : 4+size]
	s.buf = s.buf[4+size:]
	return body, true
}

// transcript is one conversation: what was written, in pieces, and what came back.
type transcript struct {
	d       *door
	pieces  []recipe
	replies [][]byte
	early   int    // of the replies, those that came before the end of the input
	rest    []byte // what came and is no whole frame
	closed  bool   // the program closed its end
	little  bool
	ending  ending // the pipe's
	err     error  // it could not be opened
}

// hurry is how long a check waits for what a peer has shown once that it does not do. Nothing is lost by it: the end of the
// input, at which all must be answered, still gets the whole time.
const hurry = 100 * time.Millisecond

// talk opens a stream, writes each piece with one write, waits until as many replies came as are wanted, ends the input,
// reads until the program closes, and closes.
func (d *door) talk(want int, pieces ...recipe) transcript {
	t := transcript{d: d, pieces: pieces}
	s, err := d.open()
	if err != nil {
		t.err = err
		return t
	}
	defer s.close()
	written := make(chan struct{})
	go func() {
		defer close(written)
		for _, p := range pieces {
			if s.send(p) != nil {
				return
			}
			if d.paced {
				s.awaitTaken()
			}
		}
	}()
	patience := d.wait
	if d.lazy {
		patience = hurry
	}
	t.read(s, want, patience)
	t.early = len(t.replies)
	if t.early < want && !t.closed {
		d.lazy = true
	}
	<-written
	s.closeWrite()
	patience = d.wait
	if d.slow && t.early >= want {
		patience = hurry
	}
	if !t.closed {
		t.read(s, -1, patience)
	}
	if !t.closed {
		d.slow = true
	}
	t.rest, t.little = s.buf, s.little
	if s.proc != nil {
		t.ending = s.proc.wait(patience)
	}
	return t
}

// read reads replies until there are as many as wanted, the time is over or the program closes. Below 0: all.
func (t *transcript) read(s *stream, want int, patience time.Duration) {
	for until := time.Now().Add(patience); want < 0 || len(t.replies) < want; {
		body, err := s.frame(until)
		if err != nil {
			t.closed = !errors.Is(err, os.ErrDeadlineExceeded)
			return
		}
		t.replies = append(t.replies, body)
	}
}

func (t transcript) sent() string { return join(t.pieces...).String() }

func (t transcript) shell() string { return t.d.shellOf(join(t.pieces...)) }

// shellOf is a line of shell that sends the bytes and shows what comes.
func (d *door) shellOf(r recipe) string {
	if d.name == Pipe {
		return r.shell() + " | " + word(d.target.at) + ` pipe; echo "exit $?"`
	}
	line := fmt.Sprintf("%s | socat -t 5 - UNIX-CONNECT:%s | xxd", r.shell(), shellSocket)
	if d.target.door == Socket {
		return fmt.Sprintf("%s | socat -t 5 - UNIX-CONNECT:%s | xxd", r.shell(), word(d.target.at))
	}
	return d.shellServe() + " & sleep 1; " + line
}

// shellSocket is where a server of a shell line is.
const shellSocket = "/tmp/kith-check.sock"

func (c *checker) shellServe() string { return word(c.target.at) + " serve --socket " + shellSocket }

// String is what came.
func (t transcript) String() string {
	if t.err != nil {
		return "it could not be opened: " + t.err.Error()
	}
	s := fmt.Sprintf("%d replies", len(t.replies))
	for i, r := range t.replies {
		if i == 4 {
			s += ", …"
			break
		}
		s += fmt.Sprintf(", [%d] %s", i+1, show(r))
	}
	if len(t.rest) > 0 {
		s += ", then no whole frame: " + show(t.rest)
	}
	if !t.closed {
		s += ", and it did not close"
	}
	if t.d.name == Pipe {
		s += ", " + t.ending.String()
	}
	return s
}
