package cursorsdk

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// roots are the state roots of a project.
func roots(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, rootsName, "*"))
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	return list
}

// bareStory is what a store tells, without the folder that its databases lie in.
func bareStory(s story) string {
	return regexp.MustCompile(rootsName+`/[0-9a-f]+/`).ReplaceAllString(string(s.raw), "")
}

// TestBesideStateRoot: a state root is read with the transcripts of its
// agents that lie in its project, wherever it is named from.
func TestBesideStateRoot(t *testing.T) {
	dir := project(t)
	root := roots(t, dir)[0]
	gone(t, dir, "store.db")
	execute(t, filepath.Join(root, indexName), "DELETE FROM run_events")
	want := decoded(t, dir)
	if !strings.Contains(strings.Join(want.lines, "\n"), "<transcript") {
		t.Fatalf("the transcript is not needed:\n%s", strings.Join(want.lines, "\n"))
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{root, filepath.Join(root, indexName), link} {
		got := decoded(t, at)
		expect(t, got.lines, strings.Join(want.lines, "\n"))
		if bareStory(got) != bareStory(want) || got.total != want.total {
			t.Errorf("%s: %+v\n%s\nwant %+v\n%s", at, got.total, bareStory(got), want.total, bareStory(want))
		}
	}
}

// TestBesideOthers: other sessions of the project are not those of the state
// root.
func TestBesideOthers(t *testing.T) {
	dir := project(t)
	for _, name := range []string{"other/other.jsonl", "flat.jsonl", sampleAgent + "/subagents/kid.jsonl"} {
		at := filepath.Join(dir, "agent-transcripts", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(`{"role":"user","message":{"content":"hi"}}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sessions := func(path string) (ids []string) {
		for _, l := range decoded(t, path).lines {
			if id, ok := strings.CutPrefix(l, "session "); ok {
				ids = append(ids, strings.Fields(id)[0])
			}
		}
		return ids
	}
	if got := sessions(roots(t, dir)[0]); !slices.Equal(got, []string{sampleAgent, "kid"}) {
		t.Errorf("%q", got)
	}
	if got := sessions(dir); len(got) != 4 {
		t.Errorf("%q", got)
	}
}
