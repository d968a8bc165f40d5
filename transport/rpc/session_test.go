package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/kith-wire/kith/transport/rpc"
)

const (
	alive      = `{"id":1,"method":"agent.add","params":{"a":1,"b":2}}`
	aliveReply = `{"id":1,"result":3}`
)

// RPC-1, RPC-2, RPC-4 to RPC-6: what is answered to what, byte for byte.
func TestAnswers(t *testing.T) {
	d := newDaemon(t)
	w := d.dial(t)
	for _, c := range []struct{ request, response string }{
		{alive, aliveReply},
		{`{"id":18446744073709551615,"method":"agent.add","params":{"a":-1,"b":0}}`, `{"id":18446744073709551615,"result":-1}`},
		{`{"id":9007199254740993,"method":"agent.none","params":{}}`, `{"id":9007199254740993,"result":null}`},
		{`{"id":0,"method":"agent.none"}`, `{"id":0,"result":null}`},
		{`{"id":1,"method":"agent.none","params":null}`, `{"id":1,"result":null}`},
		{` {"params":{"n":0},"method":"agent.list_all","id":2,"jsonrpc":"2.0","x":[{}]} `, `{"id":2,"result":[]}`},
		{`{"id":2,"method":"agent.list-all","params":{"n":1}}`, `{"id":2,"result":[0]}`},
		{`{"id":2,"method":"agent.two","params":{}}`, `{"id":2,"result":["a","b"]}`},
		{`{"id":3,"method":"agent.back","params":{"v":[ 1, -0.0, "\u2028", 36893488147419103232, {"b":1,"a":2} ]}}`,
			"{\"id\":3,\"result\":[1,-0.0,\"\u2028\",36893488147419103232,{\"b\":1,\"a\":2}]}"},
		{`{"id":3,"method":"agent.back","params":{"v":null}}`, `{"id":3,"result":null}`},
		{`{"id":4,"method":"channel.params","params":{"any":["thing"]}}`, `{"id":4,"result":{"any":["thing"]}}`},
		{`{"id":4,"method":"agent.add","params":{"a":1,"b":2,"note":"x"}}`, `{"id":4,"result":3}`},
		{`{"id":5,"method":"agent.add","params":{"a":1,"b":2,"c":3}}`,
			`{"id":5,"error":{"code":"invalid_params","message":"add: c is no argument, and taken are a, b, note"}}`},
		{`{"id":5,"method":"agent.add","params":{"a":1}}`, `{"id":5,"error":{"code":"invalid_params","message":"add: b is missing and int is taken"}}`},
		{`{"id":5,"method":"agent.add","params":{"a":1,"b":"x"}}`,
			`{"id":5,"error":{"code":"invalid_params","message":"add: b is \"x\" and int is taken"}}`},
		{`{"id":5,"method":"agent.add","params":[1,2]}`,
			`{"id":5,"error":{"code":"invalid_params","message":"add: params is list and must be a map"}}`},
		{`{"id":6,"method":"agent.nope","params":{}}`, `{"id":6,"error":{"code":"unknown_method","message":"no such call: nope"}}`},
		{`{"id":6,"method":"nobody.add","params":{}}`,
			`{"id":6,"error":{"code":"unknown_method","message":"no such namespace: nobody; there is agent, channel"}}`},
		{`{"id":6,"method":"add","params":{}}`,
			`{"id":6,"error":{"code":"unknown_method","message":"method add is not of the form namespace.verb"}}`},
		{`{"id":6,"method":"","params":{}}`,
			`{"id":6,"error":{"code":"unknown_method","message":"method  is not of the form namespace.verb"}}`},
		{`{"id":7,"method":"agent.fail","params":{"code":"agent_not_found","text":"no \"x\""}}`,
			`{"id":7,"error":{"code":"agent_not_found","message":"no \"x\""}}`},
		{`{"id":7,"method":"agent.fail","params":{"code":"of_our_own","text":""}}`, `{"id":7,"error":{"code":"of_our_own","message":""}}`},
		{`{"id":7,"method":"agent.fault","params":{"fault":""}}`, `{"id":7,"error":{"code":"internal","message":"plain"}}`},
		{`{"id":7,"method":"agent.fault","params":{"fault":"refused"}}`, `{"id":7,"error":{"code":"invalid_params","message":"so it is"}}`},
		{`{"id":7,"method":"agent.fault","params":{"fault":"unavailable"}}`, `{"id":7,"error":{"code":"busy","message":"so it is"}}`},
		{`{"id":7,"method":"agent.fault","params":{"fault":"failed"}}`, `{"id":7,"error":{"code":"internal","message":"so it is"}}`},
		{`{"id":7,"method":"agent.panic","params":{}}`, `{"id":7,"error":{"code":"internal","message":"agent.panic panicked: oh"}}`},
		{`{"id":8,"method":"agent.big","params":{"n":16777216}}`,
			`{"id":8,"error":{"code":"internal","message":"the response is 16777236 bytes and the cap is 16777216"}}`},
		{`{"id":8,"method":"channel.undeclared","params":{}}`,
			`{"id":8,"error":{"code":"invalid_params","message":"only a method of the daemon wire that is declared to upgrade takes its connection"}}`},
		{`{"id":9,"method":"agent.way","params":{}}`, `{"id":9,"result":"false socket the wire of this connection has no way back to the caller"}`},
		{alive, aliveReply},
	} {
		w.send(framed(c.request))
		if got := w.frame(); got != c.response {
			t.Errorf("%s\ngot  %s\nwant %s", c.request, got, c.response)
		}
	}
}

