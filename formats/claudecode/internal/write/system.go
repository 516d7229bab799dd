package write

import (
	"strings"

	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/internal/object"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// instruction writes a system message. The client has a system prompt of its own, so
// that of the source is kept outside of the conversation. Later messages are
// displayed, but not sent.
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
		if e.branch != "" { // the client adds a line that is not sent to the live branch
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

// informed writes a line that is displayed to the user.
func (e *encoder) informed(m *session.Message, text string) {
	e.chained("system", m.At, func(p *object.Writer) {
		p.Text("subtype", "informational")
		p.Text("content", text)
		p.Flag("isMeta", false)
		p.Text("level", "info")
		e.mark(p, m, nil)
	})
}

// boundary writes a compaction with its summary.
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
	if archived > 0 && e.branch != "" {
		e.note(loss.PartMetadata)
	}
	if archived < 0 && e.parent != "" || e.branch != "" { // a summary without a boundary archives nothing, nor does one on a branch
		if summary != "" {
			e.words(m, []session.Part{&session.Text{Text: summary}}, true, false)
		}
		return
	}
	if summary == "" {
		e.note(loss.SummaryUnknown)
		summary = "The conversation up to here was compacted. Its summary was not kept."
	}
	before := e.parent
	e.parent, e.context.bytes = "", int64(len(summary))
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

// shellTurn is the kind of a turn in which the user ran a command: !ls in Claude
// Code.
const shellTurn = "shell"

// printed writes the output of a command that the user ran, as the client does;
// false if r is something else, or its record has other members.
func (e *encoder) printed(m *session.Message, r *session.ToolResult) bool {
	if !e.shell || r.Call != "" || len(r.Content) > 0 || !outline.Only(r.Value, "stdout", "stderr", "exitCode") {
		return false
	}
	for _, name := range [...]string{"stdout", "stderr"} {
		if v := rawjson.Last(r.Value, name); v != nil && v[0] != '"' {
			return false
		}
	}
	failed := rawjson.TextAt(r.Value, "stderr")
	if code := string(rawjson.Last(r.Value, "exitCode")); code != "" && code != "0" {
		if failed != "" && !strings.HasSuffix(failed, "\n") {
			failed += "\n"
		}
		failed += "Exit code " + code
	}
	e.note(loss.ResultOrphan)
	said := outline.OutputTag + rawjson.TextAt(r.Value, "stdout") + "</bash-stdout><bash-stderr>" + failed + "</bash-stderr>"
	e.words(m, []session.Part{&session.Text{Text: said}}, true, false)
	return true
}

// spelledCommand returns a command as the client writes it; "" if the parts are not
// a command.
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
