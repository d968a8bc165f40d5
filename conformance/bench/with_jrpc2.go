//go:build !alone || jrpc2

package main

import (
	"context"
	"fmt"
	"net"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"
	"github.com/creachadair/jrpc2/handler"
	"github.com/creachadair/jrpc2/server"
)

func init() {
	register(contender{
		name: "jrpc2", title: "creachadair/jrpc2, lines", tag: "jrpc2", module: "github.com/creachadair/jrpc2",
		peer: true, shared: true, serve: jrpc2Serve, dial: jrpc2Dial,
	})
}

type jrpc2Ask struct {
	N int `json:"n"`
}

func jrpc2Serve(measure, path string, ready func()) error {
	text, rows := held(measure)
	methods := handler.Map{
		"echo": handler.New(func(_ context.Context, in Said) (Said, error) { return in, nil }),
		"blob": handler.New(func(context.Context) (Said, error) { return Said{text}, nil }),
		"list": handler.New(func(_ context.Context, a jrpc2Ask) ([]Row, error) {
			if a.N < 0 || a.N > len(rows) {
				return nil, fmt.Errorf("n is %d and there are %d rows", a.N, len(rows))
			}
			return rows[:a.N], nil
		}),
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	ready()
	return server.Loop(context.Background(), server.NetAccepter(l, channel.Line), server.Static(methods), nil)
}

type jrpc2Client struct{ *jrpc2.Client }

func jrpc2Dial(_, path string) (client, error) {
	c, err := net.Dial("unix", path)
	if err != nil {
		return nil, err
	}
	return jrpc2Client{jrpc2.NewClient(channel.Line(c, c), nil)}, nil
}

func (c jrpc2Client) Echo(text string) (string, error) {
	var out Said
	err := c.CallResult(context.Background(), "echo", Said{text}, &out)
	return out.Text, err
}

func (c jrpc2Client) Blob() (int, error) {
	var out Said
	err := c.CallResult(context.Background(), "blob", nil, &out)
	return len(out.Text), err
}

func (c jrpc2Client) List(n int) (int, string, error) {
	var rows []Row
	if err := c.CallResult(context.Background(), "list", jrpc2Ask{n}, &rows); err != nil || len(rows) == 0 {
		return 0, "", err
	}
	return len(rows), rows[len(rows)-1].Text, nil
}

func (c jrpc2Client) Burst(n int) error {
	calls := make([]jrpc2.Spec, n)
	for i := range calls {
		calls[i] = jrpc2.Spec{Method: "echo", Params: Said{echoText}}
	}
	replies, err := c.Batch(context.Background(), calls)
	if err != nil {
		return err
	}
	for _, r := range replies {
		var out Said
		if err := r.UnmarshalResult(&out); err != nil {
			return err
		}
		if out.Text != echoText {
			return fmt.Errorf("echo returned %.40q", out.Text)
		}
	}
	return nil
}
