package cli

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestArchiveSessions: an archive lists and shows the sessions of its store, at the
// path of the archive.
func TestArchiveSessions(t *testing.T) {
	dir := t.TempDir()
	user := ideCase(t, dir, "subagents")
	chat := filepath.Join(dir, "store.db")
	if err := copyFile(chat, filepath.Join("..", "..", "..", "testdata", "chat", "before.db")); err != nil {
		t.Fatal(err)
	}
	for _, src := range []string{user, chat} {
		text := filepath.Join(dir, "text-of-"+filepath.Base(src))
		if _, stderr, code := call(t, "convert", src, text, "--to", "archive", "-q"); code != 0 {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		want, got := listIDs(t, src), listIDs(t, text)
		if len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("lists %q, want %q", got, want)
		}
		for _, id := range want {
			want, _, _ := call(t, "show", src+"#"+id, "--all", "--history")
			got, stderr, code := call(t, "show", text+"#"+id, "--all", "--history")
			if code != 0 || strings.ReplaceAll(got, text, src) != want {
				t.Errorf("%s: exit %d: %s\n%s\nwant\n%s", id, code, stderr, got, want)
			}
		}
	}
}

func listIDs(t *testing.T, path string) (ids []string) {
	t.Helper()
	stdout, stderr, code := call(t, "ls", path, "--json")
	var list lsResult
	if err := json.Unmarshal([]byte(stdout), &list); err != nil || code != 0 {
		t.Fatalf("exit %d, %v: %s", code, err, stderr)
	}
	for _, s := range list.Sessions {
		ids = append(ids, s.ID)
		if len(s.Sources) != 1 || s.Sources[0].Path != path {
			t.Errorf("%s is in %v, want %s", s.ID, s.Sources, path)
		}
	}
	slices.Sort(ids)
	return ids
}
