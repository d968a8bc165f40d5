package argv_test

import (
	"context"
	"fmt"
	"os"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/argv"
	"github.com/kith-wire/kith/transport/internal/reexec"
)

func greet(_ context.Context, call shape.Call) (shape.Rows, error) {
	if call.Verb != "greet" {
		return shape.Rows{}, shape.Refused.Errorf("no such call: %s", shape.Quote(call.Verb))
	}
	var name string
	if err := call.Args.At(0).Decode(&name); err != nil {
		return shape.Rows{}, shape.Refused.Errorf("greet: name%w", err)
	}
	return shape.RowsOf("hello, " + name), nil
}

// A main ends with os.Exit(argv.Run(…)). Here the command line is given, and stdout is whatever the example's is.
func ExampleOptions() {
	for _, args := range [][]string{{"greet", "Ada"}, {"shout"}} {
		status := argv.Run(context.Background(), transport.HandlerFunc(greet), argv.Options{Args: args, Stdout: os.Stdout})
		fmt.Println("exit", status)
	}
	// Output:
	// {"ok":true,"family":1,"n":1,"result":["hello, Ada"]}
	// exit 0
	// {"ok":false,"family":1,"n":0,"result":[],"error":"no such call: shout","fault":"refused"}
	// exit 0
}

// A program that is run for each call; here it is the test itself.
func ExampleProgram() {
	greeter := argv.Program{Path: reexec.Self(), Env: reexec.Env("greeter"), Name: "greeter"}
	fmt.Println(transport.Call[string](context.Background(), greeter, "greet", "Ada"))
	_, err := greeter.Call(context.Background(), shape.Call{Verb: "shout"})
	fmt.Println(err)
	// Output:
	// [hello, Ada] <nil>
	// greeter: shout: no such call: shout
}
