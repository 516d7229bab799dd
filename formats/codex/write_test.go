package codex_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/codex"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// TestAppendedShown: what is added to a session whose lines have numbers are turns, each with the
// items that Codex shows: of such a session it shows no older events.
func TestAppendedShown(t *testing.T) {
	path := filepath.Join(t.TempDir(), filepath.Base(original))
	b, err := os.ReadFile(original)
	if err == nil {
		err = os.WriteFile(path, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	text := func(words string) []session.Part { return []session.Part{&session.Text{Text: words}} }
	list := []*session.Message{
		{ID: "a", Role: session.Assistant, Parts: text("Still here.")},
		{ID: "b", Role: session.User, Turn: &session.Turn{Number: 1}, Parts: text("Said elsewhere.")},
		{ID: "c", Role: session.Assistant, Parts: text("Heard elsewhere.")},
		{ID: "d", Role: session.User, Turn: &session.Turn{Number: 2}, Parts: text("Again.")},
	}
	s := &session.Session{Head: session.Head{ID: "two", Agent: session.ClaudeCode}, Messages: func(yield func(*session.Message, error) bool) {
		for _, m := range list {
			if !yield(m, nil) {
				return
			}
		}
	}}
	before, _ := told(t, path)
	if _, err := codex.Format().Writer.New().Put(t.Context(), s, formats.SessionBuild{Path: path, Continues: &formats.Continuation{ID: session01}}); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got, turns []string
	for line := range strings.Lines(string(after[len(b):])) {
		body := rawjson.At([]byte(line), "payload")
		kind := rawjson.TextAt(body, "type")
		if kind != "message" {
			turns = append(turns, rawjson.TextAt(body, "turn_id"))
		}
		for e := range rawjson.Elements(rawjson.At(body, "item", "content")) {
			kind += " " + rawjson.TextAt(body, "item", "type") + ": " + rawjson.TextAt(e, "text")
		}
		got = append(got, kind)
	}
	want := []string{
		"task_started", "item_completed AgentMessage: Still here.", "message", "task_complete",
		"task_started", "message", "item_completed UserMessage: Said elsewhere.", "item_completed AgentMessage: Heard elsewhere.", "message", "task_complete",
		"task_started", "message", "item_completed UserMessage: Again.", "task_complete",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if n := len(slices.Compact(slices.Clone(turns))); n != 3 || slices.Contains(turns, "") {
		t.Errorf("the turns are %q", turns)
	}
	now, account := told(t, path)
	for _, words := range []string{"Still here.", "Said elsewhere.", "Heard elsewhere.", "Again."} {
		if strings.Count(now, words) != 1 {
			t.Errorf("%q is told %d times", words, strings.Count(now, words))
		}
	}
	if was := strings.Count(before, `"branch"`); strings.Count(now, `"branch"`) != was || !account.Balanced() {
		t.Errorf("what is shown became a branch: %+v", account)
	}
}
