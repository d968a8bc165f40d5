//go:build !alone || kithrpc

package main

import (
	"context"

	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/rpc"
	"github.com/kith-wire/kith/transport/socket"
)

func init() {
	register(contender{
		name: "kith-rpc", title: "kith, daemon wire", tag: "kithrpc", module: kithModule, shared: true,
		serve: kithRPCServe, dial: kithRPCDial,
	})
}

func kithRPCServe(measure, path string, ready func()) error {
	return kithListen(path, socket.Options{
		Config: transport.Config{Limits: kithLimits(measure)},
		Wire:   rpc.Options{Namespaces: map[string]transport.Handler{"bench": kithSet(measure)}},
	}, ready)
}

type kithRPCClient struct{ *rpc.Client }

func kithRPCDial(measure, path string) (client, error) {
	c, err := rpc.Dial(context.Background(), path, transport.Config{Limits: kithLimits(measure)})
	if err != nil {
		return nil, err
	}
	return kithRPCClient{c}, nil
}

func (c kithRPCClient) Echo(text string) (string, error) {
	s, err := kithOne[Said](c.Client, "bench.echo", Said{text})
	return s.Text, err
}

func (c kithRPCClient) Blob() (int, error) {
	text, err := kithOne[string](c.Client, "bench.blob")
	return len(text), err
}

func (c kithRPCClient) List(n int) (int, string, error) {
	rows, err := transport.Call[Row](context.Background(), c.Client, "bench.list", kithListArgs{n})
	if err != nil || len(rows) == 0 {
		return 0, "", err
	}
	return len(rows), rows[len(rows)-1].Text, nil
}
