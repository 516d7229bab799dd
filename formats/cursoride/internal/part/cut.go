package part

import (
	"bytes"
	"context"
	"slices"

	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/loss"
	"rehome/internal/rawjson"
)

// A list of sessions is one value that speaks of all of them. Of such a row a
// part has what it says of its own sessions: the elements or members of others
// are taken out, and all that stays is byte for byte what it was.

// tables marks the rows of a database's ItemTable that speak of marked sessions.
func (m *marks) tables(ctx context.Context, space *lists.Workspace, s *lists.Database) error {
	if s == nil {
		return nil
	}
	return s.Lists(ctx, func(l lists.List) error {
		return m.item(ctx, s, l.Key, func(b []byte) ([]byte, string) {
			switch l.Kind {
			case lists.ListPane:
				return m.members(b, 0, lists.PaneSession)
			case lists.ListSidebar:
				return m.members(b, 1, func(name string) (string, bool) { return name, true })
			case lists.ListPrompts:
				return m.typedIn(space, l.Number, b)
			case lists.ListCloud:
				return m.cloud(b)
			}
			return m.elements(space, b, l)
		})
	})
}

// item marks a row if it speaks of a marked session, and how it is cut. cut
// returns nil where it does not; and why the row has to stay whole.
func (m *marks) item(ctx context.Context, s *lists.Database, key string, cut func([]byte) (kept []byte, why string)) error {
	f, ok, err := s.Items.Get(ctx, key, lists.MaxValue)
	if err != nil || !ok || f.Bytes == nil {
		return err
	}
	line, _, err := rawjson.Line(f.Bytes)
	if err != nil {
		return nil // no list of anything
	}
	plain, why := cut(line)
	if plain == nil {
		return nil
	}
	m.take(s.File, lists.ItemTable, f.RowID)
	at := s.Addr(lists.ItemTable, key, f.RowID)
	kept, _ := cut(f.Bytes)
	if again, _, err := rawjson.Line(kept); why == "" && (err != nil || !bytes.Equal(again, plain)) {
		why = "it cannot be split by session"
	}
	switch {
	case why != "":
		m.say(at.String() + ": copied in full, including data of other sessions: " + why)
		return nil
	case bytes.Equal(kept, f.Bytes):
		return nil
	}
	m.cuts[itemKey{s.File, key}] = kept
	m.note.Add(loss.Loss{Code: loss.ListTrimmed, At: at})
	return nil
}

type itemKey struct{ file, key string }

// typedIn is what a list of prompts has of the sessions: all of it for that
// which it is itself, else the prompts that are known to be theirs.
func (m *marks) typedIn(space *lists.Workspace, which int, b []byte) (kept []byte, why string) {
	at := slices.IndexFunc(m.Typed, func(h *lists.PromptLists) bool { return h.Workspace == space })
	if at < 0 || b[0] != '[' {
		return nil, ""
	}
	h := m.Typed[at]
	if h.Rest != nil && m.ids[h.Rest.ID] {
		return b, ""
	}
	kept = append(kept, '[')
	for raw := range rawjson.Elements(b) {
		if t := h.Entry(h.Pages[which], 0, raw); t != nil && t.Owner != nil && m.ids[t.Owner.ID] {
			if len(kept) > 1 {
				kept = append(kept, ',')
			}
			kept = append(kept, raw...)
		}
	}
	if len(kept) == 1 {
		return nil, ""
	}
	return append(kept, ']'), ""
}

// elements leaves other sessions' heads out of a list.
func (m *marks) elements(space *lists.Workspace, b []byte, l lists.List) (kept []byte, why string) {
	some, at, n := false, 0, 0
	for name, value := range rawjson.Members(b) {
		if string(name) != l.Member || value[0] != '[' {
			continue
		}
		from := lists.Offset(b, value)
		kept = append(kept, b[at:from+1]...)
		at = from + len(value) - 1
		first := true
		for head := range rawjson.Elements(value) {
			n++
			m.f.SplitBy(head, "", lists.HeadNames())
			of, counted := l.SessionOf(space, &m.f, n)
			if counted && m.ids[of] {
				why = "a tab without an id is identified by its position"
			}
			if !m.ids[of] {
				continue
			}
			some = true
			if !first {
				kept = append(kept, ',')
			}
			kept, first = append(kept, head...), false
		}
	}
	if !some {
		return nil, ""
	}
	return append(kept, b[at:]...), why
}

// members leaves out the members that are named by other sessions. of is the
// session that a name speaks of.
func (m *marks) members(b []byte, depth int, of func(name string) (string, bool)) (kept []byte, why string) {
	if len(b) == 0 || b[0] != '{' {
		return nil, ""
	}
	some, at, first := false, 1, true
	kept = append(kept, '{')
	for name, value := range rawjson.Members(b) {
		from := lists.Offset(b, value)
		lead := bytes.TrimLeft(b[at:from], ", \t\r\n") // the name and the colon
		at = from + len(value)
		if id, ok := of(string(name)); ok && lists.LooksLikeID(id) {
			if !m.ids[id] {
				continue
			}
			some = true
		} else if depth > 0 && value[0] == '{' {
			inner, _ := m.members(value, depth-1, of)
			if inner == nil {
				inner = value
				if m.speaks(value) {
					continue
				}
			} else {
				some = true
			}
			value = inner
		}
		if !first {
			kept = append(kept, ',')
		}
		kept, first = append(append(kept, lead...), value...), false
	}
	if !some {
		return nil, ""
	}
	return append(kept, b[at:]...), ""
}

// speaks reports an object whose members are named by sessions.
func (m *marks) speaks(b []byte) bool {
	for name := range rawjson.Members(b) {
		if lists.LooksLikeID(string(name)) {
			return true
		}
	}
	return false
}

// cloud keeps a record of agents that work elsewhere whole, if one of them is
// marked: what of it is of which is not known.
func (m *marks) cloud(b []byte) (kept []byte, why string) {
	ids := lists.CloudIDs(b)
	if !slices.ContainsFunc(ids, func(id string) bool { return m.ids[id] }) {
		return nil, ""
	}
	if slices.ContainsFunc(ids, func(id string) bool { return !m.ids[id] }) {
		why = "rehome cannot tell which part belongs to which agent"
	}
	return b, why
}
