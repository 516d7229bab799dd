package agentstate

import (
	"bytes"
	"context"
	"hash/maphash"
	"slices"
	"strings"

	"rehome/formats/internal/envelope"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

func same(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) }

// typed adds the content of a user's prompt message, with context separated from the
// prompt. said is the prompt if the turn has it already.
func (s *State) typed(m *session.Message, d *doc, said *session.Text) {
	of := s.only()
	add := func(t *session.Text) {
		for _, piece := range envelope.Split(t.Text) {
			switch {
			case !piece.Prompt():
				if piece.Tag == envelope.Clock && !m.At.Known() {
					m.At = clock(piece.Text)
				}
				m.Parts = append(m.Parts, &session.Injected{Tag: piece.Tag, Text: piece.Text, Source: of, Extras: t.Extras})
			case said != nil && same(piece.Text, said.Text):
				said.Extras = append(said.Extras, t.Extras...)
			default:
				m.Parts = append(m.Parts, &session.Text{Text: piece.Text, Source: of, Extras: t.Extras})
			}
			t.Extras = nil
		}
		if t.Extras != nil {
			m.Extras = append(m.Extras, t.Extras...)
		}
	}
	if rawjson.IsText(d.content) {
		add(&session.Text{Text: rawjson.Text(d.content)})
		return
	}
	have := album{}
	for _, p := range m.Parts {
		if t, ok := p.(*session.Media); ok {
			have.add(s.seed, t)
		}
	}
	for _, part := range s.docParts(d, of) {
		switch t := part.(type) {
		case *session.Text:
			if d.whole[t] {
				m.Parts = append(m.Parts, t)
			} else {
				add(t)
			}
		case *session.Media:
			if d.mark.parts || !have.has(s.seed, t) {
				have.add(s.seed, t)
				m.Parts = append(m.Parts, t)
			}
		default:
			m.Parts = append(m.Parts, part)
		}
	}
}

// maxAlike is how many images with equal hashes are compared.
const maxAlike = 16

// album holds the images of a message by a hash of their bytes.
type album map[uint64][]*session.Media

func (a album) add(seed maphash.Seed, m *session.Media) {
	if key := maphash.Bytes(seed, m.Data); m.Data != nil && len(a[key]) < maxAlike {
		a[key] = append(a[key], m)
	}
}

// has reports whether the album holds an image already.
func (a album) has(seed maphash.Seed, t *session.Media) bool {
	return t.Name == "" && t.Extras == nil && slices.ContainsFunc(a[maphash.Bytes(seed, t.Data)], func(m *session.Media) bool {
		return bytes.Equal(m.Data, t.Data) && (t.Mime == "" || t.Mime == m.Mime)
	})
}

// userMessage returns the message that a turn begins with.
func (s *State) userMessage(ctx context.Context, p *planned) (*session.Message, error) {
	t := &s.turns[p.turn]
	m := &session.Message{Role: session.User, Turn: &session.Turn{}}
	if err := s.turnRecord(ctx, t, m.Turn); err != nil {
		return nil, err
	}
	said, media, attached, err := s.prompter(ctx, t, m)
	if err != nil {
		return nil, err
	}
	if p.line >= 0 {
		l := &s.lines[p.line]
		b, err := s.prompt(ctx, l)
		if err != nil {
			return nil, err
		}
		if b != nil {
			s.wrapped(m, b, l, said, media, attached)
			return m, nil
		}
	}
	m.Parts = append(m.Parts, attached...)
	if said != nil {
		m.Parts = append(m.Parts, said)
	}
	m.Parts = append(m.Parts, media...)
	return m, nil
}

// wrapped adds what the prompt message of a turn holds besides the prompt.
func (s *State) wrapped(m *session.Message, b []byte, l *line, said *session.Text, media, attached []session.Part) {
	d := s.parseDoc(b)
	sent := &session.Message{}
	if d.mark.parts {
		s.typed(sent, &d, nil)
		parts := ordered(sent.Parts, media)
		n := 0
		for n < len(parts) && isInjected(parts[n]) {
			n++
		}
		m.Parts = slices.Concat(parts[:n], attached, parts[n:])
	} else {
		sent.Parts = append([]session.Part(nil), media...)
		s.typed(sent, &d, said)
		rest := sent.Parts[len(media):]
		for _, p := range rest {
			if isInjected(p) {
				m.Parts = append(m.Parts, p)
			}
		}
		m.Parts = append(m.Parts, attached...)
		if said != nil {
			m.Parts = append(m.Parts, said)
		}
		for _, p := range rest {
			if !isInjected(p) {
				m.Parts = append(m.Parts, p)
			}
		}
		m.Parts = append(m.Parts, media...)
	}
	if !m.At.Known() {
		m.At = sent.At
	}
	m.Origin = append(s.origin(l.id), m.Origin...)
	m.Extras = append(m.Extras, sent.Extras...)
	if d.mark.anonymous {
		m.Extras = slices.DeleteFunc(m.Extras, func(e session.Extra) bool { return e.Name == "messageId" })
	}
	s.finish(m, &d)
	if d.mark.shell {
		m.Turn.Kind = ShellTurn
	}
	switch {
	case d.request == "" || d.request == m.Turn.RequestID:
	case m.Turn.RequestID == "":
		m.Turn.RequestID = d.request
	default:
		m.Extras = append(m.Extras, session.Extra{Name: "providerOptions.cursor.requestId", Raw: quoted(d.request)})
	}
}