// RPC-4: what is no request, or is over the cap, is told once with id 0, and the connection closes; what is in flight is answered.
func TestMalformed(t *testing.T) {
	d := newDaemon(t, func(d *daemon) { d.sock.Limits.Frame = 1000 })
	for _, c := range []struct{ bytes, message string }{
		{framed(`{"id":2,"method":"agent.none"`), "at byte 29"},
		{framed(``), "a frame of length 0 holds no message"},
		{framed(`[]`), "a request is a map and this is list"},
		{framed(`{"method":"agent.none"}`), "id is missing and must be an integer from 0 to 18446744073709551615"},
		{framed(`{"id":-1,"method":"agent.none"}`), "id is -1 and must be"},
		{framed(`{"id":1.0,"method":"agent.none"}`), "id is 1.0 and must be"},
		{framed(`{"id":"1","method":"agent.none"}`), "id is \\\"1\\\" and must be"},
		{framed(`{"id":18446744073709551616,"method":"agent.none"}`), "id is 18446744073709551616 and must be"},
		{framed(`{"id":2}`), "method is missing and must be text"},
		{framed(`{"id":2,"method":7}`), "method is 7 and must be text"},
		{framed(`{"id":2,"id":3,"method":"agent.none"}`), "duplicate key"},
		{framed("{\"id\":2,\"method\":\"agent.\xff\"}"), "UTF-8"},
		{framed(`{"id":2,"method":"agent.none","params":` + strings.Repeat("[", 128) + strings.Repeat("]", 128) + `}`), "128"},
		{"\xe9\x03\x00\x00", "a frame of 1001 bytes is over the cap of 1000"},
		{"\x00\x00\x00\x10x", "a frame of 268435456 bytes is over the cap of 1000"},
	} {
		w := d.dial(t)
		w.send(framed(`{"id":7,"method":"agent.wait","params":{"gate":"m"}}`))
		d.waits(t, "m")
		w.send(c.bytes + framed(alive))
		got := w.frame()
		if !strings.HasPrefix(got, `{"id":0,"error":{"code":"malformed_frame","message":"`) || !strings.Contains(got, c.message) {
			t.Errorf("%q\ngot  %s\nwant %s", c.bytes, got, c.message)
		}
		close(d.gates.gate("m"))
		w.want(`{"id":7,"result":"m"}`)
		if rest, err := io.ReadAll(w); len(rest) > 0 {
			t.Errorf("%q: behind it %q, %v", c.bytes, rest, err)
		}
		d.gates.mu.Lock()
		delete(d.gates.open, "m")
		d.gates.mu.Unlock()
	}
}

