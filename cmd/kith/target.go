package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/argv"
	"github.com/kith-wire/kith/transport/pipe"
	"github.com/kith-wire/kith/transport/socket"
)

// target is whom to call and by which door.
type target struct {
	door transport.Door
	at   string // a program for the cli and the pipe, a path for the socket
}

// targetOf reads a TARGET. A bare one is a socket where it names a socket file, and a program everywhere else.
func targetOf(word string) (target, error) {
	to := target{transport.CLI, word}
	switch kind, at, named := strings.Cut(word, ":"); {
	case named && kind == "argv":
		to = target{transport.CLI, at}
	case named && kind == "pipe":
		to = target{transport.Pipe, at}
	case named && kind == "unix":
		to = target{transport.Socket, at}
	default:
		if info, err := os.Stat(word); err == nil && info.Mode().Type() == os.ModeSocket {
			to.door = transport.Socket
		}
	}
	if to.at == "" {
		return to, fmt.Errorf("the target %q names nobody; it is argv:PROG, pipe:PROG or unix:PATH", word)
	}
	return to, nil
}

// way is an open way to call a target.
type way struct {
	transport.Caller
	peer  *transport.Peer // nil at the cli
	close func()
}

// open opens the way. At the cli nothing is run before the call, so nothing can fail yet.
func (to target) open(ctx context.Context, cfg transport.Config) (*way, error) {
	cfg.Limits.KeepReplies = true
	switch to.door {
	case transport.Socket:
		peer, err := socket.Dial(ctx, to.at, cfg)
		if err != nil {
			return nil, err
		}
		return &way{peer, peer, func() { peer.Close() }}, nil
	case transport.Pipe:
		child, err := pipe.Start(ctx, pipe.Command{Config: cfg, Path: to.at})
		if err != nil {
			return nil, err
		}
		return &way{child, child.Peer, func() { child.Close() }}, nil
	}
	program := argv.Program{Path: to.at, Encoding: cfg.Encoding, Limits: cfg.Limits, Timeout: cfg.Timeout}
	return &way{program, nil, func() {}}, nil
}
