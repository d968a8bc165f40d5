//go:build !alone || netrpc

package main

import (
	"io"
	"net"
	"net/rpc"
	"net/rpc/jsonrpc"
)

func init() {
	register(contender{
		name: "net-rpc", title: "net/rpc, gob", tag: "netrpc", peer: true, shared: true,
		serve: func(measure, path string, ready func()) error {
			return rpcServe(measure, path, ready, func(s *rpc.Server, c net.Conn) { s.ServeConn(c) })
		},
		dial: func(_, path string) (client, error) {
			return rpcDial(path, func(c net.Conn) *rpc.Client { return rpc.NewClient(io.ReadWriteCloser(c)) })
		},
	})
	register(contender{
		name: "jsonrpc", title: "net/rpc, jsonrpc", tag: "netrpc", peer: true, shared: true,
		serve: func(measure, path string, ready func()) error {
			return rpcServe(measure, path, ready, func(s *rpc.Server, c net.Conn) { s.ServeCodec(jsonrpc.NewServerCodec(c)) })
		},
		dial: func(_, path string) (client, error) {
			return rpcDial(path, func(c net.Conn) *rpc.Client { return jsonrpc.NewClient(c) })
		},
	})
}
