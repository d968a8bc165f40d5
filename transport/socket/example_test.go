package socket_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/socket"
)

// A program listens, somebody calls, and the program stops in order.
func ExampleListener() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	os.Setenv("XDG_RUNTIME_DIR", dir)
	path, err := socket.Path("greeter", "")
	if err != nil {
		panic(err)
	}

	greet := func(ctx context.Context, call shape.Call) (shape.Rows, error) {
		cred, _ := transport.PeerFrom(ctx).Cred()
		return shape.RowsOf(fmt.Sprintf("hello, and you are me: %v", cred.PID == os.Getpid())), nil
	}
	l, err := socket.Listen(path, socket.Options{
		Config:  transport.Config{Handler: transport.HandlerFunc(greet)},
		MakeDir: true,
	})
	if err != nil {
		panic(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- l.Serve(ctx) }()

	peer, err := socket.Dial(ctx, path, transport.Config{})
	if err != nil {
		panic(err)
	}
	defer peer.Close()
	fmt.Println(transport.Call[string](ctx, peer, "greet"))

	stop()
	fmt.Println("served:", <-served)
	_, err = os.Stat(path)
	fmt.Println("the file is gone:", errors.Is(err, os.ErrNotExist))
	// Output:
	// [hello, and you are me: true] <nil>
	// served: <nil>
	// the file is gone: true
}

// Options say who is served, and how many at a time.
func ExampleOptions() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	l, err := socket.Listen(filepath.Join(dir, "main.sock"), socket.Options{
		Allow: func(c transport.Cred) bool { return c.UID == os.Getuid() || c.UID == 0 }, // root too
		Max:   1,
	})
	if err != nil {
		panic(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- l.Serve(ctx) }()

	for range 2 {
		peer, err := socket.Dial(ctx, l.Path(), transport.Config{Name: "demo"})
		if err != nil {
			panic(err)
		}
		defer peer.Close()
		_, err = peer.Call(ctx, shape.Call{Verb: "list"}) // there is no handler
		fmt.Println(err)
	}
	stop()
	<-served
	// Output:
	// demo: list: no such call: list
	// demo: list: 1 connections are open and the limit is 1: try again later
}
