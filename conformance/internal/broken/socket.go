package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/kith-wire/kith/conformance/internal/value"
)

const (
	socketCap = 1 << 20          // the most that a frame may have (LIMIT-1)
	stall     = 30 * time.Second // the most that a started frame or a write may take (SOCK-5)
	most      = 1024             // connections at the same time (SOCK-5)
	grace     = 2 * time.Second  // for answers, when it must stop (SOCK-6)
)

// server is a socket that is served.
type server struct {
	listener *net.UnixListener
	mu       sync.Mutex
	open     map[*net.UnixConn]bool
	stopping bool
	done     sync.WaitGroup
}

// accept serves each connection until the listener is closed.
func (s *server) accept() {
	for {
		conn, err := s.listener.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(50 * time.Millisecond) // out of descriptors, or the like: it passes
			continue
		}
		s.mu.Lock()
		full := len(s.open) >= most
		if !full {
			s.open[conn] = true
			s.done.Add(1)
		}
		if s.stopping {
			conn.CloseRead()
		}
		s.mu.Unlock()
		switch {
		case full:
			turnAway(conn)
		case wrong("one-at-a-time"):
			s.serve(conn)
		default:
			go s.serve(conn)
		}
	}
}

// turnAway says why, out loud, and closes.
func turnAway(conn *net.UnixConn) {
	if !wrong("turns-away-in-silence") {
		r := refused("%d connections are open, the limit", most)
		conn.SetWriteDeadline(time.Now().Add(time.Second))
		conn.Write(frame(r.encode(value.JSON)))
	}
	conn.Close()
}

// frame puts its length before a body (SOCK-1).
func frame(body []byte) []byte {
	if wrong("little-endian") {
		return append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// serve answers one connection until its input ends.
func (s *server) serve(conn *net.UnixConn) {
	defer func() {
		s.mu.Lock()
		delete(s.open, conn)
		s.mu.Unlock()
		conn.Close()
		s.done.Done()
	}()
	if !ours(conn) {
		return // not a byte for somebody else (SOCK-4)
	}
	in := newInbox(socketCap)
	go func() {
		readFrames(conn, in)
		in.end()
	}()
	written := 0
	err := door{name: "socket", in: in, write: func(body []byte) error {
		if wrong("chatty") {
			os.Stdout.WriteString("answered\n")
		}
		if written++; wrong("drops-at-stop") && written > 1 && written < 5 {
			time.Sleep(100 * time.Millisecond)
		}
		conn.SetWriteDeadline(time.Now().Add(stall))
		_, err := conn.Write(frame(body))
		return err
	}}.loop()
	in.end()
	if err != nil && wrong("dies-when-callers-leave") && !errors.Is(err, errUnsolicited) && !errors.Is(err, io.ErrUnexpectedEOF) {
		os.Exit(1)
	}
}

// readFrames puts each frame into the inbox until the input ends. An unfinished one is no message.
func readFrames(conn *net.UnixConn, in *inbox) {
	limit := uint32(socketCap)
	if wrong("cap-less-one") {
		limit--
	}
	for {
		var head [4]byte
		conn.SetReadDeadline(time.Time{}) // idle for as long as it likes
		if n, err := conn.Read(head[:]); err != nil || n < 4 && wrong("short-reads-lost") {
			return
		} else if n < 4 {
			conn.SetReadDeadline(time.Now().Add(stall))
			if _, err := io.ReadFull(conn, head[n:]); err != nil {
				return
			}
		}
		size := binary.BigEndian.Uint32(head[:])
		switch {
		case size == 0:
			bad := malformed("a frame of length 0 holds no message")
			in.put(incoming{bad: &bad, last: wrong("zero-frame-closes")})
			continue
		case size > limit && wrong("over-cap-in-silence"):
			return
		case size > limit:
			in.put(incoming{bad: overCap("frame", int(size), socketCap), last: !wrong("over-cap-goes-on")})
			if !wrong("over-cap-goes-on") {
				return // nothing behind it can be told apart (LIMIT-4)
			}
			continue
		}
		conn.SetReadDeadline(time.Now().Add(stall))
		body, err := readBody(conn, int64(size))
		if err != nil {
			if wrong("cut-frame-answered") && len(body) > 0 {
				in.put(incoming{body: body})
			}
			return
		}
		in.put(incoming{body: body})
		if wrong("one-message-a-read") {
			conn.SetReadDeadline(time.Now().Add(time.Millisecond))
			conn.Read(make([]byte, 64<<10))
		}
	}
}

// readBody reads so many bytes into memory that grows with what comes, not with what is promised (LIMIT-2).
func readBody(from io.Reader, size int64) ([]byte, error) {
	if wrong("keeps-promises") {
		body := bytes.Repeat([]byte{1}, int(size))
		_, err := io.ReadFull(from, body)
		return body, err
	}
	var b bytes.Buffer
	_, err := io.CopyN(&b, from, size)
	return b.Bytes(), err
}
