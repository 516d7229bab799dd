// Command rehome moves coding-agent sessions between the stores they live in.
//
// The grammar is cli.go, one file a command binds it to package convert, and
// every result is rendered twice: as text (render_text.go) and as JSON
// (render_json.go). Which error ends with which code is one table, exit.go.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

func main() {
	// Batches and buffers are used again and again: the heap is small, and
	// collecting it whenever it has doubled would be most of the work on many
	// small stores. It may grow to what people do not mind, and no further.
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(56 << 20)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks politely; after it the next one ends the process.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
}
