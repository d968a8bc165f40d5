package transport_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
)

// What a caller leaves behind who calls alone is not another's: here one begins its call while the last one's lead is still being given
// away, because a refusal is written meanwhile. Each reply goes to its own call (CLIENT-3).
func TestCallAloneBehindAnother(t *testing.T) {
	const callers, calls = 4, 3000
	near, far := socketPair(t)
	c := transport.Connect(context.Background(), near, transport.Lengths, transport.Config{})
	var gone sync.WaitGroup
	gone.Go(func() {
		defer far.Close()
		answers(far, `{"call":"back"}`)
	})
	var all sync.WaitGroup
	for who := range callers {
		all.Go(func() {
			for i := range calls {
				rows, err := transport.Call[int](context.Background(), c, "echo", who*calls+i)
				if err != nil || len(rows) != 1 || rows[0] != who*calls+i {
					t.Errorf("call %d of caller %d: %v, %v", i, who, rows, err)
					return
				}
			}
		})
	}
	all.Wait()
	c.Close()
	<-c.Done()
	gone.Wait()
}

// answers answers each call with its argument, and sends a message behind each reply, until input ends.
func answers(conn net.Conn, behind string) {
	r := bufio.NewReader(conn)
	for {
		var head [4]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head[:]))
		if _, err := io.ReadFull(r, body); err != nil {
			return
		}
		msg, err := shape.Limits{}.Read(body, "the client")
		if err != nil || !msg.IsCall() {
			continue // it refuses to be called
		}
		reply := shape.RowsOf(msg.Call.Args.At(0)).AppendReply(make([]byte, 4), shape.JSON, shape.Limits{}, nil)
		binary.BigEndian.PutUint32(reply, uint32(len(reply)-4))
		if behind != "" {
			reply = append(binary.BigEndian.AppendUint32(reply, uint32(len(behind))), behind...)
		}
		if _, err := conn.Write(reply); err != nil {
			return
		}
	}
}
