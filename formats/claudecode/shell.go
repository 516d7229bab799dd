package claudecode

import (
	"strings"

	"rehome/formats/internal/rawjson"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// shellTurn is the kind of a turn that is a command of the user's own: !ls in
// Claude Code.
const shellTurn = "shell"

const outputTag = "<bash-stdout>"

// output reports a line that the client takes for what a command of the user's
// own printed: it draws it so, and does not count it among the prompts.
func output(text string) bool {
	for _, tag := range [...]string{outputTag, "<bash-stderr>", "<local-command-stdout>", "<local-command-stderr>"} {
		if strings.HasPrefix(text, tag) {
			return true
		}
	}
	return false
}

// printed writes what a user's own command printed, as the client does; false if
// it is none, or its record says more than that.
func (e *encoder) printed(m *session.Message, r *session.ToolResult) bool {
	if !e.shell || r.Call != "" || len(r.Content) > 0 || !only(r.Value, "stdout", "stderr", "exitCode") {
		return false
	}
	for _, name := range [...]string{"stdout", "stderr"} {
		if v := rawjson.Last(r.Value, name); v != nil && v[0] != '"' {
			return false
		}
	}
	failed := text(r.Value, "stderr")
	if code := string(rawjson.Last(r.Value, "exitCode")); code != "" && code != "0" {
		if failed != "" && !strings.HasSuffix(failed, "\n") {
			failed += "\n"
		}
		failed += "Exit code " + code
	}
	e.note(loss.ResultOrphan)
	said := outputTag + text(r.Value, "stdout") + "</bash-stdout><bash-stderr>" + failed + "</bash-stderr>"
	e.words(m, []session.Part{&session.Text{Text: said}}, true)
	return true
}
