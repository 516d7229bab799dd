package cli

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/cmd/internal/clitest"
	"rehome/golden"
	"rehome/schemas"
)

// TestToCanonical compares the sessions in the sample stores with what is
// checked in.
func TestToCanonical(t *testing.T) {
	for route, samples := range map[string][]string{
		"cursor-chat-to-canonical":   {"chat/before.db", "chat/after.db"},
		"cursor-sdk-to-canonical":    {"sdk/e2e-sqlite-hot-wal", "sdk/gen/sqlite", "sdk/legacy-1.0.14", "sdk/play/sqlite"},
		"cursor-ndjson-to-canonical": {"sdk/gen/jsonl", "sdk/play/jsonl"},
	} {
		for _, sample := range samples {
			name := strings.TrimSuffix(strings.NewReplacer("chat/", "", "sdk/", "", "/", "-").Replace(sample), ".db")
			t.Run(route+"/"+name, func(t *testing.T) {
				dir := t.TempDir()
				src := filepath.Join(dir, "store")
				copySample(t, src, sample)
				before, err := clitest.ReadTree(src)
				if err != nil {
					t.Fatal(err)
				}
				out := filepath.Join(dir, "out")
				if _, stderr, code := call(t, "convert", src, out, "--to", "canonical", "--quiet"); code != 0 {
					t.Fatalf("exit %d: %s", code, stderr)
				}
				golden.Tree(t, route+"/"+name, out)
				valid(t, out)
				if after, err := clitest.ReadTree(src); err != nil || !maps.EqualFunc(before, after,
					func(a, b []byte) bool { return string(a) == string(b) }) {
					t.Errorf("the source changed (%v)", err)
				}
				sameAgain(t, dir, src, out)
			})
		}
	}
}

// sameAgain: whatever the number of workers, and from what is written, too.
func sameAgain(t *testing.T, dir, src, out string) {
	t.Helper()
	for _, from := range []string{src, out} {
		for _, jobs := range []string{"1", "8"} {
			to := filepath.Join(dir, filepath.Base(from)+jobs)
			if _, stderr, code := call(t, "convert", from, to, "--to", "canonical", "--jobs", jobs); code != 0 {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			if same, err := clitest.SameTrees(out, to); err != nil || !same {
				t.Errorf("%s workers made other text of %s (%v)", jobs, filepath.Base(from), err)
			}
		}
	}
}

// valid asks the library about every line, not about its shape.
func valid(t *testing.T, dir string) {
	t.Helper()
	tree, err := clitest.ReadTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		for line := range strings.Lines(string(tree[name])) {
			if err := schemas.Validate("canonical-1", []byte(line)); err != nil {
				t.Errorf("%s: %v\n%s", name, err, line)
			}
		}
	}
}

// copySample copies a sample from testdata. A chat gets the folder it lies in.
func copySample(t *testing.T, to, sample string) {
	t.Helper()
	from := golden.Path(t, "../testdata/"+sample)
	info, err := os.Stat(from)
	if err != nil {
		t.Fatal(err)
	}
	if info.IsDir() {
		err = os.CopyFS(to, os.DirFS(from))
	} else {
		err = copyFile(filepath.Join(to, "store.db"), from)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func copyFile(to, from string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o644)
}

// TestStaircase: the text of a store, made for git, leads to the same sessions
// as the store.
func TestStaircase(t *testing.T) {
	for _, sample := range []string{"chat/after.db", "sdk/play/sqlite"} {
		dir := t.TempDir()
		src := filepath.Join(dir, "store")
		copySample(t, src, sample)
		for _, args := range [][]string{
			{"convert", src, filepath.Join(dir, "text", "store"), "--to", "archive"},
			{"convert", src, filepath.Join(dir, "a"), "--to", "canonical"},
			{"convert", filepath.Join(dir, "text", "store"), filepath.Join(dir, "b"), "--to", "canonical"},
		} {
			if _, stderr, code := call(t, args...); code != 0 {
				t.Fatalf("%s: exit %d: %s", sample, code, stderr)
			}
		}
		if same, err := clitest.SameTrees(filepath.Join(dir, "a"), filepath.Join(dir, "b")); err != nil || !same {
			a, _ := clitest.ReadTree(filepath.Join(dir, "a"))
			b, _ := clitest.ReadTree(filepath.Join(dir, "b"))
			for name := range a {
				t.Errorf("%s: %s: %s", sample, name, golden.Diff(a[name], b[name]))
			}
		}
	}
}
