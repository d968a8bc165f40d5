package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/kith-wire/kith/conformance/internal/value"
)

const (
	frameCap = 16 << 20         // bytes of JSON in a frame (RPC-1)
	stall    = 30 * time.Second // the most that the first request, a started frame or a write may take
)

// session is one connection.
type session struct {
	conn *net.UnixConn
	in   *bufio.Reader
	late []byte // answers-at-end: what is written then
	n    int    // requests that were answered
}

func newSession(conn *net.UnixConn) *session { return &session{conn: conn, in: bufio.NewReader(conn)} }

// errMalformed is what the peer is told before its connection closes (RPC-4).
type errMalformed string

func (e errMalformed) Error() string { return string(e) }

// serve answers requests until there are no more. A clean end of them is met in silence.
func (s *session) serve() {
	defer s.conn.Close()
	for {
		body, err := s.frame()
		var r request
		if err == nil {
			r, err = parse(body)
		}
		var bad errMalformed
		switch {
		case err == nil:
			err = s.answer(r)
		case errors.As(err, &bad):
			err = s.refuse(r, bad)
		default:
			s.atEnd(err, body)
		}
		if err != nil {
			return
		}
	}
}

// frame reads the body of one frame. The error is io.EOF where the input ended between frames.
func (s *session) frame() ([]byte, error) {
	if _, err := s.in.Peek(1); err != nil {
		return nil, err
	}
	s.conn.SetReadDeadline(time.Now().Add(stall))
	defer s.conn.SetReadDeadline(time.Time{})
	if wrong("short-reads-lost") && s.in.Buffered() < 4 {
		return nil, io.ErrUnexpectedEOF
	}
	var head [4]byte
	if _, err := io.ReadFull(s.in, head[:]); err != nil {
		return nil, err
	}
	size := int64(binary.LittleEndian.Uint32(head[:]))
	switch {
	case size == 0 && wrong("zero-frame-skipped"):
		return s.frame()
	case size == 0:
		return nil, errMalformed("a frame of length 0 holds no request")
	case size > limit() && wrong("over-cap-in-silence"):
		return nil, io.ErrUnexpectedEOF
	case size > limit():
		if wrong("over-cap-read-first") {
			io.CopyN(io.Discard, s.in, size)
		}
		return nil, errMalformed(fmt.Sprintf("a frame of %d bytes is over the cap of %d", size, frameCap))
	}
	return s.body(size)
}

// body reads so many bytes into memory that grows with what comes, not with what is promised.
func (s *session) body(size int64) ([]byte, error) {
	if wrong("keeps-promises") {
		b := bytes.Repeat([]byte{1}, int(size))
		_, err := io.ReadFull(s.in, b)
		return b, err
	}
	var b bytes.Buffer
	_, err := io.CopyN(&b, s.in, size)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err == nil && wrong("one-frame-a-read") {
		s.in.Discard(s.in.Buffered())
	}
	return b.Bytes(), err
}

// answer carries a request out.
func (s *session) answer(r request) error {
	members := []value.Member{value.M("id", r.id)}
	if r.method == "echo.back" {
		return s.write(append(members, value.M("result", r.params)))
	}
	if s.n++; wrong("loses-one-of-many") && s.n == 100 {
		return nil
	}
	if err := s.before(); err != nil {
		return err
	}
	err := s.write(append(members, failure("unknown_method", "there is no method "+r.method)...))
	if err == nil && wrong("answers-twice") {
		err = s.write(append(members, failure("unknown_method", "there is no method "+r.method)...))
	}
	if err == nil && wrong("closes-after-error") {
		err = io.EOF
	}
	return err
}

// refuse answers what is no request. Nothing behind it can be told apart, so that it always returns an error.
func (s *session) refuse(r request, why errMalformed) error {
	id, code := value.OfInt(0), "malformed_frame"
	switch fault {
	case "malformed-in-silence":
		return why
	case "dies-of-malformed":
		os.Exit(1)
	case "malformed-keeps-id":
		if r.id.Kind == value.Int && r.id.Int.IsUint64() {
			id = r.id
		}
	case "malformed-is-unknown":
		code = "unknown_method"
	}
	err := s.write(append([]value.Member{value.M("id", id)}, failure(code, string(why))...))
	switch fault {
	case "malformed-twice":
		s.write(append([]value.Member{value.M("id", id)}, failure(code, string(why))...))
	case "stays-open":
		return err
	}
	return why
}

// write writes one response.
func (s *session) write(members []value.Member) error {
	body := spell(members)
	frame := append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...)
	if wrong("big-endian") {
		binary.BigEndian.PutUint32(frame, uint32(len(body)))
	}
	if wrong("answers-at-end") {
		s.late = append(s.late, frame...)
		if id := members[0].Value; !id.Is(0) {
			return nil
		}
		frame = s.late
	}
	s.conn.SetWriteDeadline(time.Now().Add(stall))
	_, err := s.conn.Write(frame)
	if err != nil && wrong("dies-when-callers-leave") {
		os.Exit(1)
	}
	return err
}
