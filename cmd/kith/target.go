package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/argv"
	"github.com/kith-wire/kith/transport/pipe"
	"github.com/kith-wire/kith/transport/rpc"
	"github.com/kith-wire/kith/transport/socket"
)

// target is whom to call and by which door.
type target struct {
	door   transport.Door
	daemon bool   // the socket speaks the daemon wire
	at     string // a program for the cli and the pipe, a path for the socket
}

// targetOf reads a TARGET. A bare one is a socket where it names a socket file, and a program everywhere else.
func targetOf(word string) (target, error) {
	to := target{door: transport.CLI, at: word}
	switch kind, at, named := strings.Cut(word, ":"); {
	case named && kind == "argv":
		to.at = at
	case named && kind == "pipe":
		to = target{door: transport.Pipe, at: at}
	case named && kind == "unix":
		to = target{door: transport.Socket, at: at}
	case named && kind == "daemon":
		to = target{door: transport.Socket, at: at, daemon: true}
	default:
		if info, err := os.Stat(word); err == nil && info.Mode().Type() == os.ModeSocket {
			to.door = transport.Socket
		}
	}
	if to.at == "" {
		return to, fmt.Errorf("the target %q names nobody; it is argv:PROG, pipe:PROG, unix:PATH or daemon:PATH", word)
	}
	return to, nil
}

// way is an open way to call a target.
type way struct {
	transport.Caller
	peer  *transport.Peer // nil at the cli and on the daemon wire
	close func()
}

// open opens the way. At the cli nothing is run before the call, so nothing can fail yet.
func (to target) open(ctx context.Context, cfg transport.Config) (*way, error) {
	cfg.Limits.KeepReplies = true
	switch {
	case to.daemon:
		client, err := rpc.Dial(ctx, to.at, cfg)
		if err != nil {
			return nil, err
		}
		return &way{client, nil, func() { client.Close() }}, nil
	case to.door == transport.Socket:
		peer, err := socket.Dial(ctx, to.at, cfg)
		if err != nil {
			return nil, err
		}
		return &way{peer, peer, func() { peer.Close() }}, nil
	case to.door == transport.Pipe:
		child, err := pipe.Start(ctx, pipe.Command{Config: cfg, Path: to.at})
		if err != nil {
			return nil, err
		}
		return &way{child, child.Peer, func() { child.Close() }}, nil
	}
	program := argv.Program{Path: to.at, Encoding: cfg.Encoding, Limits: cfg.Limits, Timeout: cfg.Timeout}
	return &way{program, nil, func() {}}, nil
}
