package main

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
func growMemoryLimit(limit int64) {
	type sentinel struct{ _ *int }
	var adjust func(int64)
	adjust = func(limit int64) {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		if live := int64(sample[0].Value.Uint64()); live > limit/2 {
			debug.SetMemoryLimit(max(debug.SetMemoryLimit(-1), live+live/2))
		}
		runtime.AddCleanup(new(sentinel), adjust, limit)
	}
	runtime.AddCleanup(new(sentinel), adjust, limit)
}
