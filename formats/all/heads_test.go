package all

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/formatstest"
	"rehome/testdata/ide"
)

// TestHeadsAgree: what is listed of a store is what decoding it finds, in every
// format that has both.
func TestHeadsAgree(t *testing.T) {
	listed := map[string]int{}
	agree := func(what string, f *formats.Format, path string) {
		t.Run(what, func(t *testing.T) { listed[f.Name] += formatstest.Heads(t, f, path) })
	}
	for _, pattern := range []string{"chat/*.db", "sdk/e2e-sqlite-hot-wal/projects/*", "sdk/e2e-sqlite-hot-wal/projects/*/agent-transcripts", "sdk/e2e-jsonl", "sdk/gen/*", "sdk/legacy-*",
		"canonical/*", "claude/config", "claude/config/projects/*", "stream/*.json*", "transcript/projects/*/agent-transcripts", "codex/*"} {
		paths, err := filepath.Glob(filepath.Join("..", "..", "testdata", filepath.FromSlash(pattern)))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v, %v", pattern, paths, err)
		}
		for _, path := range paths {
			if filepath.Base(path) == "README.md" {
				continue
			}
			// Away from the repository, so that nothing can be left beside it.
			at := filepath.Join(t.TempDir(), filepath.Base(path))
			if err := copied(path, at); err != nil {
				t.Fatal(err)
			}
			l, err := formats.Locate(at)
			if err != nil {
				t.Fatal(err)
			}
			found, err := Registry().Detect(t.Context(), l)
			if err != nil || len(found) == 0 {
				t.Fatalf("%s: %v, %v", path, found, err)
			}
			agree(filepath.ToSlash(path), found[0].Format, at)
		}
	}
	scripts, err := fs.Glob(ide.Cases, "cases/*.sql")
	if err != nil || len(scripts) == 0 {
		t.Fatal(scripts, err)
	}
	for _, name := range scripts {
		script, err := ide.Cases.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		at := t.TempDir()
		if err := ide.Build(at, string(script)); err != nil {
			t.Fatal(err)
		}
		agree("ide/"+strings.TrimPrefix(name, "cases/"), Registry().Lookup("cursor-ide"), at)
	}
	for _, f := range Registry().All() {
		if f.Sessions != nil && listed[f.Name] == 0 {
			t.Errorf("no session of %s was listed", f.Name)
		}
	}
}

func copied(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.CopyFS(to, os.DirFS(from))
	}
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o666)
}
