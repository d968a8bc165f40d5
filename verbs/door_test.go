package verbs_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/transporttest"
)

var allDoors = []transport.Door{transport.CLI, transport.Pipe, transport.Socket}

// knock connects to a handler by a door, on a real socket, and returns the other end: raw bytes.
func knock(t *testing.T, h transport.Handler, door transport.Door) net.Conn {
	t.Helper()
	dir := t.TempDir()
	transporttest.Leaks(t, dir)
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	near, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	framing := transport.Lengths
	if door == transport.Pipe {
		framing = transport.Lines
	}
	peer := transport.Connect(context.Background(), far, framing, transport.Config{Handler: h, Door: door})
	t.Cleanup(func() {
		near.Close()
		peer.Close()
		<-peer.Done()
	})
	near.SetDeadline(time.Now().Add(time.Minute))
	return near
}

// send writes one body in the framing of a door.
func send(t *testing.T, conn net.Conn, door transport.Door, body []byte) {
	t.Helper()
	if door == transport.Pipe {
		body = append(body, '\n')
	} else {
		body = append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
	}
	if _, err := conn.Write(body); err != nil {
		t.Fatal(err)
	}
}

// receive reads one body.
func receive(t *testing.T, conn net.Conn, door transport.Door) []byte {
	t.Helper()
	if door == transport.Pipe {
		line, err := bufio.NewReader(conn).ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		return line[:len(line)-1]
	}
	var head [4]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		t.Fatal(err)
	}
	body := make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err := io.ReadFull(conn, body); err != nil {
		t.Fatal(err)
	}
	return body
}

// ask sends one call, written as JSON, by a door and in an encoding, and returns the reply's bytes.
func ask(t *testing.T, h transport.Handler, door transport.Door, enc shape.Encoding, call string) []byte {
	t.Helper()
	value, err := shape.Limits{}.Value([]byte(call), shape.JSON)
	if err != nil {
		t.Fatal(err)
	}
	body := value.Append(nil, enc)
	if door != transport.CLI {
		conn := knock(t, h, door)
		send(t, conn, door, body)
		return receive(t, conn, door)
	}
	msg, err := shape.Limits{}.Read(body, "")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := transport.Answer(context.Background(), h, msg.Call, transport.Config{})
	return rows.AppendReply(nil, enc, shape.Limits{}, err)
}

// asJSON returns a reply of either encoding as JSON.
func asJSON(t *testing.T, reply []byte) string {
	t.Helper()
	value, err := shape.Limits{}.Value(reply)
	if err != nil {
		t.Fatal(err)
	}
	return string(value.Append(nil, shape.JSON))
}

// words calls a verb as a command line does.
func words(t *testing.T, h transport.Handler, verb string, words ...string) string {
	t.Helper()
	rows, err := transport.Answer(context.Background(), h, shape.Call{Verb: verb, Args: shape.WordArgs(words)}, transport.Config{})
	return string(rows.AppendReply(nil, shape.JSON, shape.Limits{}, err))
}

// refusal is a refused reply.
func refusal(text string) string {
	return `{"ok":false,"family":1,"n":0,"result":[],"error":` + strings.TrimSpace(text) + `,"fault":"refused"}`
}
