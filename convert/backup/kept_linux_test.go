package backup

import (
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// TestKeptPipes: a pipe in the place of a file or a database blocks nobody, and is named.
// A name that is not UTF-8 has no place in an index.
func TestKeptPipes(t *testing.T) {
	w := keptWorld(t)
	root := w.place("copilot", keptStores()["copilot"])
	for _, name := range []string{"session-state/a/pipe.jsonl", "session-state/pipe", "history-session-state/x.json"} {
		if err := syscall.Mkfifo(filepath.Join(root, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.write(".copilot/session-state/p/session.db-wal", "x")
	if err := syscall.Mkfifo(filepath.Join(root, "session-state/p/session.db"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.write(".copilot/session-state/a/\xff.md", "x")
	rep := w.run()
	var left []string
	for _, s := range rep.Stores {
		if left = append(left, s.LeftOut...); s.Status != Added {
			t.Errorf("%+v", s)
		}
	}
	for _, want := range []string{
		"session-state/a/pipe.jsonl (not a regular file)", "history-session-state/x.json (not a regular file)", "session-state/p/session.db (not a regular file)",
		"session-state/a/\uFFFD.md (its name is not UTF-8)",
	} {
		if !slices.Contains(left, want) {
			t.Errorf("%q is not in %q", want, left)
		}
	}
}
