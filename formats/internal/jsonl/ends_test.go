package jsonl

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestEndsOfASize: what a client appended after the size was asked for is not read: else the
// last line would look whole, and be cut where the file is read up to its size.
func TestEndsOfASize(t *testing.T) {
	for _, size := range []int64{0, 1, 100, MaxEnd - 1, MaxEnd, MaxEnd + 1, 3 * MaxEnd} {
		text := bytes.Repeat([]byte("x"), int(size))
		path := filepath.Join(t.TempDir(), "a.jsonl")
		if err := os.WriteFile(path, append(text, "\nlater\n"...), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		e, err := new(Store).ends(f, size)
		f.Close()
		if want := text[:min(size, MaxEnd)]; err != nil || e.Size != size || !bytes.Equal(e.Head, want) || !bytes.Equal(e.Tail, want) {
			t.Errorf("%d bytes: %d, %d and %d, %v", size, e.Size, len(e.Head), len(e.Tail), err)
		}
	}
}
