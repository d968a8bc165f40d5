package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
)

// Callers who share a client, with texts of all sizes, errors, and calls that are given up at any moment: each response goes to its
// own call, and a call that is given up harms no other (RPC-3).
func TestManyAtOnce(t *testing.T) {
	const callers, calls = 8, 400
	d := newDaemon(t)
	c := d.client(t, clientConfig)
	var all sync.WaitGroup
	for who := range callers {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(who), 2))
			for i := range calls {
				size := r.IntN(200)
				if r.IntN(40) == 0 {
					size = r.IntN(300 << 10)
				}
				if err := anyCall(c, r, fmt.Sprint(who, i, strings.Repeat("x", size))); err != nil {
					t.Errorf("call %d of caller %d: %v", i, who, err)
					return
				}
			}
		})
	}
	all.Wait()
}

// anyCall makes one call of some kind, and says what is wrong with what came of it.
func anyCall(c transport.Caller, r *rand.Rand, text string) error {
	ctx := context.Background()
	switch r.IntN(5) {
	case 0:
		_, err := transport.Call[string](ctx, c, "agent.fail", map[string]string{"code": "agent_exists", "text": text[:min(len(text), 100)]})
		if e, is := err.(*shape.Error); !is || e.Code != "agent_exists" || !e.Said || e.Text != text[:min(len(text), 100)] {
			return fmt.Errorf("it is told %v", err)
		}
		return nil
	case 1:
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(r.IntN(300))*time.Microsecond)
		defer cancel()
	}
	rows, err := transport.Call[string](ctx, c, "agent.back", map[string]string{"v": text})
	switch {
	case ctx.Err() != nil && errors.Is(err, context.DeadlineExceeded):
		return nil
	case err != nil:
		return err
	case len(rows) != 1 || rows[0] != text:
		return fmt.Errorf("another text came back: %.40q", rows)
	}
	return nil
}
