//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0

// Command alone is a program of kith that has its command line alone, run for one call.
package main

import (
	"context"
	"os"

	"github.com/kith-wire/kith/transport/argv"
	"github.com/kith-wire/kith/verbs"
)

type said struct {
	Text string `json:"text"`
}

func main() {
	set := verbs.New("bench", 1)
	verbs.Add(set, "echo", "say it again", func(_ context.Context, s said) ([]said, error) { return []said{s}, nil })
	os.Exit(argv.Run(context.Background(), set, argv.Options{}))
}
