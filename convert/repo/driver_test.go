package repo_test

import (
	"os"
	"path/filepath"
	"testing"

	"rehome/convert/repo"
)

// TestDrive: the driver takes a file that contains the other one, and leaves everything
// else as it is on our side.
func TestDrive(t *testing.T) {
	for name, c := range map[string]struct{ base, ours, theirs, path, want string }{
		"theirs continues":      {"a\n", "a\nb\n", "a\nb\nc\n", "x.jsonl", "a\nb\nc\n"},
		"ours continues":        {"a\n", "a\nb\nc\n", "a\nb\n", "x.jsonl", "a\nb\nc\n"},
		"the same":              {"a\n", "b\n", "b\n", "x.ndjson", "b\n"},
		"no base":               {"", "a\n", "a\nb\n", "x.jsonl", "a\nb\n"},
		"both continue":         {"a\n", "a\nb\n", "a\nc\n", "x.jsonl", ""},
		"theirs cut lines":      {"a\nb\nc\n", "a\n", "a\nb\n", "x.jsonl", ""},
		"ours was edited":       {"a\n", "A\n", "A\nb\n", "x.jsonl", ""},
		"ours is torn":          {"a\n", "a\nb", "a\nb c\n", "x.jsonl", ""},
		"a part of a store":     {"a\n", "a\nb\n", "a\nb\nc\n", "runs.ndjson", ""},
		"a sidecar":             {"a\n", "a\nb\n", "a\nb\nc\n", "x.jsonl.sidecar.ndjson", ""},
		"anything":              {"", "", "a\n", "x.json", ""},
		"a name with a newline": {"a\n", "a\n", "a\nb\n", "x\ny.jsonl", "a\nb\n"},
	} {
		dir := t.TempDir()
		at := map[string]string{"base": c.base, "ours": c.ours, "theirs": c.theirs}
		for file, text := range at {
			at[file] = filepath.Join(dir, file)
			if err := os.WriteFile(at[file], []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		err := repo.Drive(at["base"], at["ours"], at["theirs"], c.path)
		want := c.want
		if want == "" {
			want = c.ours
		}
		if got, rerr := os.ReadFile(at["ours"]); rerr != nil || string(got) != want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v, %v", name, got, err, rerr)
		}
	}
}
