package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/rpc"
)

var clientConfig = transport.Config{Name: "daemon"}

func call(method string) shape.Call { return shape.Call{Verb: method} }

func asError(t *testing.T, err error) *shape.Error {
	t.Helper()
	var e *shape.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is no *shape.Error", err)
	}
	return e
}

// RPC-2, RPC-6: what a client sends, byte for byte, and what it makes of what comes.
func TestClientBytes(t *testing.T) {
	c, d := peer(t, clientConfig)
	for i, one := range []struct {
		call     shape.Call
		request  string
		response string
		want     string
	}{
		{call("agent.list"), `"method":"agent.list","params":{}`, `"result":null`, `[]`},
		{shape.Call{Verb: "a.b", Args: shape.ListArgs(map[string]any{"x": int64(1 << 60)})}, `"method":"a.b","params":{"x":1152921504606846976}`, `"result":7`, `[7]`},
		{shape.Call{Verb: "a.b", Args: params(t, `{"x":[1,2],"y":-0.0}`)}, `"method":"a.b","params":{"x":[1,2],"y":-0.0}`, `"result":[1,{"a":2}]`, `[1,{"a":2}]`},
		{shape.Call{Verb: "a.\"b", Args: shape.ListArgs([]int{1})}, `"method":"a.\"b","params":[1]`, `"result":[],"extra":1`, `[]`},
		{call("x.y"), `"method":"x.y","params":{}`, `"result":{"k":null}`, `[{"k":null}]`},
		{call("x.y"), `"method":"x.y","params":{}`, `"error":{"code":"agent_exists","message":"twice","data":1}`, `refused agent_exists daemon: x.y: twice true`},
		{call("x.y"), `"method":"x.y","params":{}`, `"error":{"code":"lock_timeout","message":""}`, `unavailable lock_timeout daemon: x.y: no reason given true`},
		{call("x.y"), `"method":"x.y","params":{}`, `"error":{"code":"brand_new","message":"m"}`, `refused brand_new daemon: x.y: m true`},
		{call("x.y"), `"method":"x.y","params":{}`, `"error":{"code":"x","message":"m"},"result":null`,
			`malformed  daemon: x.y: a response holds one of result and error, and this one holds both false`},
		{call("x.y"), `"method":"x.y","params":{}`, `"other":1`,
			`malformed  daemon: x.y: a response holds one of result and error, and this one holds neither false`},
		{call("x.y"), `"method":"x.y","params":{}`, `"error":null`, `malformed  daemon: x.y: error is null and must be a map false`},
		{call("x.y"), `"method":"x.y","params":{}`, `"error":{"code":"x"}`, `malformed  daemon: x.y: message of error is missing and must be text false`},
		{call("x.y"), `"method":"x.y","params":{}`, `"result":1`, `[1]`},
	} {
		got := make(chan string)
		go func() {
			rows, err := c.Call(context.Background(), one.call)
			if e := (*shape.Error)(nil); errors.As(err, &e) {
				got <- fmt.Sprintf("%s %s %v %v", e.Fault, e.Code, err, e.Said)
				return
			}
			list, _ := rows.Append(nil, shape.JSON, shape.Limits{})
			got <- string(list)
		}()
		d.want(fmt.Sprintf(`{"id":%d,%s}`, i+1, one.request))
		d.send(framed(fmt.Sprintf(`{"id":%d,%s}`, i+1, one.response)))
		if text := <-got; text != one.want {
			t.Errorf("%s\ngot  %s\nwant %s", one.response, text, one.want)
		}
	}
}

// Nothing leaves where a call cannot be a request, and the client goes on.
func TestClientRefuses(t *testing.T) {
	d := newDaemon(t)
	c := d.client(t, transport.Config{Limits: shape.Limits{Frame: 1000}})
	token, err := shape.Limits{}.Value([]byte(`"x"`))
	must(t, err)
	for _, one := range []struct {
		call shape.Call
		text string
	}{
		{shape.Call{Verb: "a.b", Args: shape.ListArgs(1, 2)}, "params are one map and 2 arguments were given"},
		{shape.Call{Verb: "a.b", More: shape.Members{}.With("token", token)}, "a request has no member token, and nothing carries it"},
		{shape.Call{Verb: "a.\xff"}, "method is not UTF-8"},
		{shape.Call{Verb: "a.b", Args: shape.ListArgs(func() {})}, "func() cannot cross"},
		{shape.Call{Verb: "a.b", Args: shape.ListArgs(strings.Repeat("x", 1000))}, "a frame of 1035 bytes is over the cap of 1000"},
	} {
		_, err := c.Call(context.Background(), one.call)
		if e := asError(t, err); e.Fault != shape.Refused || e.Said || !strings.Contains(e.Text, one.text) {
			t.Errorf("%s: got %v", one.text, err)
		}
		var large *rpc.TooLarge
		if errors.As(err, &large) && (large.Size != 1035 || large.Cap != 1000) {
			t.Errorf("%#v", large)
		}
	}
	if _, err := c.Call(context.Background(), call("agent.none")); err != nil {
		t.Error(err)
	}
}

