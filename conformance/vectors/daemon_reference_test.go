package vectors_test

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"sync"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/rpc"
	"github.com/kith-wire/kith/verbs"
)

// gate is what a request waits at.
type gate struct {
	running, release chan struct{}
	gone             chan error // why its context ended
}

// gates are made as their names come up.
type gates struct {
	mu  sync.Mutex
	all map[string]gate
}

func (g *gates) of(name string) gate {
	g.mu.Lock()
	defer g.mu.Unlock()
	one, is := g.all[name]
	if !is {
		one = gate{make(chan struct{}, 1), make(chan struct{}, 1), make(chan error, 1)}
		if g.all == nil {
			g.all = map[string]gate{}
		}
		g.all[name] = one
	}
	return one
}

// namespaces are what README.md describes: what a daemon under test has to answer.
func (d *daemonStage) namespaces() map[string]transport.Handler {
	return map[string]transport.Handler{"agent": d.agent(), "channel": transport.HandlerFunc(channel)}
}

func (d *daemonStage) agent() *verbs.Set {
	type none struct{}
	type count struct{ N int }
	set := verbs.New("agent", 1)
	verbs.Add(set, "none", "no rows", func(context.Context, none) ([]int, error) { return nil, nil })
	verbs.Add(set, "add", "the sum", func(_ context.Context, a struct {
		A, B int
		Note *string
	}) ([]int, error) {
		return []int{a.A + a.B}, nil
	})
	verbs.Add(set, "rows", "n rows", func(_ context.Context, a count) ([]int, error) { return make([]int, a.N), nil })
	verbs.Add(set, "list-all", "a listing of n", func(_ context.Context, a count) ([]int, error) {
		return make([]int, a.N), nil
	}, verbs.Listing())
	verbs.Add(set, "back", "the value v", func(_ context.Context, a struct{ V shape.Raw }) ([]shape.Raw, error) {
		return []shape.Raw{a.V}, nil
	})
	verbs.Add(set, "fail", "an error with a code", func(_ context.Context, a struct{ Code string }) ([]int, error) {
		return nil, rpc.Code(a.Code).Errorf("as asked")
	})
	verbs.Add(set, "fault", "an error with a fault", func(_ context.Context, a struct{ Fault string }) ([]int, error) {
		if a.Fault == "" {
			return nil, errors.New("as asked")
		}
		return nil, shape.Fault(a.Fault).Errorf("as asked")
	})
	verbs.Add(set, "crash", "a panic", func(context.Context, none) ([]int, error) { panic("as asked") })
	verbs.Add(set, "size", "n times x", func(_ context.Context, a count) ([]string, error) {
		return []string{strings.Repeat("x", a.N)}, nil
	})
	verbs.Add(set, "broken", "what cannot be written", func(context.Context, none) ([]map[string]float64, error) {
		return []map[string]float64{{"bad": math.NaN()}}, nil
	})
	verbs.Add(set, "wait", "waits to be released", func(ctx context.Context, a struct{ Name string }) ([]string, error) {
		g := d.gates.of(a.Name)
		g.running <- struct{}{}
		select {
		case <-g.release:
			return []string{"released"}, nil
		case <-ctx.Done():
			g.gone <- context.Cause(ctx)
			return nil, ctx.Err()
		}
	})
	return set
}

// channel declares no arguments.
func channel(ctx context.Context, call shape.Call) (shape.Rows, error) {
	switch call.Verb {
	case "params":
		if call.Args.Len() == 0 {
			return shape.Rows{}, nil
		}
		return shape.RowsOf(call.Args.At(0)), nil
	case "stay":
		return shape.RowsOf("mine"), nil
	case "drive":
		conn, err := rpc.Upgrade(ctx, shape.RowsOf("yours"))
		if err != nil {
			return shape.Rows{}, err
		}
		defer context.AfterFunc(ctx, func() { // the daemon stops, or the connection has gone
			io.WriteString(conn, "bye")
			conn.Close()
		})()
		echo(conn)
		return shape.Rows{}, nil
	}
	return shape.Rows{}, rpc.UnknownMethod.Errorf("no such call: %s", shape.Quote(call.Verb))
}
