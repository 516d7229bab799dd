package convert

import "rehome/formats/session"

// root returns the outermost session above a session, nil if that is not a
// subagent of a session in this store. Parents precede their children.
func (c *sessionConversion) root(s *session.Session) *session.Head {
	if c.migration != nil {
		return nil // a migration has placements
	}
	if c.roots == nil {
		c.roots = map[string]*session.Head{}
	}
	if c.isSubagent(s) {
		c.roots[s.ID] = c.roots[s.Parent.Session]
		return c.roots[s.ID]
	}
	c.roots[s.ID] = &session.Head{ID: s.ID, Agent: s.Agent, Workspace: s.Workspace}
	return nil
}

// isSubagent reports whether a session is a subagent of one that is converted.
func (c *sessionConversion) isSubagent(s *session.Session) bool {
	return s.Parent != nil && s.Parent.Session != s.ID && c.roots[s.Parent.Session] != nil
}

// fileHead returns the head from which a session's file is named: that of a
// subagent is with the outermost session, however deep it was started.
func fileHead(h, root *session.Head) session.Head {
	out := *h
	if root == nil || root.ID == h.ID || h.Parent == nil {
		return out
	}
	up := *h.Parent
	up.Session, out.Parent, out.Workspace = root.ID, &up, root.Workspace
	return out
}
