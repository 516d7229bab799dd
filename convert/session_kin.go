package convert

import "rehome/formats/session"

// root is the outermost session above one, nil for one that is nobody's
// subagent here. Parents come before their children.
func (c *climb) root(s *session.Session) *session.Head {
	if c.moving != nil {
		return nil // it has goals
	}
	if c.roots == nil {
		c.roots = map[string]*session.Head{}
	}
	if c.belongs(s) {
		c.roots[s.ID] = c.roots[s.Parent.Session]
		return c.roots[s.ID]
	}
	c.roots[s.ID] = &session.Head{ID: s.ID, Agent: s.Agent, Workspace: s.Workspace}
	return nil
}

// belongs reports whether a session is a subagent of one that is carried.
func (c *climb) belongs(s *session.Session) bool {
	return s.Parent != nil && s.Parent.Session != s.ID && c.roots[s.Parent.Session] != nil
}

// filed is a session's head as its file is named: that of a subagent lies with
// the outermost session, however deep it was started.
func filed(h, root *session.Head) session.Head {
	out := *h
	if root == nil || root.ID == h.ID || h.Parent == nil {
		return out
	}
	up := *h.Parent
	up.Session, out.Parent, out.Workspace = root.ID, &up, root.Workspace
	return out
}
