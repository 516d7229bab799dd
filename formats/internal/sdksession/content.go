package sdksession

import (
	"cmp"
	"context"
	"strings"

	"rehome/formats/internal/members"
	"rehome/formats/internal/toolmap"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// parts are what an item says, read again from its events. The result of a call
// is not among them.
func (s *Store) parts(ctx context.Context, t *turnEvents, it *item) ([]session.Part, error) {
	switch it.sort {
	case callItem:
		return s.callPart(ctx, t, it)
	case rawItem, oddsItem:
		return s.rawPart(ctx, t, it)
	}
	text, err := s.told(ctx, t, it)
	if err != nil {
		return nil, err
	}
	switch it.sort {
	case thoughtItem:
		return []session.Part{&session.Thinking{Text: text, Millis: it.millis, Start: it.at, End: it.till, Source: of()}}, nil
	case summaryItem:
		return []session.Part{&session.Summary{Text: text, Source: of()}}, nil
	}
	return []session.Part{&session.Text{Text: text, Source: of()}}, nil
}

func of() session.Source { return session.Source{From: fromEvents} }

// told joins the deltas of a text.
func (s *Store) told(ctx context.Context, t *turnEvents, it *item) (string, error) {
	kind := it.sort.event()
	var text strings.Builder
	for i, e := range t.run.events[it.first : it.last+1] {
		ev, err := s.event(ctx, e)
		if err != nil {
			return "", err
		}
		if ev != nil && ev.what == kind {
			if i == 0 {
				ev.text = ev.text[min(int(it.skip), len(ev.text)):]
			}
			text.WriteString(ev.text)
		}
	}
	return text.String(), nil
}

func (s *Store) callPart(ctx context.Context, t *turnEvents, it *item) ([]session.Part, error) {
	call := &session.ToolCall{ID: it.call, Name: it.name, Kind: cmp.Or(toolmap.Kind(it.name), it.name), Start: it.at, Source: of()}
	if it.over {
		call.End = it.till
	}
	if it.args >= 0 {
		ev, err := s.event(ctx, t.run.events[it.args])
		if err != nil {
			return nil, err
		}
		if ev != nil && ev.args != nil {
			call.Args = members.Bare("args", ev.args)
		}
	}
	if err := s.earlyArgs(ctx, t, it, call); err != nil {
		return nil, err
	}
	if it.cutArgs {
		call.Extras = append(call.Extras, session.Extra{Name: "truncated.args", Raw: session.Raw("true")})
		s.short(t, it, loss.ArgumentsCut)
	}
	return []session.Part{call}, nil
}

func (s *Store) short(t *turnEvents, it *item, code loss.Code) {
	s.Note(loss.Loss{Code: code, At: s.Lines.At(eventKind, t.run.events[it.last].Place)})
}

// resultMessage is what came of a call, nil if nothing did.
func (s *Store) resultMessage(ctx context.Context, t *turnEvents, it *item) (*session.Message, error) {
	if it.end < 0 {
		return nil, nil
	}
	e := t.run.events[it.end]
	ev, err := s.event(ctx, e)
	if err != nil || ev == nil {
		return nil, err
	}
	r := &session.ToolResult{Call: it.call, Error: it.wrong, Source: of()}
	if ev.result != nil {
		r.Value = members.Bare("result", ev.result)
		r.Status, r.Error = verdict(ev.result, it.wrong)
	}
	if it.cutResult {
		r.Extras = append(r.Extras, session.Extra{Name: "truncated.result", Raw: session.Raw("true")})
		s.short(t, it, loss.ResultCut)
	}
	return &session.Message{ID: t.id(it.end) + "-result", Role: session.Tool, At: ev.At, Parts: []session.Part{r}, Origin: []string{s.Lines.At(eventKind, e.Place).Short()}}, nil
}

// verdict reads {"status":"success","value":{…}}. A command that ran and failed
// is a success to the client; so is a tool of an MCP server that said it failed.
func verdict(result []byte, wrong bool) (word string, failed bool) {
	var o, in members.Object
	if !o.Split(result, "", []string{"status", "value"}) {
		return "", wrong
	}
	word, failed = toolmap.Outcome(o.Text(0))
	failed = failed || wrong
	if in.Split(o.Raw(1), "", []string{"exitCode", "isError"}) {
		failed = failed || in.Int(0, 0) != 0 || in.Flag(1)
	}
	return word, failed
}

// rawPart carries an event, or the members of it that nobody has described.
func (s *Store) rawPart(ctx context.Context, t *turnEvents, it *item) ([]session.Part, error) {
	line, err := s.Lines.Line(ctx, eventKind, t.run.events[it.first].Place)
	if line == nil || err != nil {
		return nil, err
	}
	if it.sort == rawItem {
		return []session.Part{&session.Opaque{Kind: "event", Raw: members.Bare("event", line), Source: of()}}, nil
	}
	s.ev.parse(line)
	b := []byte{'{'}
	for i, x := range s.ev.Extras {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(session.AppendString(b, x.Name), ':'), x.Raw...)
	}
	return []session.Part{&session.Opaque{Kind: "event members", Raw: append(b, '}'), Source: of()}}, nil
}
