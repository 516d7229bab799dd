package write

import (
	"strings"

	"rehome/formats/claudecode/internal/object"
	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/internal/rawjson"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// instruction writes what a system message says. The client has a system prompt
// of its own: the source's is kept beside the conversation, and what came later
// is shown to people, but not sent.
func (e *encoder) instruction(m *session.Message, run []session.Part) {
	for _, p := range run {
		var text string
		switch t := p.(type) {
		case *session.Text:
			text = t.Text
			e.extras(t.Extras)
		case *session.Injected:
			text = e.injected(t)
		default:
			e.note(loss.PartUntranslatable)
			continue
		}
		if outline.Blank(text) {
			continue
		}
		if e.branch != "" { // a line that is not sent is taken for one of the live branch
			e.note(loss.BranchNotice)
			continue
		}
		e.note(loss.SystemPromptUnsent)
		if !e.begun {
			e.system = append(e.system, text)
			continue
		}
		head := session.Message{ID: m.ID, Model: m.Model, At: m.At}
		e.later(len(text), func() { e.informed(&head, text) })
	}
}

// informed is a line that people are shown.
func (e *encoder) informed(m *session.Message, text string) {
	e.chained("system", m.At, func(p *object.Writer) {
		p.Text("subtype", "informational")
		p.Text("content", text)
		p.Flag("isMeta", false)
		p.Text("level", "info")
		e.mark(p, m, nil)
	})
}

// boundary writes where the client compacted, and the summary that it went on
// with.
func (e *encoder) boundary(m *session.Message, run []session.Part) {
	var texts []string
	archived := -1
	for _, p := range run {
		switch t := p.(type) {
		case *session.Boundary:
			archived = t.Archived
			e.extras(t.Extras)
		case *session.Summary:
			if !outline.Blank(t.Text) {
				texts = append(texts, t.Text)
			}
			e.extras(t.Extras)
		}
	}
	summary := strings.Join(texts, "\n\n")
	if e.b.FullHistory {
		if summary != "" {
			e.note(loss.SummaryUnused)
		}
		return
	}
	if archived < 0 && e.parent != "" || e.branch != "" { // a summary alone hides nothing, and a branch has nothing to hide
		if summary != "" {
			e.words(m, []session.Part{&session.Text{Text: summary}}, true)
		}
		return
	}
	if summary == "" {
		e.note(loss.SummaryUnknown)
		summary = "The conversation up to here was compacted. Its summary was not kept."
	}
	before := e.parent
	e.parent = ""
	e.chained("system", m.At, func(p *object.Writer) {
		if before != "" {
			p.Text("logicalParentUuid", before)
		}
		p.Text("subtype", "compact_boundary")
		p.Text("content", "Conversation compacted")
		p.Flag("isMeta", false)
		p.Text("level", "info")
		p.Raw("compactMetadata", []byte(`{"trigger":"auto","preTokens":0}`))
		e.mark(p, m, func(p *object.Writer) { p.Num("archived", max(0, archived)) })
	})
	e.begun = true
	e.unit()
	e.chained("user", m.At, func(p *object.Writer) {
		p.Name("message")
		p.B = append(p.B, `{"role":"user","content":`...)
		p.B = append(session.AppendString(p.B, summary), '}')
		p.Flag("isVisibleInTranscriptOnly", true)
		p.Flag("isCompactSummary", true)
	})
}

// shellTurn is the kind of a turn that is a command of the user's own: !ls in
// Claude Code.
const shellTurn = "shell"

// printed writes what a user's own command printed, as the client does; false if
// it is none, or its record says more than that.
func (e *encoder) printed(m *session.Message, r *session.ToolResult) bool {
	if !e.shell || r.Call != "" || len(r.Content) > 0 || !outline.Only(r.Value, "stdout", "stderr", "exitCode") {
		return false
	}
	for _, name := range [...]string{"stdout", "stderr"} {
		if v := rawjson.Last(r.Value, name); v != nil && v[0] != '"' {
			return false
		}
	}
	failed := outline.Text(r.Value, "stderr")
	if code := string(rawjson.Last(r.Value, "exitCode")); code != "" && code != "0" {
		if failed != "" && !strings.HasSuffix(failed, "\n") {
			failed += "\n"
		}
		failed += "Exit code " + code
	}
	e.note(loss.ResultOrphan)
	said := outline.OutputTag + outline.Text(r.Value, "stdout") + "</bash-stdout><bash-stderr>" + failed + "</bash-stderr>"
	e.words(m, []session.Part{&session.Text{Text: said}}, true)
	return true
}

// spelledCommand is a command as the client spells it; "" if the parts are none.
func spelledCommand(parts []session.Part) string {
	var out []string
	for _, p := range parts {
		t, ok := p.(*session.Injected)
		if !ok || !outline.IsCommandTag(t.Tag) || len(t.Data) > 0 {
			return ""
		}
		out = append(out, "<"+t.Tag+">"+t.Text+"</"+t.Tag+">")
	}
	if len(out) == 0 {
		return ""
	}
	return strings.Join(out, outline.CommandSeparator(parts[0].(*session.Injected).Tag))
}
