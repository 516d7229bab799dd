package copilot_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rehome/formats"
	"rehome/formats/copilot"
)

// TestStrays: a file of a version before events is found beside events that the client has made of it.
func TestStrays(t *testing.T) {
	home := t.TempDir()
	err := os.MkdirAll(filepath.Join(home, "history-session-state"), 0o777)
	err = errors.Join(err, os.MkdirAll(filepath.Join(home, "session-state"), 0o777), os.WriteFile(filepath.Join(home, "session-state", "a.jsonl"), nil, 0o666))
	for _, name := range []string{"session_a_1.json", "session_b_1.json", "notes.json"} {
		err = errors.Join(err, os.WriteFile(filepath.Join(home, "history-session-state", name), []byte("{}"), 0o666))
	}
	if err != nil {
		t.Fatal(err)
	}
	l, err := formats.Locate(home)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := copilot.Format().Strays(l), []string{"history-session-state/session_a_1.json", "history-session-state/session_b_1.json"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