// RPC-3: many in flight, answered in any order; an id that is in flight is refused without harm, and free again afterwards.
func TestManyInFlight(t *testing.T) {
	d := newDaemon(t)
	w := d.dial(t)
	wait := func(id int, gate string) string {
		return framed(fmt.Sprintf(`{"id":%d,"method":"agent.wait","params":{"gate":%q}}`, id, gate))
	}
	w.send(wait(1, "a") + wait(2, "b") + wait(3, "c"))
	for range 3 {
		<-d.gates.waiting
	}
	w.send(wait(2, "b"))
	w.want(`{"id":2,"error":{"code":"busy","message":"a request with this id is still being answered"}}`)
	for range 100 { // none of them waits for those that do
		w.send(framed(`{"id":4,"method":"agent.add","params":{"a":2,"b":2}}`))
		w.want(`{"id":4,"result":4}`)
	}
	for _, gate := range []string{"c", "b", "a"} {
		close(d.gates.gate(gate))
		w.want(fmt.Sprintf(`{"id":%d,"result":%q}`, gate[0]-'a'+1, gate))
	}
	w.send(wait(2, "b"))
	w.want(`{"id":2,"result":"b"}`)
}

// The bound of what is in flight: more wait, and are answered once there is room.
func TestInFlightIsBounded(t *testing.T) {
	d := newDaemon(t, func(d *daemon) { d.opts.InFlight = 3 })
	w := d.dial(t)
	for id := range 10 {
		w.send(framed(fmt.Sprintf(`{"id":%d,"method":"agent.wait","params":{"gate":"g"}}`, id)))
	}
	for range 3 {
		d.waits(t, "g")
	}
	other := d.dial(t)
	for range 50 { // a peer of its own is not held up, and nobody has begun a fourth meanwhile
		other.send(framed(alive))
		other.want(aliveReply)
	}
	if n := len(d.gates.waiting); n > 0 {
		t.Errorf("%d more than 3 are in flight", n)
	}
	close(d.gates.gate("g"))
	seen := map[string]bool{}
	for range 10 {
		seen[w.frame()] = true
	}
	for id := range 10 {
		if !seen[fmt.Sprintf(`{"id":%d,"result":"g"}`, id)] {
			t.Errorf("%d was not answered", id)
		}
	}
}

// A peer that does not read stops only itself: it is not read from any more, and is closed once a write has not moved for long.
func TestSlowReader(t *testing.T) {
	d := newDaemon(t, func(d *daemon) { d.sock.Stall = 500 * time.Millisecond })
	slow, other := d.dial(t), d.dial(t)
	must(t, slow.SetWriteDeadline(time.Now().Add(10*time.Second)))
	request := framed(strings.Repeat(" ", 2000) + `{"id":1,"method":"agent.big","params":{"n":100000}}`)
	sent := make(chan int)
	go func() {
		n := 0
		for {
			if _, err := io.WriteString(slow, request); err != nil {
				break
			}
			n++
		}
		sent <- n
	}()
	for range 50 {
		other.send(framed(alive))
		other.want(aliveReply)
	}
	if n := <-sent; n > 10_000 {
		t.Errorf("%d requests were taken of a peer that reads nothing", n)
	}
	other.send(framed(alive))
	other.want(aliveReply)
}

// A connection that sends no whole request is dropped, silently; one that has sent one may be idle; a frame that was begun and not
// ended is told.
func TestIdle(t *testing.T) {
	d := newDaemon(t, func(d *daemon) {
		d.opts.Idle = 300 * time.Millisecond
		d.sock.Stall = 600 * time.Millisecond
	})
	idle, busy, slow := d.dial(t), d.dial(t), d.dial(t)
	busy.send(framed(alive))
	busy.want(aliveReply)
	slow.send(framed(alive))
	slow.want(aliveReply)
	began := time.Now()
	slow.send(framed(alive)[:9])
	idle.wantEnd()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("dropped after %v", took)
	}
	slow.want(`{"id":0,"error":{"code":"malformed_frame","message":"a frame was started and not finished within 600ms"}}`)
	slow.wantEnd()
	busy.send(framed(alive))
	busy.want(aliveReply)
}

