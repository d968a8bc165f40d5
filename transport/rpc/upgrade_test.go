package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/rpc"
)

// RPC-7: behind the acknowledgement the connection is the handler's from the very next byte, and nothing is lost at either end: 1 MiB
// goes out in the same write as the request, and comes back.
func TestUpgradeRaw(t *testing.T) {
	d := newDaemon(t)
	w := d.dial(t)
	data := strings.Repeat("0123456789abcdef", 1<<16)
	go io.WriteString(w, framed(alive, `{"id":2,"method":"channel.raw","params":{}}`)+data)
	w.want(aliveReply)
	w.want(`{"id":2,"result":"yours"}`)
	back := make([]byte, len(data))
	if _, err := io.ReadFull(w, back); err != nil || string(back) != data {
		t.Fatalf("what came back is another: %v", err)
	}
	must(t, w.CloseWrite())
	w.wantEnd()
}

// The acknowledgement comes after every other response, and a method that does not upgrade after all is answered like any.
func TestUpgradeWaitsForOthers(t *testing.T) {
	d := newDaemon(t)
	w := d.dial(t)
	w.send(framed(`{"id":1,"method":"agent.wait","params":{"gate":"x"}}`))
	d.waits(t, "x")
	w.send(framed(`{"id":2,"method":"channel.raw"}`) + "behind")
	other := d.dial(t)
	other.send(framed(alive))
	other.want(aliveReply)
	close(d.gates.gate("x"))
	w.want(`{"id":1,"result":"x"}`)
	w.want(`{"id":2,"result":"yours"}`)
	got := make([]byte, 6)
	if _, err := io.ReadFull(w, got); err != nil || string(got) != "behind" {
		t.Errorf("%q, %v", got, err)
	}
}

// A stop ends the context of a handler that has taken its connection, which may still say goodbye.
func TestUpgradeAndStop(t *testing.T) {
	d := newDaemon(t)
	w := d.dial(t)
	w.send(framed(`{"id":2,"method":"channel.keep"}`))
	w.want(`{"id":2,"result":"yours"}`)
	<-d.took
	d.stop()
	if rest, err := io.ReadAll(w); string(rest) != "bye" {
		t.Errorf("%q, %v", rest, err)
	}
}

// A connection that its taker closes is closed at once: who wakes with the end of the handler's context has nothing left to write to.
func TestUpgradeClose(t *testing.T) {
	for range 100 {
		d := newDaemon(t)
		w := d.dial(t)
		w.send(framed(`{"id":1,"method":"channel.keep"}`))
		w.want(`{"id":1,"result":"yours"}`)
		conn := <-d.took
		conn.Close()
		if rest, err := io.ReadAll(w); len(rest) > 0 {
			t.Fatalf("%q, %v", rest, err)
		}
	}
}

// Both ends of kith: bytes that come right behind the acknowledgement are the connection's.
func TestClientUpgrade(t *testing.T) {
	c, w := peer(t, clientConfig)
	go func() {
		w.frame()
		w.send(framed(`{"id":1,"error":{"code":"busy","message":"later"}}`))
		w.frame()
		w.send(framed(`{"id":2,"result":"yours"}`) + "at once")
		io.Copy(w, w)
		w.CloseWrite()
	}()
	if _, _, err := c.Upgrade(context.Background(), call("x.up")); rpc.CodeOf(err) != rpc.Busy {
		t.Fatalf("got %v", err)
	}
	rows, conn, err := c.Upgrade(context.Background(), call("x.up"))
	must(t, err)
	defer conn.Close()
	if got := string(rows.Raw(0).Append(nil, shape.JSON)); got != `"yours"` {
		t.Errorf("acknowledged with %s", got)
	}
	got := make([]byte, 7)
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != "at once" {
		t.Fatalf("%q, %v", got, err)
	}
	if _, err := c.Call(context.Background(), call("x.y")); !errors.Is(err, shape.Refused) {
		t.Errorf("a call on what was handed over: %v", err)
	}
	data := bytes.Repeat([]byte("x"), 1<<20)
	go func() {
		conn.Write(data)
		conn.(interface{ CloseWrite() error }).CloseWrite()
	}()
	if back, err := io.ReadAll(conn); err != nil || !bytes.Equal(back, data) {
		t.Errorf("%d bytes came back: %v", len(back), err)
	}
}

// A call that was given up before does not disturb the connection that is handed over.
func TestUpgradeBehindLostCall(t *testing.T) {
	d := newDaemon(t)
	c := d.client(t, transport.Config{})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.Call(ctx, shape.Call{Verb: "agent.wait", Args: params(t, `{"gate":"x"}`)}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
	d.waits(t, "x")
	close(d.gates.gate("x"))
	_, conn, err := c.Upgrade(context.Background(), call("channel.raw"))
	must(t, err)
	defer conn.Close()
	io.WriteString(conn, "hello")
	got := make([]byte, 5)
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != "hello" {
		t.Errorf("%q, %v", got, err)
	}
}
