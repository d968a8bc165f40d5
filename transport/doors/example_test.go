package doors_test

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport/internal/reexec"
)

// greeter is a whole program; its main is doors.Main(greeter{}). A verbs.Set is one with less to write.
type greeter struct{}

func (greeter) Name() string                       { return "greeter" }
func (greeter) Event(context.Context, shape.Event) {}

func (greeter) Call(_ context.Context, call shape.Call) (shape.Rows, error) {
	if call.Verb != "greet" {
		return shape.Rows{}, shape.Refused.Errorf("no such call: %s", shape.Quote(call.Verb))
	}
	var name string
	if err := call.Args.At(0).Decode(&name); err != nil {
		return shape.Rows{}, shape.Refused.Errorf("greet: name%w", err)
	}
	return shape.RowsOf("hello, " + name), nil
}

// The same program at its command line and on a pipe.
func ExampleProgram() {
	for _, c := range []struct{ line, stdin string }{
		{"greet Ada", ""},
		{"pipe", `{"call":"greet","args":["Ada"]}` + "\n" + `{"call":"shout"}` + "\n"},
	} {
		cmd := exec.Command(reexec.Self(), strings.Fields(c.line)...) // the test is the program
		cmd.Env, cmd.Stdin = reexec.Env("greeter"), strings.NewReader(c.stdin)
		out, err := cmd.Output()
		fmt.Printf("$ greeter %s\n%s%v\n", c.line, out, err)
	}
	// Output:
	// $ greeter greet Ada
	// {"ok":true,"family":1,"n":1,"result":["hello, Ada"]}
	// <nil>
	// $ greeter pipe
	// {"ok":true,"family":1,"n":1,"result":["hello, Ada"]}
	// {"ok":false,"family":1,"n":0,"result":[],"error":"no such call: shout","fault":"refused"}
	// <nil>
}
