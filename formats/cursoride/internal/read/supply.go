package read

import (
	"bytes"
	"context"

	"rehome/formats/internal/members"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// supply is what the agent's own state has of a turn. The order is that of the bubbles:
// only what they lack is taken from here.
type supply struct {
	prompt  []session.Part
	texts   []*session.Text
	calls   []*session.ToolCall
	callOf  map[string]*session.ToolCall // the first of an id
	textOf  map[string]string            // of thoughts, by their signatures
	results map[string]*session.ToolResult

	said  map[string]bool // texts and calls that bubbles have
	spent bool            // what no bubble has was returned
}

// lacks reports whether a bubble no longer holds everything that its session once had.
func (b *bubble) lacks() bool {
	if b.body == nil {
		return true
	}
	if raw := b.f.Raw(bubThinking); len(raw) > 0 && raw[0] == '{' && rawjson.TextAt(raw, "text") == "" && rawjson.Last(raw, "signature") != nil {
		return true
	}
	raw := b.f.Full(bubTool)
	if raw == nil {
		return false
	}
	var args, result bool
	for name, v := range rawjson.Members(raw) {
		switch string(name) {
		case "rawArgs", "params":
			args = args || !members.Empty(v)
		case "result":
			result = !members.Empty(v)
		}
	}
	return !args || !result
}

// supply sets what the agent's state has of the turn of a batch, if the bubbles lack
// something and there is such a state.
func (c *Chat) supply(ctx context.Context, b *batch) error {
	if b.run.name != "" { // the state holds the live turns
		return nil
	}
	lacks := false
	for _, bub := range b.bubbles {
		lacks = lacks || bub.lacks()
	}
	if !lacks || c.state == "" && c.newest == "" {
		return nil
	}
	if c.agent == nil {
		a, err := c.openAgent(ctx)
		if err != nil {
			return err
		}
		if a == nil {
			c.state, c.newest = "", ""
			return nil
		}
		c.agent = a
	}
	turn := c.agent.match(b)
	if turn < 0 {
		return nil
	}
	s, err := c.agent.gather(turn)
	if s == nil || err != nil {
		return err
	}
	for _, bub := range b.bubbles {
		s.markSeen(bub)
		bub.state = s
	}
	return nil
}

// gather reads the agent's messages up to a turn and through it.
func (a *agent) gather(turn int) (*supply, error) {
	if a.last != nil && turn == a.lastTurn {
		return a.last, nil
	}
	s := &supply{callOf: map[string]*session.ToolCall{}, textOf: map[string]string{}, results: map[string]*session.ToolResult{}, said: map[string]bool{}}
	for {
		m := a.held
		a.held = nil
		if m == nil {
			var err error
			var ok bool
			if m, err, ok = a.next(); err != nil {
				return nil, err
			} else if !ok {
				break
			}
			if m.Turn != nil {
				a.seen++
			}
			if a.seen-1 > turn {
				a.held = m
				break
			}
		}
		if a.seen-1 == turn {
			s.add(m)
		}
	}
	a.past, a.last, a.lastTurn = turn, s, turn
	return s, nil
}

// add keeps the parts of a message, which is valid until the next one.
func (s *supply) add(m *session.Message) {
	for _, p := range m.Parts {
		switch p := p.(type) {
		case *session.Text:
			t := &session.Text{Text: p.Text, Source: session.Source{From: fromState}}
			if m.Role == session.User {
				s.prompt = append(s.prompt, t)
			} else if m.Role == session.Assistant {
				s.texts = append(s.texts, t)
			}
		case *session.Media:
			if m.Role == session.User {
				s.prompt = append(s.prompt, &session.Media{Mime: p.Mime, Name: p.Name, URI: p.URI, Data: bytes.Clone(p.Data), Source: session.Source{From: fromState}})
			}
		case *session.Thinking:
			if s.textOf[p.Signature] == "" {
				s.textOf[p.Signature] = p.Text
			}
		case *session.ToolCall:
			t := *p
			t.Input, t.Args, t.Extras, t.From = bytes.Clone(p.Input), bytes.Clone(p.Args), nil, fromState
			s.calls = append(s.calls, &t)
			if s.callOf[t.ID] == nil {
				s.callOf[t.ID] = &t
			}
		case *session.ToolResult:
			t := *p
			t.Value, t.Extras, t.From, t.Content = bytes.Clone(p.Value), nil, fromState, nil
			for _, part := range p.Content {
				if text, ok := part.(*session.Text); ok {
					t.Content = append(t.Content, &session.Text{Text: text.Text})
				}
			}
			s.results[p.Call] = &t
		}
	}
}

// markSeen records what a bubble holds.
func (s *supply) markSeen(b *bubble) {
	s.said[rawjson.Text(b.f.Raw(bubText))] = true
	s.said[rawjson.TextAt(b.f.Raw(bubTool), "toolCallId")] = true
}

// tool fills in what a bubble lacks of a call.
func (s *supply) tool(t *tool) {
	if s == nil {
		return
	}
	if c := s.callOf[t.call.ID]; c != nil {
		if t.call.Input == nil && t.call.Args == nil {
			t.call.Input, t.call.Args, t.call.From = c.Input, c.Args, fromState
			if t.call.Name == NoName {
				t.call.Name, t.call.Kind = c.Name, c.Kind
			}
		}
		if !t.call.Start.Known() {
			t.call.Start = c.Start
		}
	}
	r := s.results[t.call.ID]
	if r == nil {
		return
	}
	if t.result == nil {
		t.result = r
	} else if t.result.Value == nil {
		t.result.Value, t.result.From = r.Value, fromState
		if len(t.result.Content) == 0 {
			t.result.Content = r.Content
		}
	}
}

// thought finds the text of reasoning by the signature in a bubble.
func (s *supply) thought(t *session.Thinking) {
	if s == nil || t.Text != "" || t.Signature == "" {
		return
	}
	if text := s.textOf[t.Signature]; text != "" {
		t.Text, t.From = text, fromState
	}
}

// unmatched returns, once, what the agent's state has of a turn and no bubble does, if
// the first bubble is missing.
func (s *supply) unmatched() (parts []session.Part, results []*session.ToolResult) {
	if s == nil || s.spent {
		return nil, nil
	}
	s.spent = true
	for _, t := range s.texts {
		if !s.said[t.Text] {
			parts = append(parts, t)
		}
	}
	for _, c := range s.calls {
		if s.said[c.ID] {
			continue
		}
		parts = append(parts, c)
		if r := s.results[c.ID]; r != nil {
			results = append(results, r)
		}
	}
	return parts, results
}
