package sdksession

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"strings"

	"rehome/formats/internal/toolmap"
	"rehome/formats/internal/transcript"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// copies compares the transcripts of an agent and its subagents with what other sources said.
type copies struct {
	said  map[string]*heard // by the name of a session's file, once it was read to its end
	files []transcript.File
}

// heard is what was said in one session, blanks left out.
type heard struct {
	texts map[sum]bool
}

// listen passes messages on, and keeps what they say.
func (c *copies) listen(id string, from iter.Seq2[*session.Message, error]) iter.Seq2[*session.Message, error] {
	return func(yield func(*session.Message, error) bool) {
		s := &heard{texts: map[sum]bool{}}
		for m, err := range from {
			if err == nil {
				s.hear(m.Parts)
			}
			if !yield(m, err) || err != nil {
				return
			}
		}
		if c.said == nil {
			c.said = map[string]*heard{}
		}
		c.said[transcript.Spell(id)] = s
	}
}

// hear keeps the texts of a message: each, all in one, and thoughts after what was said, as
// transcripts have them.
func (s *heard) hear(parts []session.Part) {
	var all, said, thought sum
	for _, p := range parts {
		if call, ok := p.(*session.ToolCall); ok {
			s.hearCall(call)
			continue
		}
		text := textOf(p)
		all = all.add(text)
		s.texts[sumOf(text)] = true
		if _, ok := p.(*session.Thinking); ok {
			thought = thought.add(text)
		} else {
			said = said.add(text)
		}
	}
	s.texts[all], s.texts[said], s.texts[said.join(thought)] = true, true, true
}

// hearCall keeps the texts in the arguments of a call, from whichever source, and its name.
func (s *heard) hearCall(call *session.ToolCall) {
	s.texts[sumOf(call.Name)], s.texts[sumOf(call.Kind)] = true, true
	for text := range callTexts(call) {
		s.texts[sumOf(text)] = true
	}
}

// callTexts yields the texts in the arguments of a call.
func callTexts(call *session.ToolCall) iter.Seq[string] {
	return func(yield func(string) bool) {
		list := []session.Raw{call.Input, call.Args}
		for _, e := range call.Extras {
			list = append(list, e.Raw)
		}
		for _, raw := range list {
			for text := range session.Strings(raw) {
				if !yield(text) {
					return
				}
			}
		}
	}
}

// has reports whether a text was said, which a transcript has with a mark for each image.
func (s *heard) has(text string) bool {
	for !s.texts[sumOf(text)] {
		rest, ok := strings.CutSuffix(strings.TrimSpace(text), "[Image]")
		if !ok {
			return false
		}
		text = rest
	}
	return true
}

// hasPart reports whether the session says what a part of a transcript says. Where a state has no
// name of a tool, its kind is as good.
func (s *heard) hasPart(p session.Part) bool {
	if call, ok := p.(*session.ToolCall); ok {
		for text := range callTexts(call) {
			if !s.texts[sumOf(text)] {
				return false
			}
		}
		kind := cmp.Or(call.Kind, toolmap.Kind(call.Name))
		return s.texts[sumOf(call.Name)] || kind != "" && s.texts[sumOf(kind)]
	}
	text := textOf(p)
	return text == "" || s.has(text)
}

func textOf(p session.Part) string {
	switch p := p.(type) {
	case *session.Text:
		return p.Text
	case *session.Thinking:
		return p.Text
	case *session.Injected:
		return p.Text
	case *session.Summary:
		return p.Text
	}
	return ""
}

// compare notes the messages of transcripts that no other source has.
func (a *assembly) compare(ctx context.Context) error {
	for _, f := range a.copies.files {
		if s := a.copies.said[f.Name]; s != nil {
			if err := a.compareFile(ctx, f, s); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *assembly) compareFile(ctx context.Context, f transcript.File, s *heard) (err error) {
	r, closer, err := a.store.open(f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closer()) }()
	for e, err := range transcript.Read(ctx, r) {
		if err != nil {
			return err
		}
		for _, p := range e.Parts {
			if !s.hasPart(p) {
				a.tally.Converted--
				a.tally.Unreadable++
				a.store.Note(loss.Loss{Code: loss.CopyDiffers, At: f.Addr(e.Line)})
				break
			}
		}
	}
	return nil
}
