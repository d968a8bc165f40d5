//go:build !alone || kith || kithrpc

package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"os"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/pipe"
	"github.com/kith-wire/kith/transport/socket"
	"github.com/kith-wire/kith/verbs"
)

func init() {
	register(kith("kith-json", "kith, JSON", shape.JSON))
	c := kith("kith-cbor", "kith, CBOR", shape.CBOR)
	c.pipe = nil // a pipe is always JSON
	register(c)
	register(kithLent("kith-json-lent", "kith, JSON, lent", shape.JSON))
	register(kithLent("kith-cbor-lent", "kith, CBOR, lent", shape.CBOR))
}

// kithLent reads a large text where it stands, as raw-buffers does, and makes no string of its own.
func kithLent(name, title string, enc shape.Encoding) contender {
	return contender{
		name: name, title: title, tag: "kith", module: kithModule, only: []string{"blob"}, serve: kithServe,
		dial: func(measure, path string) (client, error) {
			c, err := kithConnect(measure, path, enc)
			return lentClient{c}, err
		},
	}
}

type lentClient struct{ kithClient }

func (c lentClient) Blob() (size int, err error) {
	err = transport.Lend(context.Background(), c.Caller, shape.Call{Verb: "blob"}, func(rows shape.Rows) error {
		text, is := rows.Raw(0).Text()
		if !is || rows.Len() != 1 {
			return errBlob
		}
		size = len(text)
		return nil
	})
	return size, err
}

// kith is kith as its user has it: verbs with typed binding, the defaults of package socket, typed rows at the client.
func kith(name, title string, enc shape.Encoding) contender {
	return contender{
		name: name, title: title, tag: "kith", module: kithModule, shared: true, serve: kithServe,
		dial: func(measure, path string) (client, error) { return kithDial(measure, path, enc) },
		pipe: func() (client, error) {
			self, err := os.Executable()
			if err != nil {
				return nil, err
			}
			p, err := pipe.Start(context.Background(), pipe.Command{Path: self, Args: []string{roleServe, name, "pipe", ""}})
			if err != nil {
				return nil, err
			}
			return kithClient{p.Peer, p.Close}, nil
		},
		local: map[string]func() (func() error, int){"scan": func() (func() error, int) { return kithScan(enc) }},
	}
}

// kithLimits are the defaults but where a message is larger than those let in: its user would raise them as well.
func kithLimits(measure string) shape.Limits {
	switch measure {
	case "blob":
		return shape.Limits{Frame: 2 << 20}
	case "rows", "bytes":
		return shape.Limits{Frame: 16 << 20, Items: 1 << 20}
	}
	return shape.Limits{}
}

type kithListArgs struct {
	N int `json:"n"`
}

func kithSet(measure string) *verbs.Set {
	text, rows := held(measure)
	set := verbs.New("bench", 1)
	verbs.Add(set, "echo", "say it again", func(_ context.Context, s Said) ([]Said, error) { return []Said{s}, nil })
	verbs.Add(set, "blob", "one large text", func(context.Context, struct{}) ([]string, error) { return []string{text}, nil })
	verbs.Add(set, "list", "the first n rows", func(_ context.Context, a kithListArgs) ([]Row, error) {
		if a.N < 0 || a.N > len(rows) {
			return nil, shape.Refused.Errorf("list: n is %d and there are %d rows", a.N, len(rows))
		}
		return rows[:a.N], nil
	})
	return set
}

func kithServe(measure, path string, ready func()) error {
	cfg := transport.Config{Handler: kithSet(measure), Limits: kithLimits(measure)}
	if path == "" {
		return pipe.Serve(context.Background(), cfg)
	}
	return kithListen(path, socket.Options{Config: cfg}, ready)
}

func kithListen(path string, opts socket.Options, ready func()) error {
	l, err := socket.Listen(path, opts)
	if err != nil {
		return err
	}
	ready()
	return l.Serve(context.Background())
}

type kithClient struct {
	transport.Caller
	close func() error
}

