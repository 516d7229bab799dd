package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// limitMemory is what the heap may grow to before it is collected, unless the
// user has said. It returns what it might have grown to before.
func limitMemory(getenv func(string) string, limit int64) (before int64) {
	if getenv("GOMEMLIMIT") != "" {
		limit = -1 // changes nothing
	}
	return debug.SetMemoryLimit(limit)
}

// giveRoom raises the limit where what is in use comes near it: the collector
// would run half of the time and find nothing. It looks after each collection.
func giveRoom(limit int64) {
	type mark struct{ _ *int }
	var look func(int64)
	look = func(limit int64) {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		if live := int64(sample[0].Value.Uint64()); live > limit/2 {
			debug.SetMemoryLimit(max(debug.SetMemoryLimit(-1), live+live/2))
		}
		runtime.AddCleanup(new(mark), look, limit)
	}
	runtime.AddCleanup(new(mark), look, limit)
}
