package backup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/all"
)

// TestSnapshotListed: a snapshot lists the sessions of every client that were backed up,
// and nothing in it is unreadable.
func TestSnapshotListed(t *testing.T) {
	w := newWorld(t)
	old := filepath.Join(w.home, ".cursor", "projects", "home-dev-old", "sdk-agent-store", "0")
	if err := os.CopyFS(old, os.DirFS("../../testdata/sdk/legacy-1.0.14")); err != nil {
		t.Fatal(err)
	}
	rep := w.run()
	ids := func(o sessions.Options) (out []string) {
		list, err := sessions.List(t.Context(), all.Registry(), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range list.Unread {
			t.Errorf("%s: %v", u.Path, u.Err)
		}
		for _, s := range list.All() {
			out = append(out, s.Agent+" "+s.ID)
		}
		slices.Sort(out)
		return out
	}
	live := ids(sessions.Options{Machine: formats.Machine{OS: w.o.Machine.OS, Home: w.home, Getenv: func(string) string { return "" }}})
	kept := ids(sessions.Options{Paths: []string{filepath.Join(w.dir, rep.Snapshot)}})
	if !slices.Equal(live, kept) {
		t.Errorf("the clients have\n%s\nthe snapshot lists\n%s", strings.Join(live, "\n"), strings.Join(kept, "\n"))
	}
}
