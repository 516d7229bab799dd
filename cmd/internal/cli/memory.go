package cli

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// setMemoryLimit sets the memory limit of the Go runtime, unless the user has
// set GOMEMLIMIT. It returns the previous limit.
func setMemoryLimit(getenv func(string) string, limit int64) (before int64) {
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
