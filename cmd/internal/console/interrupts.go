package console

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// cleanupTimeout is how long cleaning up may take before another signal kills the process.
const cleanupTimeout = 2 * time.Second

// interrupts handles the signals that end the program. The first one cancels
// the context. Wrappers often send a signal twice, so another one kills the
// process only after cleanupTimeout. While a pager runs, keyboard interrupts
// are left to the pager.
type interrupts struct{ paging atomic.Bool }

type interruptsKey struct{}

// signalContext returns a context that is canceled by the first signal.
func signalContext() context.Context {
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
			time.AfterFunc(cleanupTimeout, func() { signal.Stop(signals) })
			return
		}
	}()
	return ctx
}

// IgnoreInterrupts sets whether keyboard interrupts are ignored, because the
// pager handles them.
func IgnoreInterrupts(ctx context.Context, ignore bool) {
	if in, ok := ctx.Value(interruptsKey{}).(*interrupts); ok {
		in.paging.Store(ignore)
	}
}
