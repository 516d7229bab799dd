package lineclient

import (
	"slices"
	"strings"

	"rehome/formats/internal/jsonl"
	"rehome/formats/session"
)

// agents are the subagents whose lines are in the file of the session that started them.
type agents struct {
	session string         // its id
	list    []session.Link // by the names that the lines have
	at      map[string]bool
	of      map[string]string // their names by the calls that started them
}

// mine reports whether a line is one of those that are read. The session itself remembers
// the subagents that have the others.
func (o *outline) mine(r *Record) bool {
	name, link := r.agent, r.by
	if name == o.agent {
		return true
	}
	if a := &o.agents; o.agent == "" && !a.at[name] && len(a.list) < maxNamed {
		link.Session = name
		if a.at[name], a.list = true, append(a.list, link); link.Call != "" {
			a.of[link.Call] = name
		}
	}
	return false
}

// kidID returns the id of a subagent in the file of a session.
func kidID(name, of string) string { return name + "@" + of }

// inner reports whether a subagent is wanted that is in the file of another session.
func (c *Client) inner(f *jsonl.File, sel session.Selection) bool {
	return c.Subagent != nil && slices.ContainsFunc(sel.IDs, func(id string) bool { return strings.HasSuffix(id, kidID("", f.ID)) })
}

// kids hands out the subagents that are wanted. The session reports the losses of its file.
func (d *decoder) kids(up *session.Head, list []session.Link, wanted bool, yield func(*session.Session, error) bool) bool {
	for i, kid := range list {
		if !d.sel.Includes(kid.Session) && !(wanted && d.sel.Inner) {
			continue
		}
		of := *d
		of.outline, of.account, of.view.OnLoss = newOutline(d.c), session.Account{}, nil
		of.agent = d.agents.list[i].Session
		h := session.Head{ID: kid.Session, Agent: up.Agent, Title: kid.Title, Workspace: up.Workspace, Bytes: -1,
			Parent: &session.Link{Session: up.ID, Call: kid.Call, Title: up.Title, Kind: kid.Kind}}
		if !yield(of.session(&session.Session{Head: h})) {
			return false
		}
	}
	return true
}

// children returns the subagents by their ids.
func (a *agents) children() (out []session.Link) {
	for _, kid := range a.list {
		kid.Session = kidID(kid.Session, a.session)
		out = append(out, kid)
	}
	return out
}

// link names the subagents that the calls of a message started.
func (a *agents) link(m *session.Message) {
	for _, p := range m.Parts {
		if call, ok := p.(*session.ToolCall); ok && a.of[call.ID] != "" {
			call.Child = kidID(a.of[call.ID], a.session)
		}
	}
}