func isInjected(p session.Part) bool {
	_, ok := p.(*session.Injected)
	return ok
}

// ordered returns the parts of a prompt message, with the images and files of the turn in
// the place of its own, which are the same without their addresses.
func ordered(parts, media []session.Part) []session.Part {
	for i, p := range parts {
		if _, ok := p.(*session.Media); ok && len(media) > 0 {
			parts[i], media = media[0], media[1:]
		}
	}
	return append(parts, media...)
}

// turnRecord sets what is known of a turn as a whole.
func (s *State) turnRecord(ctx context.Context, t *turnLine, turn *session.Turn) error {
	turn.RequestID, turn.Model, turn.Start, turn.End = t.request, t.model, t.start, t.end
	if t.shell {
		turn.Kind = ShellTurn
	}
	if t.spoiled || t.id == (ID{}) {
		return nil
	}
	b, err := s.read(ctx, t.id, "turn")
	if b == nil || err != nil {
		return err
	}
	again := *t
	s.parseTurn(&again, b, &turn.Extras)
	return nil
}

// prompter reads the message that a turn begins with: the prompt, images, and other
// attachments.
func (s *State) prompter(ctx context.Context, t *turnLine, m *session.Message) (said *session.Text, media, attached []session.Part, err error) {
	if t.user == (ID{}) {
		if s.asked != nil {
			said = &session.Text{Text: s.text(s.asked, "prompt", &m.Extras)}
		}
		m.Origin = s.origin(t.id)
		if t.id == (ID{}) {
			m.Origin = s.origin(s.root.id)
		}
		return said, nil, nil, nil
	}
	m.Origin = s.origin(t.user)
	b, err := s.read(ctx, t.user, "user message")
	if b == nil || err != nil {
		return nil, nil, nil, err
	}
	if t.shell {
		u := codecs().command.Decode(b)
		said = &session.Text{}
		said.Text = s.text(u.Text, "command", &said.Extras)
		m.Extras = s.keep(codecs().command.Message, &u.Unknown)
		return said, nil, nil, nil
	}
	u := s.reused.user.Decode(b)
	said = &session.Text{}
	hooks := s.userFields(u, said, m)
	context := bytes.Clone(u.Context)
	if err := s.userBlobs(ctx, u, said, m); err != nil {
		return nil, nil, nil, err
	}
	media, attached, err = s.attachments(ctx, context)
	if said.Text == "" && said.Extras == nil {
		said = nil
	}
	return said, media, append(attached, hooks...), err
}

// userFields takes what the UserMessage itself holds.
func (s *State) userFields(u *userMessage, said *session.Text, m *session.Message) (hooks []session.Part) {
	c := codecs().user
	said.Text = s.text(u.Text, "text", &said.Extras)
	m.Simulated = u.Simulated
	for b := range u.Hooks.All() {
		hooks = append(hooks, s.hook(b))
	}
	c.Release(u, "messageId") // it is kept as an extra
	if m.Turn.Mode = word(c.Message, "mode", u.Mode); m.Turn.Mode == "" {
		c.Release(u, "mode")
	}
	if at := stored(u.Started); at.Known() {
		m.At = at
	} else {
		c.Release(u, "startedAtMs")
	}
	if m.End = stored(u.Completed); !m.End.Known() {
		c.Release(u, "completedAtMs")
	}
	m.Extras = append(m.Extras, s.keep(c.Message, &u.Unknown)...)
	return hooks
}

// hook decodes a HookAdditionalContext.
func (s *State) hook(b []byte) *session.Injected {
	c := codecs().hook
	m := c.Decode(b)
	in := &session.Injected{Tag: "hook"}
	in.Text = s.text(m.Text, "content", &in.Extras)
	in.Extras = append(in.Extras, s.keep(c.Message, &m.Unknown)...)
	return in
}

// userBlobs reads the texts that are blobs of their own.
func (s *State) userBlobs(ctx context.Context, u *userMessage, said *session.Text, m *session.Message) error {
	if u.TextBlob != (ID{}) {
		b, err := s.read(ctx, u.TextBlob, "user text")
		if err != nil {
			return err
		}
		if b != nil {
			s.ledger.mark(u.TextBlob, claimed)
			text := s.text(b, "textBlob", &said.Extras)
			if said.Text == "" {
				said.Text = text
			} else if said.Text != text {
				said.Extras = append(said.Extras, session.Extra{Name: "textBlob", Raw: quoted(text)})
			}
		}
	}
	if u.RichBlob != (ID{}) {
		extras, err := s.aside(ctx, u.RichBlob, "richTextBlob", "rich text of a user")
		if err != nil {
			return err
		}
		m.Extras = append(m.Extras, extras...)
	}
	return nil
}
