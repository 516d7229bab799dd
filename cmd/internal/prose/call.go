package prose

import (
	"slices"
	"strings"

	"rehome/formats/session"
	"rehome/internal/udiff"
)

// Subject returns the name of a call's tool, and what the call is about, in one line.
func Subject(c *session.ToolCall, workspace string) (tool, subject string) {
	st := newStep(c, nil, workspace, Options{Tools: Brief})
	return st.Name, st.Subject
}

// CallLines returns a call and its result as lines: with Full all arguments, else those
// that the subject lacks are left out. Edits of files are diffs.
func CallLines(c *session.ToolCall, r *session.ToolResult, workspace string, detail Detail) []string {
	st := newStep(c, r, workspace, Options{Tools: detail})
	var out []string
	for _, a := range st.Args {
		if len(a.Lines) == 1 {
			out = append(out, a.Name+": "+a.Lines[0])
			continue
		}
		out = append(out, a.Name+":")
		for _, l := range a.Lines {
			out = append(out, "  "+l)
		}
	}
	if st.Outcome != "" {
		out = append(out, "result: "+st.Outcome)
	}
	body := st.Body
	if at, words := st.elided(); at >= 0 {
		body = slices.Insert(slices.Clone(body), at, string(words))
	}
	return append(out, body...)
}

// ResultLines returns a result without a call as lines.
func ResultLines(r *session.ToolResult, detail Detail) []string {
	return CallLines(&session.ToolCall{}, r, "", detail)
}

// DiffLines returns what turns one list of lines into another, as lines of a unified diff
// without headers of files.
func DiffLines(before, after []string) (out []string) {
	for i, h := range udiff.Between(ended(strings.Join(before, "\n")), ended(strings.Join(after, "\n"))) {
		if i > 0 {
			out = append(out, h.Header())
		}
		out = append(out, h.Lines...)
	}
	return out
}
