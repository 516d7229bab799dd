package agentwrite_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"rehome/formats/internal/agentwrite"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// source makes sessions at random: what clients write, and what people make of it who edit
// canonical text.
type source struct {
	*rand.Rand
	calls []string
	odd   bool // also what no client writes
}

func (s *source) pick(list ...string) string { return list[s.IntN(len(list))] }

func (s *source) chance(percent int) bool { return s.IntN(100) < percent }

func (s *source) text() string {
	return s.pick("yes", "a", "b", "two\nlines", "<user_query>\nq\n</user_query>", "<timestamp>now</timestamp>", " padded ", "x\n", "\nx", "</user_query>", "emoji 👩‍👩‍👧", "c\u0085\u2028d",
		fmt.Sprint("text ", s.IntN(1000)), "<system_reminder>\nr\n</system_reminder>\n\nrest") + s.pick("", "", "", "", " half \xed\xa0\xbd", "\n")
}

func (s *source) stamp() session.Stamp {
	switch s.IntN(6) {
	case 0:
		return session.Stamp{}
	case 1:
		return session.Inferred(1700000000000 + s.Int64N(1e6))
	case 2:
		if s.odd {
			return session.Stored(s.Int64N(3) - 1)
		}
	}
	return session.Stored(1700000000000 + s.Int64N(1e6))
}

func (s *source) media() *session.Media {
	m := &session.Media{Mime: s.pick("image/png", "image/jpeg", "application/pdf", "")}
	if s.chance(80) {
		m.Data = []byte{1, 2, byte(s.IntN(3))}
	} else {
		m.URI = s.pick("https://a/b.png", "file:///a")
	}
	if s.chance(20) {
		m.Name = "a.pdf"
	}
	return m
}

func (s *source) injected() *session.Injected {
	in := &session.Injected{Tag: s.pick("user_info", "git_status", "timestamp", "hook", "file", "command-name", "", "bash-stdout"), Text: s.text()}
	switch s.IntN(5) {
	case 0:
		in.Tag, in.Text, in.Data = "file", "", session.Raw(`{"content":"c","path":"/p"}`)
	case 1:
		in.Text, in.Data = "", session.Raw(`{"type":"other","n":[1, 2]}`)
	}
	return in
}

func (s *source) prompt() (parts []session.Part) {
	for range s.IntN(3) {
		parts = append(parts, s.injected())
	}
	for range s.IntN(3) {
		parts = append(parts, &session.Text{Text: s.text()})
	}
	for range s.IntN(2) {
		parts = append(parts, s.media())
	}
	if s.chance(20) {
		s.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	}
	return parts
}

func (s *source) call() *session.ToolCall {
	id := fmt.Sprint("call_", len(s.calls))
	if s.odd && s.chance(10) {
		id = s.pick("", "call_0", "same", "c\xff")
	}
	s.calls = append(s.calls, id)
	c := &session.ToolCall{ID: id, Name: s.pick("Bash", "Read", "mcp__a__b", "Odd tool"), Start: s.stamp(), End: s.stamp()}
	switch s.IntN(5) {
	case 0:
		c.Input = session.Raw(`"a string"`)
	case 1:
	default:
		c.Input = session.Raw(`{"command":"ls","n":1e3}`)
	}
	return c
}

func (s *source) answer() (parts []session.Part) {
	for range 1 + s.IntN(4) {
		switch s.IntN(6) {
		case 0, 1:
			parts = append(parts, &session.Text{Text: s.text()})
		case 2:
			t := &session.Thinking{Text: s.text(), Millis: s.Int64N(2) * 7, Start: s.stamp()}
			if s.chance(20) {
				*t = session.Thinking{Redacted: true, Data: "sealed"}
			}
			parts = append(parts, t)
		case 3, 4:
			parts = append(parts, s.call())
		case 5:
			if s.odd {
				parts = append(parts, s.media())
			}
		}
	}
	return parts
}

func (s *source) result(id string) *session.ToolResult {
	r := &session.ToolResult{Call: id, Error: s.chance(20)}
	for range s.IntN(3) {
		if s.chance(70) {
			r.Content = append(r.Content, &session.Text{Text: s.text()})
		} else {
			r.Content = append(r.Content, &session.Media{Mime: "image/png", Data: []byte{1, byte(s.IntN(3))}})
		}
	}
	return r
}

