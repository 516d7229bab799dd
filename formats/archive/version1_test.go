package archive

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestVersion1: archives of version 1 are read, and what is wrong with one is found.
func TestVersion1(t *testing.T) {
	chat := "../../testdata/faults/samples/archive-1/chat"
	for _, dir := range []string{chat, "../../golden/compat/archive/chat", "../../golden/compat/archive/ide", "../../golden/compat/archive/ide-storage", "../../golden/compat/archive/sdk"} {
		if _, sum, err := read(t.Context(), dir, 2); err != nil || sum.Rows() == 0 {
			t.Errorf("%s: %d rows, %v", dir, sum.Rows(), err)
		}
		if got := asked(t, dir, everything); len(got) > 0 {
			t.Errorf("%s: %q", dir, got)
		}
	}
	for name, c := range map[string]struct {
		do         func(a *tampering)
		want, rule string
	}{
		"row edited":       {func(a *tampering) { a.replace("store.db/blobs.ndjson", "one command failed", "all commands passed") }, "text is longer than", "RH384 store.db/blobs.ndjson"},
		"row removed":      {func(a *tampering) { a.write("store.db/meta.ndjson", "") }, "found 0 rows", "RH383 store.db/meta.ndjson"},
		"table removed":    {func(a *tampering) { a.remove("store.db/meta.ndjson") }, "found 0 rows", "RH382 store.db/meta.ndjson"},
		"file added":       {func(a *tampering) { a.write("notes.txt", "x") }, "not in the manifest", "RH381 notes.txt"},
		"manifest edited":  {func(a *tampering) { a.replace(manifestName, `"rows": 32`, `"rows": 31`) }, "its own digest", "RH388 manifest.json"},
		"manifest unknown": {func(a *tampering) { a.replace(manifestName, `"rows": 32`, `"row": 32`) }, "unknown field", "RH203 manifest.json /databases/0/tables/0"},
		"rows of a shard":  {func(a *tampering) { a.move("store.db/meta.ndjson", "store.db/meta/00/x.ndjson") }, "does not match its digest", "RH384 store.db/meta/00/x.ndjson"},
	} {
		dir := filepath.Join(t.TempDir(), "in")
		if err := os.CopyFS(dir, os.DirFS(chat)); err != nil {
			t.Fatal(err)
		}
		c.do(&tampering{t: t, dir: dir})
		if _, _, err := read(t.Context(), dir, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if got := asked(t, dir, everything); !slices.Contains(got, c.rule) {
			t.Errorf("%s: found %q, want %s", name, got, c.rule)
		}
	}
}
