package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// What this program is as a process of a slice; its first argument.
const (
	roleServe = "serve" // CONTENDER MEASURE PATH
	roleCall  = "call"  // CONTENDER MEASURE PATH DURATION
)

func play(role string, args []string) error {
	if role == roleServe && len(args) == 3 {
		return playServer(args[0], args[1], args[2])
	}
	if role == roleCall && len(args) == 4 {
		return playClient(args[0], args[1], args[2], args[3])
	}
	return fmt.Errorf("%s with %q is no role of a slice", role, args)
}

// playServer serves until the parent, which holds the input, has gone; one that talks on its input ends with that itself.
func playServer(name, measure, path string) error {
	c, err := find(name)
	if err != nil {
		return err
	}
	if err := answerControl(); err != nil {
		return err
	}
	if path == "" {
		return c.serve(measure, path, func() {})
	}
	endWithInput()
	return c.serve(measure, path, func() { fmt.Println("ready") })
}

// endWithInput ends this process when its input has ended, which whoever started it holds.
func endWithInput() {
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
}

// playClient measures, and writes the values as a JSON list.
func playClient(name, measure, path, duration string) error {
	c, err := find(name)
	if err != nil {
		return err
	}
	m, err := findMeasure(measure)
	if err != nil {
		return err
	}
	d, err := time.ParseDuration(duration)
	if err != nil {
		return err
	}
	values, err := m.run(slice{contender: c, measure: measure, path: path, control: os.Getenv(controlVar), time: d})
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(values)
}

// command is a server of this program as a child of the client, on its stdin and stdout.
func command(name, measure string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return exec.Command(self, roleServe, name, measure, ""), nil
}
