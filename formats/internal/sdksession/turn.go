package sdksession

import (
	"cmp"
	"slices"
	"strconv"

	"rehome/formats/loss"
	"rehome/formats/session"
)

// adorn completes the record of a turn with what its run knows.
func (t *turnEvents) adorn(to *session.Turn) {
	from := session.Turn{ID: t.run.id, Status: t.state, RequestID: t.request, Error: t.problem, Usage: t.usage}
	if t.doc != nil {
		from = t.doc.Turn
		if from.Usage == nil {
			from.Usage = t.usage
		}
		from.RequestID = cmp.Or(from.RequestID, t.request)
		from.Error = cmp.Or(from.Error, t.problem)
		from.Status = cmp.Or(from.Status, t.state)
	}
	if to.ID != "" && to.ID != from.ID {
		to.Extras = append(to.Extras, extra("id", to.ID))
	}
	to.ID = from.ID
	if to.Model != "" && from.Model != "" && to.Model != from.Model {
		to.Extras = append(to.Extras, extra("modelDisplayName", to.Model))
	}
	to.Model = cmp.Or(from.Model, to.Model)
	to.RequestID = cmp.Or(to.RequestID, from.RequestID)
	to.Status, to.Error = cmp.Or(from.Status, to.Status), cmp.Or(from.Error, to.Error)
	if from.Usage != nil {
		to.Usage = from.Usage
	}
	to.Start, to.End = sooner(from.Start, to.Start), sooner(from.End, to.End)
	to.Extras = append(to.Extras, from.Extras...)
	if t.retries > 0 {
		to.Extras = append(to.Extras, session.Extra{Name: "retries", Raw: strconv.AppendInt(nil, int64(t.retries), 10)})
	}
	if t.doc != nil && t.doc.Number != int64(to.Number) {
		to.Extras = append(to.Extras, session.Extra{Name: "turnNumber", Raw: strconv.AppendInt(nil, t.doc.Number, 10)})
	}
}

// sooner is the time that is stated, or else known.
func sooner(a, b session.Stamp) session.Stamp {
	if !a.Known() || a.Inferred() && b.Known() && !b.Inferred() {
		return b
	}
	return a
}

func extra(name, text string) session.Extra {
	return session.Extra{Name: name, Raw: session.AppendString(nil, text)}
}

// name names the first message of a run, and the branch that it is told in.
func (r *run) name() string { return "run-" + strconv.Itoa(r.ordinal) }

// runTurn tells a run from its events alone.
func (s *stream) runTurn(t *turnEvents) error {
	m := &session.Message{ID: t.run.name(), Role: session.User, Turn: &session.Turn{Number: s.plan.number[t.run]}}
	t.adorn(m.Turn)
	m.At = m.Turn.Start
	if t.run.known {
		m.Origin = []string{s.store.Lines.At(runKind, t.run.place).Short()}
	}
	if err := s.prompt(t, m); err != nil {
		return err
	}
	if err := s.emit(m); err != nil {
		return err
	}
	var rest []int
	for i := range t.items {
		if !t.items[i].done {
			rest = append(rest, i)
		}
	}
	if err := s.say(t, rest); err != nil {
		return err
	}
	said, err := s.transcribed(t)
	if err != nil {
		return err
	}
	return s.result(t, func(want sum) bool { return said[want] })
}

// transcribed tells what only the transcript has of a run: all of it if there
// is no event, else the calls of tools that make none.
func (s *stream) transcribed(t *turnEvents) (said map[sum]bool, err error) {
	i, ok := s.prompts[t.run]
	if !ok {
		return nil, nil
	}
	said = map[sum]bool{}
	mcp := "" // a tool that nobody knows is one of an MCP server, if events tell of any
	if slices.ContainsFunc(t.items, func(it item) bool { return it.name == "mcp" }) {
		mcp = "mcp"
	}
	for m, err := range s.survey.Rest(s.ctx, i) {
		if err != nil {
			return nil, err
		}
		if len(t.items) > 0 {
			m.Parts = slices.DeleteFunc(m.Parts, func(p session.Part) bool {
				call, ok := p.(*session.ToolCall)
				return !ok || slices.Contains(tools[:], cmp.Or(call.Kind, mcp))
			})
			if len(m.Parts) == 0 {
				continue
			}
		}
		for _, p := range m.Parts {
			if text, ok := p.(*session.Text); ok {
				said[sumOf(text.Text)] = true
			}
		}
		if err := s.emit(m); err != nil {
			return nil, err
		}
	}
	return said, nil
}

