package cursorsdk

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/cursorsdk/internal/audit"
	"rehome/formats/cursorsdk/internal/layout"
	"rehome/formats/cursorsdk/internal/read"
	"rehome/formats/internal/sdkstore"
	"rehome/formats/rule"
)

// roots are the state roots of a project.
func roots(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, layout.RootsName, "*"))
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	return list
}

// bareStory is what a store tells, without the folder that its databases lie in.
func bareStory(s story) string {
	return regexp.MustCompile(layout.RootsName+`/[0-9a-f]+/`).ReplaceAllString(string(s.raw), "")
}

// TestBesideStateRoot: a state root is read with the transcripts of its
// agents that lie in its project, wherever it is named from.
func TestBesideStateRoot(t *testing.T) {
	dir := sampleProject(t)
	root := roots(t, dir)[0]
	gone(t, dir, "store.db")
	execute(t, filepath.Join(root, sdkstore.IndexName), "DELETE FROM run_events")
	want := decoded(t, dir)
	if !strings.Contains(strings.Join(want.lines, "\n"), "<transcript") {
		t.Fatalf("the transcript is not needed:\n%s", strings.Join(want.lines, "\n"))
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{root, filepath.Join(root, sdkstore.IndexName), link} {
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
	dir := sampleProject(t)
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

// moved is the sample project as newer versions keep it: its state root in
// Cursor's data folder, its transcripts where they were.
func moved(t *testing.T) (data, root string) {
	t.Helper()
	dir, data := sampleProject(t), filepath.Join(t.TempDir(), ".cursor")
	place := filepath.Join(data, layout.ProjectsName, layout.Slug(workspaceOf(t, dir)))
	root = filepath.Join(data, layout.RootsName, "0f3c")
	for _, folder := range []string{place, filepath.Dir(root)} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(roots(t, dir)[0], root); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "agent-transcripts"), filepath.Join(place, "agent-transcripts")); err != nil {
		t.Fatal(err)
	}
	return data, root
}

func workspaceOf(t *testing.T, path string) string {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	for h, err := range read.Heads(t.Context(), l, formats.View{}) {
		if err != nil {
			t.Fatal(err)
		}
		return h.Workspace
	}
	return ""
}

// TestNewerLocation: a state root in Cursor's data folder is read as one in its
// project is; the data folder itself is no store.
func TestNewerLocation(t *testing.T) {
	dir := sampleProject(t)
	want := decoded(t, dir)
	data, root := moved(t)
	if got := decoded(t, root); bareStory(got) != bareStory(want) || got.total != want.total {
		t.Errorf("%+v\n%s\nwant %+v\n%s", got.total, bareStory(got), want.total, bareStory(want))
	}
	for path, score := range map[string]bool{dir: true, root: true, data: false, filepath.Dir(root): false, filepath.Join(root, sdkstore.IndexName): true} {
		l, err := formats.Locate(path)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := probe(t.Context(), l); err != nil || m.Score > 0 != score {
			t.Errorf("%s: %v %v", path, m, err)
		}
		if w := layout.Within(l); (w == "") != (path == data || path == root || path == filepath.Dir(root)) {
			t.Errorf("%s stands for %q", path, w)
		}
	}
	gone(t, filepath.Join(data, layout.ProjectsName), ".jsonl")
	if got := decoded(t, root); len(got.lines) == 0 {
		t.Error("nothing without the transcript")
	}
}

// TestNewerLocationIsChecked: nothing is wrong with a folder that is named as
// nobody knows.
func TestNewerLocationIsChecked(t *testing.T) {
	_, root := moved(t)
	l, err := formats.Locate(root)
	if err != nil {
		t.Fatal(err)
	}
	q := &rule.Pass{Layers: rule.Container | rule.References | rule.Meaning, Report: func(f rule.Finding) {
		if f.Rule == "RH310" || rule.Lookup(f.Rule).Severity != rule.Note {
			t.Errorf("%+v", f)
		}
	}}
	if err := new(audit.Caches).Check(t.Context(), l, formats.View{Jobs: 1}, q); err != nil {
		t.Fatal(err)
	}
}
