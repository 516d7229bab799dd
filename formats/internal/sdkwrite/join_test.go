package sdkwrite_test

import (
	"path/filepath"
	"slices"
	"testing"

	"rehome/formats"
	"rehome/formats/formatstest"
	"rehome/formats/internal/sdkwrite"
	"rehome/formats/session"
	"rehome/formats/store"
)

// build creates a store of a format from drafts, and returns its path.
func build(t *testing.T, format string, drafts []string, flat bool) string {
	t.Helper()
	r, err := sdkwrite.Writer().Join(t.Context(), drafts, formats.View{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	path := filepath.Join(t.TempDir(), "store")
	odd := func(it store.SidecarItem) { t.Errorf("%s: a sidecar is needed for %s: %+v", format, it.At, it) }
	w, err := codec(format).Records.Create(t.Context(), formats.Build{Path: path, Schema: r.Schema(), Flat: flat, OnSidecar: odd})
	if err != nil {
		t.Fatal(err)
	}
	formatstest.Fill(t, w, r)
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	again, err := codec(format).Records.Open(t.Context(), l, formats.View{Kind: formats.SDKDocuments, OnLeftover: odd})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	for b, err := range again.Batches(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		b.Release()
	}
	if !slices.Equal(again.Summary(), r.Summary()) {
		t.Errorf("%s: other records came back: %v, want %v", format, again.Summary(), r.Summary())
	}
	return path
}

// TestJoin: stores created from many drafts hold the records of all, need no sidecar, and
// are read as the same sessions.
func TestJoin(t *testing.T) {
	data := filepath.Join("..", "..", "..", "testdata")
	drafts := slices.Concat(write(t, "claude-code", filepath.Join(data, "claude", "config")), write(t, "codex", filepath.Join(data, "codex", "home")),
		write(t, "cursor-ndjson", filepath.Join(data, "sdk", "play", "jsonl")))
	want := map[string][]string{}
	for _, dir := range drafts {
		decode(t, "cursor-ndjson", dir, func(s *session.Session) { want[s.ID] = text(t, s) })
	}
	for _, c := range []struct {
		format string
		flat   bool
	}{{"cursor-ndjson", true}, {"cursor-ndjson", false}, {"cursor-sdk", false}} {
		got, format := map[string]bool{}, c.format
		decode(t, format, build(t, format, drafts, c.flat), func(s *session.Session) {
			if got[s.ID] = true; !slices.Equal(text(t, s), want[s.ID]) {
				t.Errorf("%s: %s is another session", format, s.ID)
			}
		})
		if len(got) != len(want) {
			t.Errorf("%s: %d of %d sessions", format, len(got), len(want))
		}
	}
}