// tools are the kinds whose calls are told by events.
var tools = [...]string{"shell", "read", "edit", "delete", "glob", "grep", "ls", "readLints", "mcp", "semSearch", "createPlan", "updateTodos", "task", "generateImage", "recordScreen"}

// prompt looks for what the user wrote: in the first event that tells it, or
// else in the transcript.
func (s *stream) prompt(t *turnEvents, m *session.Message) error {
	for i := range t.items {
		it := &t.items[i]
		if it.sort != userItem {
			continue
		}
		it.done = true
		parts, err := s.store.parts(s.ctx, t, it)
		if err != nil {
			return err
		}
		m.Parts = parts
		m.At = it.at
		m.Origin = append(m.Origin, s.store.Lines.At(eventKind, t.run.events[it.first].Place).Short())
		return nil
	}
	if i, ok := s.prompts[t.run]; ok {
		parts, err := s.survey.Prompt(s.ctx, i)
		if err != nil {
			return err
		}
		m.Parts, m.Origin = parts, append(m.Origin, s.survey.At(i))
		s.store.Note(loss.Loss{Code: loss.PromptPlaced, At: s.store.address(t.run)})
		return nil
	}
	s.store.Note(loss.Loss{Code: loss.PromptMissing, At: s.store.address(t.run)})
	return nil
}

// result tells the result of a run where it has not been said.
func (s *stream) result(t *turnEvents, said func(sum) bool) error {
	if t.doc == nil || t.doc.Result == "" {
		return nil
	}
	want := sumOf(t.doc.Result)
	if want.n == 0 || said(want) {
		return nil
	}
	for i := range t.items {
		if t.items[i].sort == textItem && t.items[i].sum == want {
			return nil
		}
	}
	return s.emit(&session.Message{ID: t.run.name() + ".result", Role: session.Assistant, At: t.doc.Turn.End, Origin: []string{s.store.address(t.run).Short()},
		Parts: []session.Part{&session.Text{Text: t.doc.Result, Source: of()}}})
}

// say tells items, by the indexes given: what one response of the model holds is
// one message, the results of its calls follow it.
func (s *stream) say(t *turnEvents, items []int) error {
	for len(items) > 0 {
		n := t.response(items)
		if err := s.response(t, items[:n]); err != nil {
			return err
		}
		items = items[n:]
	}
	return nil
}

// mostParts bounds a message.
const mostParts = 256

// response is how many of the items one message holds. A model thinks, speaks
// and then calls tools; what follows a call is of the same response only if it
// is a call too that came before the others were over.
func (t *turnEvents) response(items []int) int {
	called, over := false, int32(-1)
	for n, i := range items {
		it := &t.items[i]
		switch {
		case n == mostParts:
			return n
		case it.sort == userItem:
			return max(n, 1)
		case it.sort == callItem:
			if called && over >= 0 && over < it.first {
				return n
			}
			called = true
			if it.over {
				over = max(over, it.end)
			} else {
				over = 1<<31 - 1
			}
		case called && it.sort != rawItem && it.sort != oddsItem:
			return n
		}
	}
	return len(items)
}

// response tells some items as one message, and the results of their calls.
func (s *stream) response(t *turnEvents, items []int) error {
	head := &t.items[items[0]]
	m := &session.Message{ID: t.id(head.first), Role: session.Assistant, At: head.at}
	if head.sort == oddsItem {
		m.ID += "-members" // the event itself may be a message of that name
	}
	if head.sort == userItem {
		m.Role = session.User
	} else if t.doc != nil {
		m.Model = t.doc.Turn.Model
	}
	for _, i := range items {
		it := &t.items[i]
		parts, err := s.add(t, m, it)
		if err != nil {
			return err
		}
		m.Parts = append(m.Parts, parts...)
		if it.sort != callItem && it.till.Known() {
			m.End = it.till
		}
	}
	if err := s.emit(m); err != nil {
		return err
	}
	for _, i := range items {
		if err := s.callResult(t, &t.items[i]); err != nil {
			return err
		}
	}
	return nil
}

// add reads an item for a message.
func (s *stream) add(t *turnEvents, m *session.Message, it *item) ([]session.Part, error) {
	it.done = true
	at := s.store.Lines.At(eventKind, t.run.events[it.first].Place).Short()
	if n := len(m.Origin); n == 0 || m.Origin[n-1] != at {
		m.Origin = append(m.Origin, at)
	}
	return s.store.parts(s.ctx, t, it)
}

func (s *stream) callResult(t *turnEvents, it *item) error {
	if it.sort != callItem {
		return nil
	}
	m, err := s.store.resultMessage(s.ctx, t, it)
	if err != nil || m == nil {
		return err
	}
	return s.emit(m)
}
