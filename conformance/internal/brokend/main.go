// Command brokend is a daemon on the daemon wire, written with nothing but the standard library and the reader beside it. It has
// one method, echo.back, whose result are its params.
//
//	brokend PATH [WAY]
//
// It says "listening" on stdout once it can be called. Without a WAY it is right; with one it is wrong in that way: every
// `if wrong(…)` is such a way, and a reader who wants the right daemon leaves them out. They are what the checker is checked
// with.
//
// Of what a whole daemon does it leaves out the lock, the mode and the directory of its socket, the connection limit, and
// more than one request of a connection at a time.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// fault is the way in which this run is wrong.
var fault string

func wrong(way string) bool { return fault == way }

func main() {
	if len(os.Args) < 2 || len(os.Args) > 3 {
		fmt.Fprintln(os.Stderr, "usage: brokend PATH [WAY]")
		os.Exit(2)
	}
	if len(os.Args) == 3 {
		fault = os.Args[2]
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "brokend: %v\n", err)
		os.Exit(1)
	}
}

// run serves the socket until SIGTERM or SIGINT; what has been read by then is answered.
func run(path string) error {
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, func() { l.Close() })
	fmt.Println("listening")
	var sessions sync.WaitGroup
	for {
		conn, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			sessions.Wait()
			return nil
		case err != nil:
			time.Sleep(50 * time.Millisecond) // out of descriptors, or the like: it passes
			continue
		}
		s := newSession(conn.(*net.UnixConn))
		done := context.AfterFunc(ctx, func() { s.conn.CloseRead() })
		serve := func() {
			defer done()
			s.serve()
		}
		if wrong("one-at-a-time") {
			serve()
			continue
		}
		sessions.Go(serve)
	}
}
