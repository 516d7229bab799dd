package claudecode

import (
	"strings"

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
		if blank(text) {
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
	e.chained("system", m.At, func(p *pen) {
		p.text("subtype", "informational")
		p.text("content", text)
		p.flag("isMeta", false)
		p.text("level", "info")
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
			if !blank(t.Text) {
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
	e.chained("system", m.At, func(p *pen) {
		if before != "" {
			p.text("logicalParentUuid", before)
		}
		p.text("subtype", "compact_boundary")
		p.text("content", "Conversation compacted")
		p.flag("isMeta", false)
		p.text("level", "info")
		p.raw("compactMetadata", []byte(`{"trigger":"auto","preTokens":0}`))
		e.mark(p, m, func(p *pen) { p.num("archived", int64(max(0, archived))) })
	})
	e.begun = true
	e.unit()
	e.chained("user", m.At, func(p *pen) {
		p.name("message")
		p.b = append(p.b, `{"role":"user","content":`...)
		p.b = append(session.AppendString(p.b, summary), '}')
		p.flag("isVisibleInTranscriptOnly", true)
		p.flag("isCompactSummary", true)
	})
}