// RPC-1: the ways in which a stream fails are told apart, and are everybody's reason.
func TestClientStreamFails(t *testing.T) {
	for _, one := range []struct {
		bytes string
		fault shape.Fault
		text  string
		is    func(error) bool
	}{
		{"", shape.Unavailable, "the stream ended before the response", func(err error) bool {
			var end *rpc.EndOfStream
			return errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && errors.As(err, &end) && end.Got == 0
		}},
		{"\x05\x00", shape.Unavailable, "the stream ended 2 bytes into a frame's header of 4 before the response", func(err error) bool {
			return errors.Is(err, io.EOF) && errors.Is(err, io.ErrUnexpectedEOF)
		}},
		{"\x05\x00\x00\x00{", shape.Unavailable, "the stream ended 1 bytes into a frame of 5 before the response", func(err error) bool {
			var end *rpc.EndOfStream
			return errors.Is(err, io.ErrUnexpectedEOF) && errors.As(err, &end) && end.Got == 5 && end.Size == 5
		}},
		{"\x01\x00\x00\x01", shape.Malformed, "a frame of 16777217 bytes is over the cap of 16777216", func(err error) bool {
			var large *rpc.TooLarge
			return errors.As(err, &large) && large.Size == 1<<24+1 && large.Cap == 1<<24
		}},
		{framed(`{"id":1,`), shape.Malformed, "at byte 8", isMalformedJSON},
		{framed(`[1]`), shape.Malformed, "a response is a map and this is list", isMalformedJSON},
		{framed(`{"result":1}`), shape.Malformed, "id is missing", isMalformedJSON},
		{framed(`{"id":1e0,"result":1}`), shape.Malformed, "id is 1.0 and must be", isMalformedJSON},
		{framed(`{"id":77,"result":1}`), shape.Malformed, "a response came with id 77, and no request of it is outstanding", func(error) bool { return true }},
		{framed(`{"id":0,"error":{"code":"malformed_frame","message":"what?"}}`), shape.Malformed, "what?", func(err error) bool {
			return rpc.CodeOf(err) == rpc.MalformedFrame
		}},
	} {
		c, d := peer(t, clientConfig)
		errs := make(chan error)
		for range 2 {
			go func() {
				_, err := c.Call(context.Background(), call("x.y"))
				errs <- err
			}()
		}
		d.frame()
		d.frame()
		d.send(one.bytes)
		must(t, d.CloseWrite())
		for range 2 {
			err := <-errs
			if e := asError(t, err); e.Fault != one.fault || !strings.Contains(e.Text, one.text) || !one.is(err) {
				t.Errorf("%q: got %#v", one.bytes, e)
			}
		}
		_, err := c.Call(context.Background(), call("x.y"))
		if e := asError(t, err); !strings.Contains(e.Text, one.text) {
			t.Errorf("%q: the next call got %v", one.bytes, err)
		}
		<-c.Done()
		if c.Err() == nil {
			t.Errorf("%q: it ended without a reason", one.bytes)
		}
	}
}

func isMalformedJSON(err error) bool {
	var bad *rpc.MalformedJSON
	return errors.As(err, &bad)
}

