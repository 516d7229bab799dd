// Command rehome moves coding-agent sessions between the stores they live in.
//
// The grammar is cli.go, one file a command binds it to package convert, and
// every result is rendered twice: as text (render_text.go) and as JSON
// (render_json.go). Which error ends with which code is one table, exit.go.
package main

import (
	"os"
	"runtime/debug"
)

// heap is what people do not mind.
const heap = 68 << 20

func main() {
	// Batches and buffers are used again and again: the heap is small, and
	// collecting it whenever it has doubled would be most of the work on many
	// small stores. It may grow to what people do not mind, and no further.
	// Who sets the limits of the Go runtime means them.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(heap)
		giveRoom(heap)
	}
	os.Exit(run(listen(), os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
}
