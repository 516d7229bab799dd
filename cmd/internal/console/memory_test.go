package console

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// TestLimitMemory: the user's limit is the user's.
func TestLimitMemory(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	debug.SetMemoryLimit(1 << 40)
	for value, want := range map[string]int64{"100MiB": 1 << 40, "": 5 << 30} {
		if before := SetMemoryLimit(func(string) string { return value }, 5<<30); before != 1<<40 {
			t.Errorf("%q: it was %d", value, before)
		}
		if now := debug.SetMemoryLimit(1 << 40); now != want {
			t.Errorf("%q: %d, want %d", value, now, want)
		}
	}
}

// TestGiveRoom: what is in use and no garbage moves the limit up.
func TestGiveRoom(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(64 << 20))
	used := make([]byte, 96<<20)
	growMemoryLimit()
	for range 1000 {
		runtime.GC()
		if limit := debug.SetMemoryLimit(-1); limit >= int64(len(used))*3/2 {
			runtime.KeepAlive(used)
			return
		}
	}
	t.Errorf("the limit is %d with %d in use", debug.SetMemoryLimit(-1), len(used))
}
