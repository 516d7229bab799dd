package formatstest

import (
	"encoding/json"
	"fmt"
	"testing"
)

// placed: each part is in a message of the role that says such parts, a result follows its
// call, a boundary counts what it archives, and messages and branches that are named exist.
//
// Canonical text may have a boundary without what it archives.
func placed(t *testing.T, format string, lines []string) {
	p := places{format: format, seen: map[string]bool{"": true}, calls: map[string]bool{}, branches: map[string]bool{"": true}}
	for _, line := range lines {
		var m placedLine
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Errorf("%v: %.200s", err, line)
			continue
		}
		for _, b := range m.Branches {
			p.branches[b.Name] = true
			p.from = append(p.from, b.From)
		}
		if m.Type == "message" {
			p.message(t, m)
		}
	}
	for _, id := range p.from {
		if !p.seen[id] {
			t.Errorf("a branch follows %q, which is not a message", id)
		}
	}
	if p.archived != 0 {
		t.Errorf("%d messages are archived, and no boundary follows", p.archived)
	}
}

type placedLine struct {
	Type, ID, Branch, Role string
	Parent                 any // of a message, the one before it
	Archived, Simulated    bool
	Branches               []struct{ Name, From string }
	Parts                  []struct {
		Type, ID, Call string
		Archived       int
	}
}

type places struct {
	format                string
	seen, calls, branches map[string]bool
	from                  []string
	archived              int // since the last boundary
}

// speakers are the roles whose messages have a kind of part; other kinds are in any.
var speakers = map[string]string{"tool_call": "assistant", "thinking": "assistant", "tool_result": "tool", "boundary": "system"}

func (p *places) message(t *testing.T, m placedLine) {
	switch {
	case !p.branches[m.Branch]:
		t.Errorf("message %s is of branch %q, which the session does not have", m.ID, m.Branch)
	case m.Parent != nil && !p.seen[fmt.Sprint(m.Parent)]:
		t.Errorf("message %s follows %q, which is not before it", m.ID, m.Parent)
	}
	p.seen[m.ID] = true
	for _, part := range m.Parts {
		switch part.Type {
		case "tool_call":
			p.calls[part.ID] = true
		case "tool_result":
			if part.Call != "" && !p.calls[part.Call] {
				t.Errorf("message %s has a result of %q, which is not before it", m.ID, part.Call)
			}
		case "boundary":
			if part.Archived != p.archived && (p.archived != 0 || p.format != "canonical") {
				t.Errorf("message %s says that it archives %d messages, not %d", m.ID, part.Archived, p.archived)
			}
			p.archived = 0
		}
		if !m.Simulated && (part.Type == "summary" && m.Role != "system" || part.Type == "opaque" && len(m.Parts) == 1 && m.Role == "user") {
			t.Errorf("message %s of role %s is %s, which nobody said", m.ID, m.Role, part.Type)
		}
		if who := speakers[part.Type]; who != "" && who != m.Role {
			t.Errorf("message %s of role %s has a part %s", m.ID, m.Role, part.Type)
		}
	}
	if m.Archived && m.Branch == "" {
		p.archived++
	}
}
