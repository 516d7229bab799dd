package sdksession

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"

	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/transcript"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// stream yields the messages of one session.
type stream struct {
	*assembly
	ctx      context.Context
	yield    func(*session.Message, error) bool
	turn     *turnMerge // that the graph is telling
	branch   string     // of the run that is told aside
	parent   string     // of its next message
	at       store.Addr // of that run
	archived bool       // what the graph tells is archived
	added    int        // messages that were put among the archived ones
}

var errStopped = errors.New("the consumer stopped")

// messages is the conversation.
func (a *assembly) messages(ctx context.Context) func(yield func(*session.Message, error) bool) {
	return func(yield func(*session.Message, error) bool) {
		s := &stream{assembly: a, ctx: ctx, yield: yield}
		err := ctx.Err()
		switch {
		case err != nil:
		case a.spine == graphSpine:
			err = s.graphMessages()
		case a.spine == transcriptSpine:
			err = s.transcriptMessages()
		case a.old != nil:
			err = errors.Join(s.runMessages(a.plan.before[0]), s.oldMessages())
		default:
			err = s.runMessages(a.plan.before[0])
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}

// emit hands a message of ours on. One beside the conversation is not sent.
func (s *stream) emit(m *session.Message) error {
	if s.archived {
		m.Archived = true
		s.added++
	}
	if s.branch != "" {
		m.Branch, m.Parent, s.parent = s.branch, s.parent, ""
		if m.Said() {
			s.store.Note(loss.Loss{Code: loss.EventUnsent, At: s.at})
		}
	}
	return s.give(m)
}

func (s *stream) give(m *session.Message) error {
	if !s.yield(m, nil) {
		return errStopped
	}
	return nil
}

// graphMessages tells what the checkpoints tell, and what events add to it.
func (s *stream) graphMessages() error {
	turn, done := -1, false
	finish := func() error {
		if done {
			return nil
		}
		done = true
		if err := s.finishTurn(); err != nil {
			return err
		}
		for i := turn + 1; i < len(s.plan.turns); i++ { // turns of which no message is left
			if r := s.plan.turns[i]; r != nil {
				if err := s.runMessages([]*run{r}); err != nil {
					return err
				}
			}
		}
		if !s.plan.aside {
			return s.runMessages(s.plan.before[0])
		}
		return nil
	}
	for m, err := range s.graph.Messages(s.ctx) {
		if err != nil {
			return err
		}
		if m.Branch != "" {
			if err := finish(); err != nil {
				return err
			}
			if err := s.give(m); err != nil {
				return err
			}
			continue
		}
		if m.Turn != nil {
			if turn++; turn < len(s.plan.turns) {
				if err := s.beginTurn(turn, m); err != nil {
					return err
				}
			}
		}
		if err := s.tell(m); err != nil {
			return err
		}
	}
	if err := finish(); err != nil || !s.plan.aside {
		return err
	}
	return s.asideMessages()
}

// asideMessages tells the runs that the state knows nothing of, each as a branch.
func (s *stream) asideMessages() error {
	for i, runs := range s.plan.before {
		for _, r := range runs {
			s.branch, s.parent, s.at = r.name(), s.graph.Before(i), s.store.address(r)
			if err := s.runMessages([]*run{r}); err != nil {
				return err
			}
		}
	}
	return nil
}

// beginTurn ends the turn in front and looks for the run of the next one.
func (s *stream) beginTurn(i int, m *session.Message) error {
	if err := s.finishTurn(); err != nil {
		return err
	}
	m.Turn.Number = s.plan.first[i]
	r := s.plan.turns[i]
	if r == nil {
		return nil
	}
	t, err := s.load(r)
	if err != nil {
		return err
	}
	s.turn = newTurnMerge(s, t, &s.turns[i])
	t.adorn(m.Turn)
	return nil
}

// load reads what there is of a run but its content.
func (s *stream) load(r *run) (*turnEvents, error) {
	var doc *sdkdoc.RunDoc
	if r.known {
		line, err := s.store.Lines.Line(s.ctx, sdkdoc.Run, r.place)
		if err != nil {
			return nil, err
		}
		if doc = sdkdoc.ReadRun(line); doc != nil {
			s.tally.Add(doc.Account)
		}
	}
	t, err := s.store.fold(s.ctx, r, doc, s.store.Note)
	if err != nil {
		return nil, err
	}
	s.tally.Add(t.tally)
	return t, nil
}

// tell hands on a message of the graph, with what belongs into it or in front.
func (s *stream) tell(m *session.Message) error {
	b := boundary(m)
	if s.turn != nil {
		if err := s.turn.before(m); err != nil {
			return err
		}
		if b != nil && s.turn.answers <= 0 { // it was compacted when it was over
			if err := s.finishTurn(); err != nil {
				return err
			}
		}
	}
	s.archived = m.Archived
	if b != nil {
		b.Archived += s.added
		s.added = 0
	}
	return s.give(m)
}

// boundary is the mark of a compaction, nil if the message is none.
func boundary(m *session.Message) *session.Boundary {
	for _, p := range m.Parts {
		if b, ok := p.(*session.Boundary); ok {
			return b
		}
	}
	return nil
}

func (s *stream) finishTurn() error {
	t := s.turn
	s.turn = nil
	if t == nil {
		return nil
	}
	return t.finish()
}

// runMessages tells runs that the graph knows nothing of. What was never in a
// state was never archived.
func (s *stream) runMessages(runs []*run) error {
	for _, r := range runs {
		s.archived = false
		t, err := s.load(r)
		if err != nil {
			return err
		}
		if err := s.runTurn(t); err != nil {
			return err
		}
	}
	return nil
}

// transcriptMessages tells what the transcript tells; runs without a prompt of
// their own there follow.
func (s *stream) transcriptMessages() error {
	order := make([]*run, len(s.survey.Turns))
	for r, i := range s.prompts {
		order[i] = r
	}
	var fail error
	var next, now *turnEvents
	said := map[sum]bool{}
	begin := func(i int, t *session.Turn) {
		next = nil
		if r := order[i]; r != nil && fail == nil {
			if next, fail = s.load(r); fail == nil {
				t.Number = s.plan.number[r]
				next.adorn(t)
			}
		}
	}
	finish := func() error {
		if now == nil {
			return nil
		}
		return s.result(now, func(want sum) bool { return said[want] })
	}
	for m, err := range s.survey.Messages(s.ctx, begin) {
		if err = errors.Join(err, fail); err != nil {
			return err
		}
		if m.Turn != nil {
			if err := finish(); err != nil {
				return err
			}
			now = next
			clear(said)
		}
		for _, p := range m.Parts {
			if text, ok := p.(*session.Text); ok {
				said[sumOf(text.Text)] = true
			}
		}
		if err := s.give(m); err != nil {
			return err
		}
	}
	if err := finish(); err != nil {
		return err
	}
	return s.runMessages(slices.DeleteFunc(slices.Clone(s.plan.before[0]), func(r *run) bool {
		_, told := s.prompts[r]
		return told
	}))
}

// oldPiece is how much of a transcript in the old form one message carries.
const oldPiece = 64 << 10

// oldMessages carries a transcript that is text as it is.
func (s *stream) oldMessages() error {
	buffer := make([]byte, oldPiece)
	for n := 1; ; n++ {
		got, err := io.ReadFull(s.old.r, buffer)
		if got > 0 {
			m := &session.Message{ID: "text-" + strconv.Itoa(n), Role: session.Assistant, Origin: []string{s.old.f.Path},
				Parts: []session.Part{&session.Opaque{Kind: "transcript text", Raw: session.AppendString(nil, string(buffer[:got])), Source: session.Source{From: transcript.From}}}}
			if err := s.give(m); err != nil {
				return err
			}
		}
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return nil
		case err != nil:
			return err
		}
	}
}