func kithDial(measure, path string, enc shape.Encoding) (client, error) {
	if measure == "pipelined" {
		return kithPipeline(path, enc)
	}
	return kithConnect(measure, path, enc)
}

func kithConnect(measure, path string, enc shape.Encoding) (kithClient, error) {
	p, err := socket.Dial(context.Background(), path, transport.Config{Encoding: enc, Limits: kithLimits(measure)})
	if err != nil {
		return kithClient{}, err
	}
	return kithClient{p, p.Close}, nil
}

// kithOne is a typed call that has one row.
func kithOne[R any](c transport.Caller, verb string, args ...any) (one R, err error) {
	rows, err := transport.Call[R](context.Background(), c, verb, args...)
	if err != nil {
		return one, err
	}
	if len(rows) != 1 {
		return one, fmt.Errorf("%s has %d rows", verb, len(rows))
	}
	return rows[0], nil
}

func (c kithClient) Echo(text string) (string, error) {
	s, err := kithOne[Said](c.Caller, "echo", text)
	return s.Text, err
}

func (c kithClient) Blob() (int, error) {
	text, err := kithOne[string](c.Caller, "blob")
	return len(text), err
}

func (c kithClient) List(n int) (int, string, error) {
	rows, err := transport.Call[Row](context.Background(), c.Caller, "list", n)
	if err != nil || len(rows) == 0 {
		return 0, "", err
	}
	return len(rows), rows[len(rows)-1].Text, nil
}

func (c kithClient) Close() error { return c.close() }

// kithPipe is a client that writes many calls before it reads. A transport.Peer sends each call of many callers by itself, which
// is the measure sharing; who has many calls at hand writes them with package shape, which is all that this does.
type kithPipe struct {
	client // of no use here: it only calls
	conn   net.Conn
	in     *bufio.Reader
	enc    shape.Encoding
	out    []byte
	said   []Said
}

func kithPipeline(path string, enc shape.Encoding) (client, error) {
	c, err := net.Dial("unix", path)
	if err != nil {
		return nil, err
	}
	return &kithPipe{conn: c, in: bufio.NewReaderSize(c, 1<<16), enc: enc}, nil
}

func (c *kithPipe) Burst(n int) (err error) {
	c.out = c.out[:0]
	for range n {
		start := len(c.out)
		c.out = append(c.out, 0, 0, 0, 0)
		if c.out, err = (shape.Call{Verb: "echo", Args: shape.ListArgs(echoText)}).Append(c.out, c.enc, shape.Limits{}); err != nil {
			return err
		}
		binary.BigEndian.PutUint32(c.out[start:], uint32(len(c.out)-start-4))
	}
	if _, err := c.conn.Write(c.out); err != nil {
		return err
	}
	for range n {
		if err := c.next(); err != nil {
			return err
		}
	}
	return nil
}

// next reads one reply, typed and checked.
func (c *kithPipe) next() error {
	head, err := c.in.Peek(4)
	if err != nil {
		return err
	}
	size := 4 + int(binary.BigEndian.Uint32(head))
	frame, err := c.in.Peek(size)
	if err != nil {
		return err
	}
	msg, err := shape.Limits{}.Read(frame[4:], "bench")
	if err != nil {
		return err
	}
	if !msg.IsReply() || msg.Refusal != nil {
		return fmt.Errorf("no rows: %v", msg.Refusal)
	}
	if c.said, err = shape.Decode(msg.Rows, c.said[:0]); err != nil {
		return err
	}
	if len(c.said) != 1 || c.said[0].Text != echoText {
		return fmt.Errorf("echo returned %.40q", c.said)
	}
	_, err = c.in.Discard(size)
	return err
}

func (c *kithPipe) Close() error { return c.conn.Close() }

// kithScan admits one message: every byte of it is checked, and nothing of it decoded.
func kithScan(enc shape.Encoding) (func() error, int) {
	message := shape.RowsOf(scanNotes()...).AppendReply(nil, enc, shape.Limits{}, nil)
	return func() error {
		_, err := shape.Limits{}.Read(message, "bench")
		return err
	}, len(message)
}
