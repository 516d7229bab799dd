package claudecode

import (
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/session"
)

// TestContextSize: a draft says about how much the model will be sent: the live branch
// after the last compaction, and images by what they show.
func TestContextSize(t *testing.T) {
	say := func(id string, n int) *session.Message {
		return &session.Message{ID: id, Role: session.User, Parts: []session.Part{&session.Text{Text: strings.Repeat("word ", n/5)}}}
	}
	undone := say("u", 40_000)
	undone.Branch = "b1"
	compacted := &session.Message{ID: "c", Role: session.User, Parts: []session.Part{&session.Boundary{Archived: 1}, &session.Summary{Text: "what was said"}}}
	shown := &session.Message{ID: "p", Role: session.User, Parts: []session.Part{&session.Media{Mime: "image/webp", Data: append([]byte("RIFF\x00\x01\x00\x00WEBPVP8 "), make([]byte, 900_000)...)}}}
	for name, c := range map[string]struct {
		messages []*session.Message
		full     bool
		min, max int64
	}{
		"all":       {[]*session.Message{say("a", 40_000), say("b", 40_000)}, false, 20_000, 20_100},
		"compacted": {[]*session.Message{say("a", 40_000), compacted, say("b", 4_000)}, false, 1_000, 1_100},
		"full":      {[]*session.Message{say("a", 40_000), compacted, say("b", 4_000)}, true, 11_000, 11_100},
		"undone":    {[]*session.Message{say("a", 4_000), say("b", 4_000), undone}, false, 2_000, 2_100},
		"image":     {[]*session.Message{say("a", 4_000), shown}, false, 2_500, 2_800},
	} {
		s := &session.Session{Head: session.Head{ID: "s", Agent: session.CursorCLI}, Branches: []session.Branch{{Name: "b1", From: "a"}}, Messages: stream(c.messages...)}
		if name != "undone" {
			s.Branches = nil
		}
		w := encoded(t, s, formats.SessionBuild{FullHistory: c.full})
		if n := w.draft.Tokens; n < c.min || n > c.max {
			t.Errorf("%s: %d tokens, want %d to %d", name, n, c.min, c.max)
		}
	}
}
