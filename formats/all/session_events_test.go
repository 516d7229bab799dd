package all_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"rehome/convert"
)

// What an event says of a call otherwise than the checkpoint must come out;
// what it only repeats in fewer words must not.
func TestEventsThatDiffer(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "jsonl")
	if err := os.CopyFS(src, os.DirFS(filepath.Join(samples, "play", "jsonl"))); err != nil {
		t.Fatal(err)
	}
	same, other := filepath.Join(dir, "same.jsonl"), filepath.Join(dir, "other.jsonl")
	become(t, src, same, convert.Options{To: "canonical"})
	events := filepath.Join(src, "run_events.ndjson")
	text, err := os.ReadFile(events)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.ReplaceAll(text, []byte(`"stdout":"hi"`), []byte(`"stdout":"marked"`))
	if bytes.Equal(text, changed) {
		t.Fatal("the sample has lost its outputs")
	}
	if err := os.WriteFile(events, changed, 0o666); err != nil {
		t.Fatal(err)
	}
	become(t, src, other, convert.Options{To: "canonical"})
	for file, want := range map[string]bool{same: false, other: true} {
		lines, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := bytes.Contains(lines, []byte(`"name":"event.result","raw":{"status":"success"`)); got != want {
			t.Errorf("%s: a result of an event beside the checkpoint's: %v", filepath.Base(file), got)
		}
		if want != bytes.Contains(lines, []byte("marked")) {
			t.Errorf("%s: the changed output came out: %v", filepath.Base(file), !want)
		}
	}
}
