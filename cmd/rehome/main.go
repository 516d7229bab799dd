// Command rehome moves coding-agent sessions between the stores they live in.
//
// The grammar is in cli.go. One file per command declares it and connects it to package convert,
// and every result can be printed as text (render_text.go) or as JSON
// (render_json.go). The table in exit.go maps errors to exit codes.
package main

import (
	"os"
	"runtime/debug"
)

// memoryLimit is a heap size that is acceptable on any machine.
const memoryLimit = 68 << 20

func main() {
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
	os.Exit(run(signalContext(), os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
}
