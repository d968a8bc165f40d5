package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"runtime"
	"runtime/debug"
)

// controlVar names the socket at which a server tells about its own process. A client asks there between its calls, so that no
// contender's connection has to carry it.
const controlVar = "KITH_BENCH_CONTROL"

// restings are collections at rest: each halves the stacks that have more than they need.
const restings = 5

type status struct {
	pid            int
	mallocs, bytes uint64
}

// answerControl tells whoever connects to the control socket, for the rest of the process's life.
func answerControl() error {
	path := os.Getenv(controlVar)
	if path == "" {
		return nil
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			tell(c)
			c.Close()
		}
	}()
	return nil
}

func tell(c net.Conn) {
	what, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		return
	}
	if what == "rest\n" {
		for range restings {
			debug.FreeOSMemory()
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Fprintln(c, os.Getpid(), m.Mallocs, m.TotalAlloc)
}

func ask(control, what string) (st status, err error) {
	c, err := net.Dial("unix", control)
	if err != nil {
		return st, err
	}
	defer c.Close()
	if _, err = fmt.Fprintln(c, what); err == nil {
		_, err = fmt.Fscan(c, &st.pid, &st.mallocs, &st.bytes)
	}
	return st, err
}