// session makes a session of whole turns, or of anything at all.
func (s *source) session(agent string) *held {
	h := &held{Session: session.Session{Head: session.Head{ID: "s", Agent: agent, Workspace: "/w", Created: session.Stored(1700000000000)}}}
	add := func(m *session.Message) {
		m.ID = fmt.Sprint("m", len(h.list))
		h.list = append(h.list, m)
	}
	number := 0
	if s.chance(50) {
		add(&session.Message{Role: session.System, Parts: []session.Part{&session.Text{Text: s.text()}}, At: s.stamp()})
	}
	for range 1 + s.IntN(6) {
		if s.odd && s.chance(30) {
			s.strange(add)
		}
		number++
		add(&session.Message{Role: session.User, Turn: &session.Turn{Number: number, RequestID: s.pick("", "r1", fmt.Sprint("r", number)), Mode: s.pick("", "agent"), Start: s.stamp(), End: s.stamp()},
			At: s.stamp(), End: s.stamp(), Simulated: s.chance(10), Parts: s.prompt()})
		for range s.IntN(4) {
			from := len(s.calls)
			add(&session.Message{Role: session.Assistant, At: s.stamp(), End: s.stamp(), Model: s.pick("", "opus"), Parts: s.answer()})
			ids := slices.Clone(s.calls[from:])
			s.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
			for _, id := range ids {
				if s.odd && s.chance(15) {
					continue
				}
				if s.odd && s.chance(15) {
					s.strange(add)
				}
				add(&session.Message{Role: session.Tool, At: s.stamp(), Parts: []session.Part{s.result(id)}})
			}
			if s.chance(10) {
				add(&session.Message{Role: session.User, Simulated: true, At: s.stamp(), Parts: []session.Part{s.injected()}})
			}
		}
	}
	if s.chance(20) {
		s.compact(h, add)
	}
	return h
}

// strange adds a message where no client would.
func (s *source) strange(add func(*session.Message)) {
	m := &session.Message{Role: session.Role(s.pick("user", "assistant", "tool", "system")), At: s.stamp(), Simulated: s.chance(20)}
	for range s.IntN(3) {
		switch s.IntN(6) {
		case 0:
			m.Parts = append(m.Parts, s.answer()...)
		case 1:
			m.Parts = append(m.Parts, s.prompt()...)
		case 2:
			m.Parts = append(m.Parts, s.result(s.pick("call_0", "none", "")))
		case 3:
			m.Parts = append(m.Parts, &session.Opaque{Kind: "odd", Raw: session.Raw(`{"type":"odd"}`)})
		case 4:
			m.Parts = append(m.Parts, &session.Summary{Text: s.text()})
		case 5:
			m.Parts = append(m.Parts, &session.Text{Text: s.text()})
		}
	}
	if s.chance(20) {
		m.Turn = &session.Turn{Number: 9, Kind: s.pick("", "shell", "odd"), Mode: s.pick("", "no mode"), RequestID: s.pick("", "r1")}
	}
	add(m)
}

// compact archives all so far.
func (s *source) compact(h *held, add func(*session.Message)) {
	for i, m := range h.list {
		m.Archived = i > 0 || m.Role != session.System
	}
	add(&session.Message{Role: session.System, Parts: []session.Part{&session.Boundary{Archived: len(h.list)}, &session.Summary{Text: "what was said"}}})
	add(&session.Message{Role: session.User, Turn: &session.Turn{Number: 99}, Parts: []session.Part{&session.Text{Text: "go on"}}})
	add(&session.Message{Role: session.Assistant, Parts: []session.Part{&session.Text{Text: "I do"}}})
}

// reshaped are losses after which messages are others than they were.
func reshaped() []loss.Code {
	return []loss.Code{loss.TextRepaired, loss.ResultOrphan, loss.MessageDivided, loss.TurnUnprompted, loss.MessageReordered, loss.CallIDChanged, loss.ResultMediaNamed, loss.TurnRecord, loss.CallBeforePrompt, loss.PartMetadata, loss.MessageMetadata}
}

// FuzzSessions writes sessions at random. What comes back is the same; what came back once
// comes back again, and is written as the same bytes.
func FuzzSessions(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed, seed%2 == 1)
	}
	f.Fuzz(func(t *testing.T, seed uint64, odd bool) {
		s := &source{Rand: rand.New(rand.NewPCG(seed, 1)), odd: odd}
		h := s.session(s.pick(session.ClaudeCode, session.CursorSDK))
		w := write(t, agentwrite.Options{}, h)
		is := w.read(t, &h.Session)[0]
		if !slices.ContainsFunc(reshaped(), func(c loss.Code) bool { return w.notes[c] > 0 }) {
			same(t, h, is, w)
		}
		if again := write(t, agentwrite.Options{}, h); again.root != w.root || !maps.EqualFunc(again.data, w.data, func(a, b []byte) bool { return string(a) == string(b) }) {
			t.Error("written again, it is another graph")
		}
		is.Agent = session.CursorSDK
		next := write(t, agentwrite.Options{}, is)
		same(t, is, next.read(t, &is.Session)[0], next)
		for c := range next.notes {
			if !slices.Contains([]loss.Code{loss.CallBeforePrompt, loss.NoticeSent, loss.PartMetadata, loss.ResultFromRecord, loss.ArgumentsRepaired, loss.TextRepaired}, c) {
				t.Errorf("written once more, it has losses:\n%s", strings.Join(next.text, "\n"))
				break
			}
		}
	})
}
