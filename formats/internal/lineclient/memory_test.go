package lineclient_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rehome/formats"
	"rehome/formats/pi"
	"rehome/formats/session"
	"rehome/golden"
)

// TestMemory: a session of a million lines and 750 MB is read in 64 MB, and 100 bytes for each
// line. In a short run an eighth of it is.
func TestMemory(t *testing.T) {
	n := 1_000_000 / golden.Every()
	path := filepath.Join(t.TempDir(), "2026-01-01T00-00-00-000Z_large.jsonl")
	writeLarge(t, path, n)
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	most, stop := watch(before.HeapInuse)
	messages := 0
	for s, err := range pi.Format().Sessions.Decode(t.Context(), l, formats.View{}, session.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range s.Messages {
			if err != nil {
				t.Fatal(err)
			}
			messages++
		}
	}
	stop()
	if messages != n {
		t.Errorf("%d messages, want %d", messages, n)
	}
	if limit := uint64(64<<20 + 100*n); most.Load() > limit {
		t.Errorf("%d lines took %d MB, and %d MB are allowed", n, most.Load()>>20, limit>>20)
	}
	t.Logf("%d lines: %d MB", n, most.Load()>>20)
}

// writeLarge writes a session of n lines after its head, a prompt and its answers in turn.
func writeLarge(t *testing.T, path string, n int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	fmt.Fprintln(w, `{"type":"session","version":3,"id":"large","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`)
	words := strings.Repeat("so many words ", 36)
	parent := "null"
	for i := range n {
		message := `"role":"user","content":"` + words + `"`
		if i%8 > 0 {
			message = `"role":"assistant","content":[{"type":"text","text":"` + words + `"}],"usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2},"stopReason":"stop","model":"m"`
		}
		fmt.Fprintf(w, `{"type":"message","id":"%08x","parentId":%s,"timestamp":"2026-01-01T00:00:00.000Z","message":{%s,"timestamp":1767225600000}}`+"\n", i+1, parent, message)
		parent = fmt.Sprintf(`"%08x"`, i+1)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// watch looks at the heap from time to time, until stop is called. Garbage is collected before
// each look: only what is held counts.
func watch(before uint64) (most *atomic.Uint64, stop func()) {
	most = &atomic.Uint64{}
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-over:
				return
			case <-time.After(200 * time.Millisecond):
			}
			var now runtime.MemStats
			runtime.GC()
			if runtime.ReadMemStats(&now); now.HeapAlloc > before && now.HeapAlloc-before > most.Load() {
				most.Store(now.HeapAlloc - before)
			}
		}
	}()
	return most, func() { close(over); <-done }
}
