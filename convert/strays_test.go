package convert

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/convert/sessions"
	"rehome/formats/all"
)

// TestSessionsBesideStores: a session in the folder of a store is a session, whatever it is
// named, and whatever store has that folder. Other files there are not mentioned.
func TestSessionsBesideStores(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) {
		t.Helper()
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	claude := func(name string) {
		n++
		file(name, fmt.Sprintf(`{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"Ask %d."},"uuid":"u","timestamp":"2026-01-01T00:00:00.000Z","sessionId":"s","cwd":"/w"}`+"\n", n))
	}
	codex := func(name string) {
		n++
		file(name, fmt.Sprintf(`{"timestamp":"2026-01-01T00:00:00.000Z","type":"session_meta","payload":{"id":"01a202cf-91d2-7502-9981-%012d","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}}`+"\n"+
			`{"timestamp":"2026-01-01T00:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Ask %d."}]}}`+"\n", n, n))
	}
	id := func() string { return fmt.Sprintf("20000000-0000-4000-8000-%012d", n) }
	rollout := func() string {
		return fmt.Sprintf("rollout-2026-01-01T00-00-00-01a202cf-91d2-7502-9981-%012d.jsonl", n+1)
	}
	claude("home/projects/-w/" + id() + ".jsonl")
	claude("home/projects/-w/my-session.jsonl")
	claude("home/projects/-w/kept/" + id() + ".jsonl")
	claude("home/projects/beside.jsonl")
	claude("home/old/projects/-w/" + id() + ".jsonl")
	claude("project/" + id() + ".jsonl")
	claude("project/copy of it.jsonl")
	codex("codex/sessions/2026/01/01/" + rollout())
	codex("codex/sessions/2026/01/01/renamed.jsonl")
	codex("codex/sessions/kept/" + rollout())
	codex("codex/full/" + rollout())
	for _, other := range []string{"home/history.jsonl", "home/settings.json", "home/plugins/x/" + id() + ".jsonl", "home/old/notes.jsonl", "home/projects/-w/memory/MEMORY.md", "codex/history.jsonl", "codex/log/a.log", "codex/auth.json", "codex/state.bin"} {
		file(other, `{"other":1}`+"\n")
	}
	want := n
	reg := all.Registry()

	var said []string
	dst := filepath.Join(t.TempDir(), "dst")
	if _, err := Convert(t.Context(), reg, dir, dst, Options{To: "canonical", OnNotice: func(s string) { said = append(said, s) }}); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	err := filepath.WalkDir(dst, func(p string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(p)
		for i := range want {
			if ask := fmt.Sprintf("Ask %d.", i+1); strings.Contains(string(text), ask) {
				found[ask] = true
			}
		}
		return err
	})
	if err != nil || len(found) != want {
		t.Errorf("%v; %d of %d sessions are converted: %v", err, len(found), want, found)
	}
	if slices.ContainsFunc(said, func(s string) bool {
		return strings.Contains(s, "looks like a session") || strings.Contains(s, "not sessions: 2")
	}) {
		t.Errorf("%q", said)
	}

	listing, err := sessions.List(t.Context(), reg, sessions.Options{Paths: []string{dir}})
	if err != nil || len(listing.Sessions) != want {
		t.Errorf("%d of %d sessions are listed, %v", len(listing.Sessions), want, err)
	}

	// An exact conversion makes one store of a folder, and names what it leaves out.
	said = nil
	if _, err := Convert(t.Context(), reg, filepath.Join(dir, "home"), filepath.Join(t.TempDir(), "dst"), Options{To: "archive", OnNotice: func(s string) { said = append(said, s) }}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"old", "projects/-w/kept", "projects/beside.jsonl"} {
		if !slices.ContainsFunc(said, func(s string) bool { return strings.HasPrefix(s, name+" skipped: ") }) {
			t.Errorf("%s is not named: %q", name, said)
		}
	}
}
