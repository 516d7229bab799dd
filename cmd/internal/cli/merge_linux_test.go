package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMergeProgress: progress is shown on a terminal while sources are merged, and then
// removed.
func TestMergeProgress(t *testing.T) {
	dir := t.TempDir()
	for _, who := range []string{"a", "b"} {
		text := `{"type":"session","version":1,"id":"s","agent":"cursor-cli"}` + "\n" +
			`{"type":"message","id":"m","role":"user","parts":[{"type":"text","text":"` + who + `"}]}` + "\n"
		at := filepath.Join(dir, who, "cursor-cli", "s.jsonl")
		if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	p := inFront(t, 100, 40, dir, nil, "merge", filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "out"))
	p.ends(0)
	if !strings.Contains(string(p.sent), "\r\x1b[Kreading ") || !strings.Contains(p.text(), "2 sessions merged") || strings.Contains(p.text(), "reading") {
		t.Errorf("got %q", p.sent)
	}
}
