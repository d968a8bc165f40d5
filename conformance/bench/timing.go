package main

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const micro = float64(time.Microsecond)

// timed calls op one after another for a slice, after a quarter of one that warms up, and returns the mean and the median of one
// in microseconds. The mean is what counts: it has the collector's part in it.
func timed(d time.Duration, op func() error) (mean, median float64, err error) {
	for start := time.Now(); ; {
		if err := op(); err != nil {
			return 0, 0, err
		}
		if time.Since(start) > d/4 {
			break
		}
	}
	took := make([]time.Duration, 0, 1<<16)
	start := time.Now()
	last, n := start, 0
	for {
		if err := op(); err != nil {
			return 0, 0, err
		}
		now := time.Now()
		if len(took) < cap(took) {
			took = append(took, now.Sub(last))
		}
		last = now
		n++
		if now.Sub(start) >= d {
			break
		}
	}
	slices.Sort(took)
	return float64(last.Sub(start)) / float64(n) / micro, float64(took[len(took)/2]) / micro, nil
}

// together calls from n goroutines at once for a slice, and returns the microseconds of the whole per call.
func together(n int, d time.Duration, op func(i int) error) (float64, error) {
	var (
		calls   atomic.Int64
		count   atomic.Bool // the slice has begun
		stop    atomic.Bool
		wait    sync.WaitGroup
		failure = make(chan error, n)
	)
	for i := range n {
		wait.Go(func() {
			mine := int64(0)
			for !stop.Load() {
				if err := op(i); err != nil {
					failure <- err
					return
				}
				if count.Load() {
					mine++
				}
			}
			calls.Add(mine)
		})
	}
	time.Sleep(d / 4)
	start := time.Now()
	count.Store(true)
	time.Sleep(d)
	took := time.Since(start)
	stop.Store(true)
	wait.Wait()
	select {
	case err := <-failure:
		return 0, err
	default:
		return float64(took) / float64(max(calls.Load(), 1)) / micro, nil
	}
}

func perSecond(values []float64) float64 { return 1e6 / values[0] }
