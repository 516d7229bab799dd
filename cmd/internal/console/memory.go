package console

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// SetMemoryLimit sets the memory limit of the Go runtime, unless the user has
// set GOMEMLIMIT. It returns the previous limit.
func SetMemoryLimit(getenv func(string) string, limit int64) (before int64) {
	if getenv("GOMEMLIMIT") != "" {
		limit = -1 // changes nothing
	}
	return debug.SetMemoryLimit(limit)
}

// growMemoryLimit raises the memory limit when the live heap gets close to it;
// otherwise the collector would run half of the time and free nothing. It
// checks after each collection.
func growMemoryLimit() {
	type sentinel struct{ _ *int }
	var adjust func(struct{})
	adjust = func(struct{}) {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		live, limit := int64(sample[0].Value.Uint64()), debug.SetMemoryLimit(-1)
		if live > limit/2 {
			debug.SetMemoryLimit(max(limit, 2*live))
		}
		runtime.AddCleanup(new(sentinel), adjust, struct{}{})
	}
	runtime.AddCleanup(new(sentinel), adjust, struct{}{})
}

// Setup prepares the process for commands, and returns its context, which ends when the
// user interrupts.
func Setup() context.Context {
	// Batches and buffers are reused, so the heap is small, and collecting it
	// each time it doubles would dominate the work on many small stores. Let it
	// grow to memoryLimit instead. Limits that the user has set take precedence.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
		growMemoryLimit()
	}
	return signalContext()
}

// memoryLimit is a heap size that is acceptable on any machine.
const memoryLimit = 68 << 20
