//go:build !alone || ttrpc

package main

import (
	"context"
	"net"

	"github.com/containerd/ttrpc"
)

func init() {
	register(contender{
		name: "ttrpc", title: "containerd/ttrpc", tag: "ttrpc", module: "github.com/containerd/ttrpc",
		peer: true, shared: true, serve: ttrpcServe, dial: ttrpcDial,
	})
}

const ttrpcService = "bench.Bench"

// ttrpcMethod is what protoc-gen-go-ttrpc writes for a method.
func ttrpcMethod[In, Out any](call func(context.Context, *In) (*Out, error)) ttrpc.Method {
	return func(ctx context.Context, unmarshal func(any) error) (any, error) {
		in := new(In)
		if err := unmarshal(in); err != nil {
			return nil, err
		}
		return call(ctx, in)
	}
}

func ttrpcServe(measure, path string, ready func()) error {
	s, err := ttrpc.NewServer()
	if err != nil {
		return err
	}
	b := newProtoBench(measure)
	s.RegisterService(ttrpcService, &ttrpc.ServiceDesc{Methods: map[string]ttrpc.Method{
		"Echo": ttrpcMethod(b.Echo), "Blob": ttrpcMethod(b.Blob), "List": ttrpcMethod(b.List),
	}})
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	ready()
	return s.Serve(context.Background(), l)
}

func ttrpcDial(_, path string) (client, error) {
	conn, err := net.Dial("unix", path)
	if err != nil {
		return nil, err
	}
	c := ttrpc.NewClient(conn)
	return protoClient{
		call: func(method string, in, out any) error {
			return c.Call(context.Background(), ttrpcService, method, in, out)
		},
		close: c.Close,
	}, nil
}
