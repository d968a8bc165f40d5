//go:build !alone || varlink

package main

import (
	"context"

	"github.com/varlink/go/varlink"
)

func init() {
	register(contender{
		name: "varlink", title: "varlink/go", tag: "varlink", module: "github.com/varlink/go",
		peer: true, serve: varlinkServe, dial: varlinkDial,
	})
}

const (
	varlinkName = "com.example.bench"
	varlinkText = `interface com.example.bench
type Row (id: string, at: string, text: string)
method Echo(text: string) -> (text: string)
method Blob() -> (text: string)
method List(n: int) -> (rows: []Row)
`
)

type varlinkAsk struct {
	N int64 `json:"n"`
}

type varlinkRows struct {
	Rows []Row `json:"rows"`
}

// varlinkBench is what varlink-go-interface-generator writes for the interface, and its methods.
type varlinkBench struct {
	text string
	rows []Row
}

func (b *varlinkBench) VarlinkGetName() string { return varlinkName }

func (b *varlinkBench) VarlinkGetDescription() string { return varlinkText }

func (b *varlinkBench) VarlinkDispatch(ctx context.Context, c varlink.Call, method string) error {
	switch method {
	case "Echo":
		var in Said
		if err := c.GetParameters(&in); err != nil {
			return c.ReplyInvalidParameter(ctx, "parameters")
		}
		return c.Reply(ctx, &in)
	case "Blob":
		return c.Reply(ctx, &Said{b.text})
	case "List":
		var in varlinkAsk
		if err := c.GetParameters(&in); err != nil || in.N < 0 || in.N > int64(len(b.rows)) {
			return c.ReplyInvalidParameter(ctx, "n")
		}
		return c.Reply(ctx, &varlinkRows{b.rows[:in.N]})
	}
	return c.ReplyMethodNotFound(ctx, method)
}

func varlinkServe(measure, path string, ready func()) error {
	s, err := varlink.NewService("kith", "bench", "1", "https://github.com/kith-wire/kith")
	if err != nil {
		return err
	}
	text, rows := held(measure)
	if err := s.RegisterInterface(&varlinkBench{text, rows}); err != nil {
		return err
	}
	if err := s.Bind(context.Background(), "unix:"+path); err != nil {
		return err
	}
	ready()
	return s.DoListen(context.Background(), 0)
}

type varlinkClient struct{ *varlink.Connection }

func varlinkDial(_, path string) (client, error) {
	c, err := varlink.NewConnection(context.Background(), "unix:"+path)
	if err != nil {
		return nil, err
	}
	return varlinkClient{c}, nil
}

func (c varlinkClient) Echo(text string) (string, error) {
	var out Said
	err := c.Call(context.Background(), varlinkName+".Echo", &Said{text}, &out)
	return out.Text, err
}

func (c varlinkClient) Blob() (int, error) {
	var out Said
	err := c.Call(context.Background(), varlinkName+".Blob", nil, &out)
	return len(out.Text), err
}

func (c varlinkClient) List(n int) (int, string, error) {
	var out varlinkRows
	if err := c.Call(context.Background(), varlinkName+".List", &varlinkAsk{int64(n)}, &out); err != nil || len(out.Rows) == 0 {
		return 0, "", err
	}
	return len(out.Rows), out.Rows[len(out.Rows)-1].Text, nil
}
