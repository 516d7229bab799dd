package check

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/convert/sessions"
	"rehome/formats"
)

// TestUnrecognized: what looks like a session and is of nobody known is named
// by every walk, and so is a broken store; nothing else is.
func TestUnrecognized(t *testing.T) {
	const id = "11111111-2222-4333-8444-555555555555"
	like := map[string]string{
		"a/rollout.jsonl":             `{"timestamp":"2026-01-02T03:04:05.678Z","type":"session_meta","payload":{}}` + "\n",
		"a/stream.ndjson":             `{"type":"thread.started","thread_id":"x"}` + "\n",
		"b/chat.JSONL":                `{"conversation_id":"x","role":"user"}` + "\n",
		"b/head.jsonl":                "\ufeff\n" + `{"startTime":"` + strings.Repeat("x", 100_000) + `","sessionId":"x"}` + "\n",
		"projects/p/" + id + ".jsonl": `{"to":"come"}` + "\n",
		"runs.ndjson":                 `{"to":"come"}` + "\n",
	}
	broken := map[string]string{"agents.ndjson": "torn", "q/agent-transcripts/" + id + ".jsonl": `{"sessionId":`, "store.db": "torn"}
	files := map[string]string{
		"x.a": "lint\n", "data.jsonl": `{"x":1}` + "\n", "log.jsonl": `{"level":"info","type":"sessions"` + "\n", "list.jsonl": `["sessionId"]` + "\n",
		"page.json": `{"sessionId":"x"}` + "\n", "code.go": "package x\n\n" + `{"sessionId":"x"}` + "\n", "checkpoints.ndjson": "",
	}
	var wantLike, wantBroken []string
	for name, text := range like {
		files[name] = text
		wantLike = append(wantLike, name)
	}
	for name, text := range broken {
		files[name] = text
		wantBroken = append(wantBroken, name)
	}
	dir := t.TempDir()
	for name, text := range files {
		laid(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	same := func(what string, got, want []string) {
		t.Helper()
		for i, name := range got {
			if rel, err := filepath.Rel(dir, name); err == nil {
				got[i] = filepath.ToSlash(rel)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	l, err := sessions.List(t.Context(), formats.NewRegistry(lint()), sessions.Options{Paths: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	var unread []string
	for _, u := range l.Unread {
		if strings.Contains(u.Err.Error(), "named like a store") {
			unread = append(unread, u.Path)
		}
	}
	same("listed", l.Unrecognized, wantLike)
	same("listed as broken", unread, wantBroken)

	r, _ := checked(t, Options{Paths: []string{dir}})
	found := map[string][]string{}
	for _, s := range r.Stores {
		for _, b := range s.Findings {
			for _, p := range b.Places {
				found[b.Rule.ID] = append(found[b.Rule.ID], p.At.File)
			}
		}
	}
	same("checked", found[Unrecognized], wantLike)
	same("checked as broken", found[ruleMisfit], wantBroken)

	// One that is named is still none that can be examined.
	_, got := checked(t, Options{Paths: []string{filepath.Join(dir, "a", "rollout.jsonl")}})
	expectSpelled(t, got, "rollout.jsonl RH194×1,", "rollout.jsonl !"+filepath.Join(dir, "a", "rollout.jsonl")+": no known format")
}