// RPC-3: a call whose caller has gone keeps its id until its late response, which is nobody's; others do not notice.
func TestCancelledCalls(t *testing.T) {
	c, d := peer(t, clientConfig)
	ctx, cancel := context.WithCancel(context.Background())
	errs := make(chan error, 1)
	go func() {
		_, err := c.Call(ctx, call("x.slow"))
		errs <- err
	}()
	d.want(`{"id":1,"method":"x.slow","params":{}}`)
	answered := make(chan string, 1)
	go func() {
		rows, err := c.Call(context.Background(), call("x.next"))
		answered <- fmt.Sprint(rows.Len(), err)
	}()
	d.want(`{"id":2,"method":"x.next","params":{}}`)
	cancel()
	if err := <-errs; !errors.Is(err, context.Canceled) || asError(t, err).Fault != shape.Unavailable {
		t.Errorf("got %v", err)
	}
	d.send(framed(`{"id":1,"result":"late"}`, `{"id":2,"result":[1,2,3]}`))
	if got := <-answered; got != "3 <nil>" {
		t.Errorf("the other call got %s", got)
	}
	ctx, cancel = context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.Call(ctx, call("x.never")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	d.want(`{"id":3,"method":"x.never","params":{}}`)
	if _, err := c.Call(ctx, call("x.dead")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	go func() {
		d.want(`{"id":4,"method":"x.last","params":{}}`)
		d.send(framed(`{"id":3,"error":{"code":"busy","message":"late"}}`, `{"id":4,"result":null}`))
	}()
	if _, err := c.Call(context.Background(), call("x.last")); err != nil {
		t.Error(err)
	}
}

// CLIENT-4: a call without a deadline of its own has the client's.
func TestClientTimeout(t *testing.T) {
	c, _ := peer(t, transport.Config{Timeout: 30 * time.Millisecond})
	_, err := c.Call(context.Background(), call("x.y"))
	if e := asError(t, err); e.Fault != shape.Unavailable || !strings.Contains(e.Text, "the time for a call is over") {
		t.Errorf("got %v", err)
	}
}

// 64 callers share one connection, and each gets its own response.
func TestSharedClient(t *testing.T) {
	d := newDaemon(t)
	c := d.client(t, clientConfig)
	var wait sync.WaitGroup
	for i := range 64 {
		wait.Go(func() {
			for j := range 50 {
				sum, err := transport.Call[int](context.Background(), c, "agent.add", map[string]int{"a": i * 1000, "b": j})
				if err != nil || len(sum) != 1 || sum[0] != i*1000+j {
					t.Errorf("%d+%d: %v, %v", i, j, sum, err)
					return
				}
			}
		})
	}
	wait.Wait()
}

// Close fails what waits, and the next call says so.
func TestClientClose(t *testing.T) {
	c, d := peer(t, clientConfig)
	errs := make(chan error, 1)
	go func() {
		_, err := c.Call(context.Background(), call("x.y"))
		errs <- err
	}()
	d.frame()
	c.Close()
	if err := <-errs; !errors.Is(err, os.ErrClosed) {
		t.Errorf("got %v", err)
	}
	if _, err := c.Call(context.Background(), call("x.y")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("got %v", err)
	}
	d.wantEnd()
}

// CLIENT-3: what a daemon said before it closed is the reason, also where a write failed first.
func TestReasonBeforeBrokenPipe(t *testing.T) {
	c, d := peer(t, clientConfig)
	d.send(framed(`{"id":0,"error":{"code":"busy","message":"too many"}}`))
	d.Close()
	_, err := c.Call(context.Background(), call("x.y"))
	if e := asError(t, err); !e.Said || e.Text != "too many" || e.Code != "busy" {
		t.Errorf("got %v", err)
	}
}

// KeepReplies keeps the whole response, as it came.
func TestKeepReplies(t *testing.T) {
	d := newDaemon(t)
	c := d.client(t, transport.Config{Limits: shape.Limits{KeepReplies: true}})
	rows, err := c.Call(context.Background(), call("agent.two"))
	must(t, err)
	if got := string(rows.Reply().Append(nil, shape.JSON)); got != `{"id":1,"result":["a","b"]}` {
		t.Error(got)
	}
	_, err = c.Call(context.Background(), call("agent.nope"))
	if got := string(asError(t, err).Reply.Append(nil, shape.JSON)); got != `{"id":2,"error":{"code":"unknown_method","message":"no such call: nope"}}` {
		t.Error(got)
	}
}

// A proxy is a Handler made of a client: codes and texts go through.
func TestProxy(t *testing.T) {
	behind := newDaemon(t)
	c := behind.client(t, transport.Config{})
	front := newDaemon(t, func(d *daemon) {
		d.inner = true
		d.opts.Namespaces["far"] = transport.HandlerFunc(func(ctx context.Context, one shape.Call) (shape.Rows, error) {
			one.Verb = "agent." + one.Verb
			return c.Call(ctx, one)
		})
	})
	w := front.dial(t)
	w.send(framed(`{"id":5,"method":"far.back","params":{"v":{"a":1.0}}}`))
	w.want(`{"id":5,"result":{"a":1.0}}`)
	w.send(framed(`{"id":6,"method":"far.fail","params":{"code":"spawn_failed","text":"gone"}}`))
	w.want(`{"id":6,"error":{"code":"spawn_failed","message":"gone"}}`)
}

// FAULT-4: nobody there is unavailable, and says where.
func TestDialNobody(t *testing.T) {
	_, err := rpc.Dial(context.Background(), t.TempDir()+"/none", transport.Config{})
	if e := asError(t, err); e.Fault != shape.Unavailable || e.Said {
		t.Errorf("got %v", err)
	}
	var op *net.OpError
	if errors.As(err, &op) {
		t.Errorf("the path is there twice: %v", err)
	}
}
