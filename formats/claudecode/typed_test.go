package claudecode

import (
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/session"
)

// TestTypedTags: a prompt that is spelled like a command or its output is a prompt if its line
// says that it was typed, as 2.1.330 writes it, which says so of no command. Without that, only what is more than tags is one. What rehome writes
// of such a prompt says so, too.
func TestTypedTags(t *testing.T) {
	for _, words := range []string{
		"<command-name>/model</command-name>", "<command-name>/odd</command-name> by hand", "<command-message>review</command-message>", "<local-command-stdout>hi</local-command-stdout>",
		"<bash-stdout>hi</bash-stdout>", "<command-args>all</command-args>",
	} {
		for _, source := range []string{"typed", "sdk", "system", ""} {
			line := promptLine("p1", "", words)
			if source != "" {
				line = strings.TrimSuffix(line, "}") + `,"promptSource":"` + source + `"}`
			}
			l, err := formats.Locate(file(t, line, answerLine("a1", "p1", "r1", "yes")))
			if err != nil {
				t.Fatal(err)
			}
			typed := source == "typed" || source == "sdk"
			var list []*session.Message
			for s, err := range Format().Sessions.Decode(t.Context(), l, formats.View{}, session.Selection{}) {
				if err != nil {
					t.Fatal(err)
				}
				list = slices.Collect(func(yield func(*session.Message) bool) {
					for m, err := range s.Messages {
						if err != nil || !yield(m) {
							return
						}
					}
				})
			}
			said, isText := list[0].Parts[0].(*session.Text)
			if prompt := isText && said.Text == words && list[0].Turn != nil && !list[0].Simulated; prompt != (typed || strings.HasSuffix(words, "by hand")) {
				t.Errorf("%s, %q: is a prompt: %v", words, source, prompt)
			}
		}
		ask := say(session.User, &session.Text{Text: words})
		ask.Turn = &session.Turn{Number: 1}
		again, _ := told(t, encoded(t, chat(ask, say(session.Assistant, &session.Text{Text: "yes"})), formats.SessionBuild{}).path, session.Selection{})
		if len(again) == 0 || again[0] != "1:"+words {
			t.Errorf("%s: written, it is %q", words, again)
		}
	}
}
