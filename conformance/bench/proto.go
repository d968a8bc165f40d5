//go:build !alone || grpc || ttrpc

package main

import (
	"context"
	"fmt"

	"github.com/kith-wire/kith/conformance/bench/pb"
)

// protoBench is the service of what speaks protobuf. Its rows are messages from the start, which spares the two that use it the
// conversion.
type protoBench struct {
	text *pb.Said
	rows []*pb.Row
}

func newProtoBench(measure string) *protoBench {
	text, rows := held(measure)
	b := &protoBench{text: &pb.Said{Text: text}}
	for _, r := range rows {
		b.rows = append(b.rows, &pb.Row{Id: r.ID, At: r.At, Text: r.Text})
	}
	return b
}

func (b *protoBench) Echo(_ context.Context, in *pb.Said) (*pb.Said, error) { return in, nil }

func (b *protoBench) Blob(context.Context, *pb.Ask) (*pb.Said, error) { return b.text, nil }

func (b *protoBench) List(_ context.Context, in *pb.Ask) (*pb.Listing, error) {
	if in.N < 0 || in.N > int64(len(b.rows)) {
		return nil, fmt.Errorf("n is %d and there are %d rows", in.N, len(b.rows))
	}
	return &pb.Listing{Rows: b.rows[:in.N]}, nil
}

// protoClient calls a method of protoBench.
type protoClient struct {
	call  func(method string, in, out any) error
	close func() error
}

func (c protoClient) Echo(text string) (string, error) {
	var out pb.Said
	err := c.call("Echo", &pb.Said{Text: text}, &out)
	return out.Text, err
}

func (c protoClient) Blob() (int, error) {
	var out pb.Said
	err := c.call("Blob", &pb.Ask{}, &out)
	return len(out.Text), err
}

func (c protoClient) List(n int) (int, string, error) {
	var out pb.Listing
	if err := c.call("List", &pb.Ask{N: int64(n)}, &out); err != nil || len(out.Rows) == 0 {
		return 0, "", err
	}
	return len(out.Rows), out.Rows[len(out.Rows)-1].Text, nil
}

func (c protoClient) Close() error { return c.close() }
