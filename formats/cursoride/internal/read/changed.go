package read

import (
	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/session"
	"rehome/formats/store"
)

// changed returns what reads a call's file before and after, if it is stored by its
// hash. files yields the same at the end, and accounts for it.
func (c *Chat) changed(t tool) func() (before, after *session.Body) {
	if t.before == "" && t.after == "" {
		return nil
	}
	return func() (before, after *session.Body) { return c.held(t.before), c.held(t.after) }
}

// held returns the content of a file by its hash; nil if it is missing.
func (c *Chat) held(id string) *session.Body {
	if id == lists.EmptyContent {
		return &session.Body{}
	}
	if id == "" || c.Database == nil || c.Database.Disk == nil {
		return nil
	}
	found, ok, err := c.Database.Disk.Get(c.ctx, lists.ContentRow+id, lists.MaxValue)
	if err != nil || !ok || found.Class == store.Null || found.Bytes == nil && found.Size > 0 {
		return nil
	}
	return &session.Body{Bytes: found.Bytes}
}
