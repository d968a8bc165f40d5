//go:build !alone || grpc

package main

import (
	"context"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

func init() {
	register(contender{
		name: "grpc", title: "grpc-go", tag: "grpc", module: "google.golang.org/grpc",
		peer: true, shared: true, serve: grpcServe, dial: grpcDial,
	})
}

const grpcService = "bench.Bench"

// grpcMethod is what protoc-gen-go-grpc writes for a method of one request and one reply.
func grpcMethod[In, Out any](name string, call func(*protoBench, context.Context, *In) (*Out, error)) grpc.MethodDesc {
	return grpc.MethodDesc{MethodName: name,
		Handler: func(srv any, ctx context.Context, decode func(any) error, intercept grpc.UnaryServerInterceptor) (any, error) {
			in := new(In)
			if err := decode(in); err != nil {
				return nil, err
			}
			if intercept == nil {
				return call(srv.(*protoBench), ctx, in)
			}
			info := &grpc.UnaryServerInfo{Server: srv, FullMethod: "/" + grpcService + "/" + name}
			return intercept(ctx, in, info, func(ctx context.Context, in any) (any, error) { return call(srv.(*protoBench), ctx, in.(*In)) })
		}}
}

func grpcServe(measure, path string, ready func()) error {
	s := grpc.NewServer()
	s.RegisterService(&grpc.ServiceDesc{ServiceName: grpcService, HandlerType: (*any)(nil), Methods: []grpc.MethodDesc{
		grpcMethod("Echo", (*protoBench).Echo), grpcMethod("Blob", (*protoBench).Blob), grpcMethod("List", (*protoBench).List),
	}}, newProtoBench(measure))
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	ready()
	return s.Serve(l)
}

func grpcDial(_, path string) (client, error) {
	c, err := grpc.NewClient("unix:"+path, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	return protoClient{
		call: func(method string, in, out any) error {
			return c.Invoke(context.Background(), "/"+grpcService+"/"+method, in, out)
		},
		close: c.Close,
	}, nil
}
