//go:build !alone || netrpc || goplugin

package main

import (
	"fmt"
	"net"
	"net/rpc"
)

// rpcBench is the service of everything that stands on net/rpc.
type rpcBench struct {
	text string
	rows []Row
}

func newRPCBench(measure string) *rpcBench {
	text, rows := held(measure)
	return &rpcBench{text, rows}
}

func (b *rpcBench) Echo(in Said, out *Said) error {
	*out = in
	return nil
}

func (b *rpcBench) Blob(_ struct{}, out *Said) error {
	out.Text = b.text
	return nil
}

func (b *rpcBench) List(n int, out *[]Row) error {
	if n < 0 || n > len(b.rows) {
		return fmt.Errorf("n is %d and there are %d rows", n, len(b.rows))
	}
	*out = b.rows[:n]
	return nil
}

type rpcClient struct {
	*rpc.Client
	service string
}

func (c rpcClient) Echo(text string) (string, error) {
	var out Said
	err := c.Call(c.service+".Echo", Said{text}, &out)
	return out.Text, err
}

func (c rpcClient) Blob() (int, error) {
	var out Said
	err := c.Call(c.service+".Blob", struct{}{}, &out)
	return len(out.Text), err
}

func (c rpcClient) List(n int) (int, string, error) {
	var rows []Row
	if err := c.Call(c.service+".List", n, &rows); err != nil || len(rows) == 0 {
		return 0, "", err
	}
	return len(rows), rows[len(rows)-1].Text, nil
}

func (c rpcClient) Burst(n int) error {
	done := make(chan *rpc.Call, n)
	for range n {
		c.Go(c.service+".Echo", Said{echoText}, new(Said), done)
	}
	for range n {
		call := <-done
		if call.Error != nil {
			return call.Error
		}
		if text := call.Reply.(*Said).Text; text != echoText {
			return fmt.Errorf("echo returned %.40q", text)
		}
	}
	return nil
}

// rpcServe accepts and serves each connection in a goroutine.
func rpcServe(measure, path string, ready func(), serve func(*rpc.Server, net.Conn)) error {
	s := rpc.NewServer()
	if err := s.RegisterName("Bench", newRPCBench(measure)); err != nil {
		return err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	ready()
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go serve(s, c)
	}
}

func rpcDial(path string, connect func(net.Conn) *rpc.Client) (client, error) {
	c, err := net.Dial("unix", path)
	if err != nil {
		return nil, err
	}
	return rpcClient{connect(c), "Bench"}, nil
}
