package agentstate

import (
	"context"
	"strings"

	"rehome/formats/session"
)

// archive is a ConversationSummaryArchive: messages that the model no longer sees, and the
// summary that replaces them.
type archive struct {
	id       ID
	messages []ID
	summary  ID   // a prompt message; zero if there is none
	extra    []ID // further prompt messages that are summaries
}

// outlineLines outlines the prompt messages: the archived ones first, with a boundary
// after each archive, then the live ones.
func (s *State) outlineLines(ctx context.Context) error {
	prompts := s.root.prompts
	s.root.prompts = nil // the lines hold the ids
	s.lines = make([]line, 0, len(prompts)+len(s.root.archives))
	leading := len(s.root.archives) > 0
	for leading && len(prompts) > 0 {
		var lines []line
		if err := s.outlinePrompt(ctx, prompts[0], 0, func(l line) { lines = append(lines, l) }); err != nil {
			return err
		}
		prompts = prompts[1:]
		for i, l := range lines {
			if leading = l.role == systemRole; !leading {
				return s.outlineArchives(ctx, lines[i:], prompts)
			}
			s.addLine(l)
		}
	}
	return s.outlineArchives(ctx, nil, prompts)
}

// outlineArchives outlines the archives, then the live messages: those already outlined,
// and the remaining references.
func (s *State) outlineArchives(ctx context.Context, live []line, prompts []ID) error {
	seen := map[ID]bool{}
	told := toldFirst{map[ID]bool{}, map[ID]bool{}}
	for i := range s.lines {
		told.leading[s.lines[i].id] = true
	}
	for _, id := range s.root.archives {
		if seen[id] {
			continue // the newer list repeats what the older field holds
		}
		seen[id] = true
		if err := s.outlineArchive(ctx, id, &told); err != nil {
			return err
		}
	}
	for _, l := range live {
		s.addLine(l)
	}
	for _, id := range prompts {
		if err := s.outlinePrompt(ctx, id, 0, s.addLine); err != nil {
			return err
		}
	}
	if l, ok := s.rootTail(); ok {
		s.addLine(l)
	}
	return nil
}

// addLine adds a message. A summary is added only at the end of the archive that it
// replaces.
func (s *State) addLine(l line) {
	if !l.summary {
		s.lines = append(s.lines, l)
		return
	}
	if n := len(s.archives); n > 0 {
		a := &s.archives[n-1]
		if a.summary != l.id {
			a.extra = append(a.extra, l.id)
		}
		return
	}
	l.boundary = true
	s.lines = append(s.lines, l)
}

// toldFirst are prompt messages that archives need not repeat: the summaries of earlier
// archives, and the leading system prompts.
type toldFirst struct{ summaries, leading map[ID]bool }

func (s *State) outlineArchive(ctx context.Context, id ID, told *toldFirst) error {
	b, err := s.read(ctx, id, "archive of messages")
	if b == nil || err != nil {
		return err
	}
	s.ledger.mark(id, claimed)
	fields := codecs().archive.Decode(b)
	a := archive{id: id, messages: fields.Messages, summary: fields.Summary}
	for _, m := range a.messages {
		if told.summaries[m] {
			continue
		}
		err := s.outlinePrompt(ctx, m, 0, func(l line) {
			if l.role != systemRole || !told.leading[m] {
				l.archived = true
				s.addLine(l)
			}
		})
		if err != nil {
			return err
		}
	}
	s.lines = append(s.lines, line{id: id, boundary: true, archive: int32(len(s.archives)), turn: -1, asked: -1, from: int32(len(s.parts)), to: int32(len(s.parts))})
	s.archives = append(s.archives, a)
	if a.summary != (ID{}) {
		told.summaries[a.summary] = true
	}
	return nil
}

// boundary returns the message that marks where the conversation was compacted.
func (s *State) boundary(ctx context.Context, p *planned, archived int) (*session.Message, error) {
	l := &s.lines[p.line]
	m := &session.Message{Role: session.System, Origin: s.origin(l.id)}
	mark := &session.Boundary{Archived: archived}
	m.Parts = append(m.Parts, mark)
	if l.archive < 0 {
		return m, s.addSummary(ctx, m, l.id, "")
	}
	a := &s.archives[l.archive]
	b, err := s.read(ctx, a.id, "archive of messages")
	if err != nil {
		return nil, err
	}
	fields := codecs().archive.Decode(b)
	text := s.text(fields.Text, "summary", &mark.Extras)
	mark.Extras = append(mark.Extras, s.keep(codecs().archive.Message, &fields.Unknown)...)
	if several, err := s.joins(ctx, a.summary, text); err != nil || several {
		text = "" // each of them follows
	}
	if text != "" {
		m.Parts = append(m.Parts, &session.Summary{Text: text})
	}
	if a.summary != (ID{}) {
		if err := s.addSummary(ctx, m, a.summary, text); err != nil {
			return nil, err
		}
	}
	for _, id := range a.extra {
		if err := s.addSummary(ctx, m, id, text); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// BetweenSummaries stands in an archive between the summaries of one compaction.
const BetweenSummaries = "\n\n"

// joins reports whether an archive's text is several of the prompt message that has its summary.
func (s *State) joins(ctx context.Context, id ID, text string) (bool, error) {
	if id == (ID{}) || !strings.Contains(text, BetweenSummaries) {
		return false, nil
	}
	doc, err := s.prompt(ctx, &line{id: id})
	if doc == nil || err != nil {
		return false, err
	}
	d := s.parseDoc(doc)
	var texts []string
	for _, part := range s.docParts(&d, s.only()) {
		if t, ok := part.(*session.Text); ok {
			texts = append(texts, t.Text)
		}
	}
	return len(texts) > 1 && strings.Join(texts, BetweenSummaries) == text, nil
}

// addSummary adds what a prompt message says in place of archived ones, unless the archive
// says the same.
func (s *State) addSummary(ctx context.Context, m *session.Message, id ID, said string) error {
	doc, err := s.prompt(ctx, &line{id: id})
	if doc == nil || err != nil {
		return err
	}
	s.ledger.mark(id, claimed)
	d := s.parseDoc(doc)
	m.Extras = append(m.Extras, d.extras...)
	d.mark.times(m)
	for _, part := range s.docParts(&d, s.only()) {
		t, ok := part.(*session.Text)
		switch {
		case ok && same(t.Text, said) && len(t.Extras) == 0:
		case ok:
			m.Parts = append(m.Parts, &session.Summary{Text: t.Text, Source: t.Source, Extras: t.Extras})
		default:
			m.Parts = append(m.Parts, part)
		}
	}
	m.Origin = append(m.Origin, s.origin(id)...)
	return nil
}
