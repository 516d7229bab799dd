package main

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// patience is how long clearing up may take before a signal cuts it short.
const patience = 2 * time.Second

// interrupts are the signals that end the program: the first one asks politely.
// Wrappers often send it twice, so only one that comes after a while ends the
// process as it stands. What a terminal interrupts while a pager runs is the
// pager, which has a use for that.
type interrupts struct{ paging atomic.Bool }

type interruptsKey struct{}

// listen returns a context that ends with the first signal.
func listen() context.Context {
	in := &interrupts{}
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), interruptsKey{}, in))
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		for s := range signals {
			if s == os.Interrupt && in.paging.Load() {
				continue
			}
			cancel()
			time.AfterFunc(patience, func() { signal.Stop(signals) })
			return
		}
	}()
	return ctx
}

// leaveToPager lets a pager have what the terminal interrupts, or no more.
func leaveToPager(ctx context.Context, leave bool) {
	if in, ok := ctx.Value(interruptsKey{}).(*interrupts); ok {
		in.paging.Store(leave)
	}
}
