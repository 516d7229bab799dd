//go:build unix

package cursorndjson

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rehome/formats"
)

// TestPipe: a pipe in the place of a file is refused; opening it would wait for
// ever.
func TestPipe(t *testing.T) {
	dir := folder(t, map[string]string{"runs.ndjson": `{"runId":"r","agentId":"a","turnNumber":1}` + "\n"})
	if err := syscall.Mkfifo(filepath.Join(dir, "agents.ndjson"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := formats.Locate(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Format().Records.Open(t.Context(), l, formats.View{})
	if err == nil {
		defer r.Close()
		for _, e := range r.Batches(t.Context()) {
			err = e
		}
	}
	if err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("%v", err)
	}
}
