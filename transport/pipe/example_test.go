package pipe_test

import (
	"context"
	"fmt"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/internal/reexec"
	"github.com/kith-wire/kith/transport/pipe"
)

// greet asks its caller who it is before it answers.
func greet(ctx context.Context, _ shape.Call) (shape.Rows, error) {
	names, err := transport.Call[string](ctx, transport.PeerFrom(ctx), "name")
	if err != nil {
		return shape.Rows{}, err
	}
	return shape.RowsOf("hello, " + names[0]), nil
}

// greeter is the main of the child.
func greeter() int {
	if pipe.Serve(context.Background(), transport.Config{Handler: transport.HandlerFunc(greet)}) != nil {
		return 1
	}
	return 0
}

// A child that calls its parent back. The program is the test itself, in place of one that stands in PATH.
func ExampleChild() {
	name := func(context.Context, shape.Call) (shape.Rows, error) { return shape.RowsOf("Ada"), nil }
	child, err := pipe.Start(context.Background(), pipe.Command{
		Config: transport.Config{Handler: transport.HandlerFunc(name)},
		Path:   reexec.Self(),
		Env:    reexec.Env("greeter"),
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(transport.Call[string](context.Background(), child, "greet"))
	fmt.Println("closed:", child.Close())
	// Output:
	// [hello, Ada] <nil>
	// closed: <nil>
}

// A program that is not there is Unavailable: carry on without it.
func ExampleCommand() {
	_, err := pipe.Start(context.Background(), pipe.Command{Path: "/no/such/program"})
	fmt.Println(err)
	// Output:
	// /no/such/program: it cannot be started: fork/exec /no/such/program: no such file or directory
}
