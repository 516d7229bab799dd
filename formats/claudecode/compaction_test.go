package claudecode

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/rule"
	"rehome/formats/session"
)

// compactedBefore is a session that Claude Code 1.0.5x compacted twice: the summary is a root,
// and no line before it says so.
func compactedBefore(t *testing.T) string {
	t.Helper()
	summary := func(id, words string) string {
		return lineOf("user", id, "", `"isCompactSummary":true,"message":{"role":"user","content":[{"type":"text","text":"`+words+`"}]}`)
	}
	lines := []string{
		promptLine("a1", "", "first"), answerLine("a2", "a1", "m1", "one"),
		summary("b1", "so far one"), answerLine("b2", "b1", "m2", "two"), promptLine("b3", "b2", "second"), answerLine("b4", "b3", "m3", "three"),
		summary("c1", "so far three"), answerLine("c2", "c1", "m4", "four"),
	}
	for i := range lines {
		lines[i] = strings.Replace(lines[i], "{", `{"isSidechain":false,"sessionId":"20000000-0000-4000-8000-000000000001","version":"1.0.53","cwd":"/w","timestamp":"2026-01-01T00:00:0`+string(rune('0'+i))+`.000Z",`, 1)
	}
	path := filepath.Join(t.TempDir(), "20000000-0000-4000-8000-000000000001.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOldCompactions: what precedes a compaction of Claude Code 1.0.5x is archived, and
// not an abandoned branch.
func TestOldCompactions(t *testing.T) {
	l, err := formats.Locate(compactedBefore(t))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	v := formats.View{OnLoss: func(n loss.Loss) { t.Errorf("loss %s", n.Code) }}
	for s, err := range Format().Sessions.Decode(t.Context(), l, v, session.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		if s.Head.Turns != 2 {
			t.Errorf("%d turns", s.Head.Turns)
		}
		for m, err := range s.Messages {
			if err != nil {
				t.Fatal(err)
			}
			line := m.ID
			if m.Archived {
				line += " archived"
			}
			for _, p := range m.Parts {
				if b, ok := p.(*session.Boundary); ok {
					line += " boundary " + string(rune('0'+b.Archived))
				}
			}
			got = append(got, line)
		}
	}
	if want := []string{"a1 archived", "a2 archived", "b1 archived boundary 3", "b2 archived", "b3 archived", "b4 archived", "c1 boundary 6", "c2"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestOldCompactionsAreSound: check has nothing against them, so repair leaves them alone.
func TestOldCompactionsAreSound(t *testing.T) {
	path := compactedBefore(t)
	if found := grave(asks(t, path, rule.Meaning|rule.References, 1)); len(found) > 0 {
		t.Errorf("%q", found)
	}
}
