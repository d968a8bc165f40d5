//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0

// Command doors is a program of kith with all its doors, run for one call.
package main

import (
	"context"

	"github.com/kith-wire/kith/transport/doors"
	"github.com/kith-wire/kith/verbs"
)

type said struct {
	Text string `json:"text"`
}

func main() {
	set := verbs.New("bench", 1)
	verbs.Add(set, "echo", "say it again", func(_ context.Context, s said) ([]said, error) { return []said{s}, nil })
	doors.Main(set)
}