// One request for each connection, as clients do that exist, half-closed behind it or not; a hang-up is silent, wherever it comes.
func TestOneRequestPerConnection(t *testing.T) {
	d := newDaemon(t)
	for i := range 100 {
		w := d.dial(t)
		w.send(framed(alive))
		if i%2 == 0 {
			must(t, w.CloseWrite())
		}
		w.want(aliveReply)
		if i%2 == 0 {
			w.wantEnd()
		}
		w.Close()
	}
	for _, part := range []string{"", framed(alive)[:3], framed(alive)[:9]} {
		w := d.dial(t)
		w.send(part)
		must(t, w.CloseWrite())
		w.wantEnd()
	}
	w := d.dial(t)
	for _, b := range []byte(framed(alive)) {
		w.send(string(b))
	}
	w.want(aliveReply)
}

// CLIENT-7: the context of a handler ends when its connection is gone both ways, and not at a half-close.
func TestGone(t *testing.T) {
	d := newDaemon(t)
	w := d.dial(t)
	w.send(framed(`{"id":1,"method":"agent.wait","params":{"gate":"x"}}`))
	d.waits(t, "x")
	must(t, w.CloseWrite())
	other := d.dial(t)
	other.send(framed(alive))
	other.want(aliveReply)
	select {
	case got := <-d.gates.waiting:
		t.Fatalf("%s at a half-close", got)
	default:
	}
	w.Close()
	d.waits(t, "ended")
}

// RPC-4, SOCK-6: a stop answers what has arrived and what is in flight; what comes meanwhile is told.
func TestStop(t *testing.T) {
	d := newDaemon(t)
	w, idle := d.dial(t), d.dial(t)
	idle.send(framed(alive))
	idle.want(aliveReply)
	w.send(framed(`{"id":1,"method":"agent.wait","params":{"gate":"x"}}`))
	d.waits(t, "x")
	d.stop()
	idle.wantEnd()
	if _, err := net.Dial("unix", d.path); !errors.Is(err, fs.ErrNotExist) || exists(d.path) {
		t.Errorf("while it stops: %v", err)
	}
	const told = `{"id":2,"error":{"code":"shutting_down","message":"the daemon stops, and takes no more requests"}}`
	for got := ""; got != told; { // one that was there before it looked is answered
		if got != "" && got != `{"id":2,"result":null}` {
			t.Fatal(got)
		}
		w.send(framed(`{"id":2,"method":"agent.none","params":{}}`))
		got = w.frame()
	}
	close(d.gates.gate("x"))
	w.want(`{"id":1,"result":"x"}`)
	w.wantEnd()
}

// A stop is bounded: a handler that goes on is told by the end of its context, and its connection closes.
func TestStopIsBounded(t *testing.T) {
	d := newDaemon(t, func(d *daemon) { d.sock.Grace = 500 * time.Millisecond })
	w := d.dial(t)
	w.send(framed(`{"id":1,"method":"agent.wait","params":{"gate":"x"}}`))
	d.waits(t, "x")
	began := time.Now()
	d.stop()
	d.waits(t, "ended")
	w.wantEnd()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

// SOCK-5 on this wire: over the connection limit there is an error with id 0.
func TestConnectionLimit(t *testing.T) {
	d := newDaemon(t, func(d *daemon) { d.sock.Max = 1 })
	first := d.dial(t)
	first.send(framed(alive))
	first.want(aliveReply)
	second := d.dial(t)
	second.want(`{"id":0,"error":{"code":"busy","message":"1 connections are open and the limit is 1: try again later"}}`)
	second.wantEnd()
	_, err := d.client(t, clientConfig).Call(context.Background(), call("agent.none"))
	e := asError(t, err)
	if !e.Said || rpc.CodeOf(err) != rpc.Busy || !strings.Contains(e.Text, "the limit is 1") {
		t.Errorf("a client is told %#v", e)
	}
}
