package agentwrite

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"rehome/formats/internal/agentstate"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// file is the first and the last known content of a file.
type file struct {
	before, after agentstate.ID
	last          []byte // the last, if it is not stored yet; nil if it is
}

// File writes a snapshot of a file. No message may follow.
func (c *Conversation) File(ctx context.Context, f *session.File) error {
	if done, err := c.verbatim(ctx); done || err != nil {
		return err
	}
	c.suspend()
	c.at = f.Path
	path := c.clean(f.Path)
	k := c.files[path]
	if k == nil {
		k = &file{before: c.root.FileBefore(path)}
		c.files[path], c.order = k, append(c.order, path)
	} else {
		c.note(loss.FileStatesMerged)
	}
	if len(f.Extras) > 0 {
		c.note(loss.PartMetadata)
	}
	var err error
	if f.Before != nil && k.before == (agentstate.ID{}) {
		if k.before, err = c.b.Blob(ctx, f.Before.Bytes); err != nil {
			return err
		}
	}
	if f.After == nil {
		return nil
	}
	c.fresh += len(f.After.Bytes) - len(k.last)
	if k.last = append([]byte{}, f.After.Bytes...); c.fresh > maxHeld {
		return c.contents(ctx)
	}
	return nil
}

// contents stores the last content of files: late, as another can follow. Of files that
// are too large together, contents are stored that turn out not to be the last.
func (c *Conversation) contents(ctx context.Context) (err error) {
	for _, path := range c.order {
		k := c.files[path]
		if k.last == nil {
			continue
		}
		if k.after, err = c.b.Blob(ctx, k.last); err != nil {
			return err
		}
		k.last = nil
	}
	c.fresh = 0
	return nil
}

// head writes what the root says of the whole session; of one that is continued, what its
// turns changed.
func (c *Conversation) head(ctx context.Context) error {
	s, r := c.s, &c.root
	if !r.Continues() {
		c.describe()
	} else if c.todos != nil {
		if err := c.b.Todos(ctx, r, c.todos); err != nil {
			return err
		}
	}
	for i := range s.Todos {
		if err := c.b.Todo(ctx, r, &s.Todos[i]); err != nil {
			return err
		}
		c.extras(s.Todos[i].Extras)
	}
	if s.Plan != "" && !r.Continues() {
		if err := c.b.Plan(ctx, r, c.clean(s.Plan)); err != nil {
			return err
		}
	}
	if err := c.contents(ctx); err != nil {
		return err
	}
	for _, path := range c.order {
		r.File(path, c.files[path].before, c.files[path].after)
	}
	return nil
}

// describe writes what needs no blob.
func (c *Conversation) describe() {
	s, r := c.s, &c.root
	r.Branch, r.Repos, r.Context, r.Started = s.Branch, s.Repos, s.Context, exact(s.Created)
	if r.Mode = s.Mode; r.Mode != "" && !agentstate.HasMode(r.Mode) {
		c.note(loss.SessionMetadata)
	}
	workspace := s.Workspace
	if c.o.Cwd != "" {
		workspace = c.o.Cwd
	}
	if workspace != "" {
		r.Folders = append([]string{workspace}, s.Folders...)
	}
	var rest []session.Extra
	if r.More, rest = c.fields("ConversationStateStructure", s.Extras, rootFields()...); len(rest) > 0 || workspace == "" && len(s.Folders) > 0 {
		c.note(loss.SessionMetadata)
	}
}

// Adopt makes a conversation that has ended a subagent of this one.
func (c *Conversation) Adopt(ctx context.Context, h *session.Head, child *Conversation) error {
	switch {
	case c.copied() != child.copied():
		return fmt.Errorf("subagent %q: its state and that of the session that started it are not written alike", h.ID)
	case c.copied():
		return nil // it is in the state that was copied
	}
	child.unlinked()
	c.written[h.ID] = true
	link := session.Link{Session: h.ID}
	if h.Parent != nil {
		link.Call, link.Title, link.Kind, link.Status = h.Parent.Call, h.Parent.Title, h.Parent.Kind, h.Parent.Status
	}
	for _, l := range c.s.Children {
		if l.Session == h.ID { // each of both can say what the other one does not
			link.Call, link.Title, link.Kind, link.Status = cmp.Or(l.Call, link.Call), cmp.Or(l.Title, link.Title), cmp.Or(l.Kind, link.Kind), cmp.Or(l.Status, link.Status)
		}
	}
	link.Title = cmp.Or(link.Title, h.Title)
	if link.Call != "" {
		c.root.Run(&link)
	} else if link.Title != "" || link.Status != "" { // only the record of a call has them
		child.note(loss.SessionMetadata)
		c.noteAt(c.s.ID, loss.SessionMetadata)
	}
	return c.b.Subagent(ctx, &c.root, h, link.Kind, child.s.Model, &child.root)
}

// unlinked reports subagents that were not adopted: only what adopts one can name it.
func (c *Conversation) unlinked() {
	for _, id := range slices.Sorted(maps.Keys(c.started)) {
		if !c.written[id] {
			c.noteAt(c.started[id], loss.LinkDropped)
		}
	}
	for _, l := range c.s.Children {
		if !c.written[l.Session] {
			c.noteAt(c.s.ID, loss.LinkDropped)
		}
	}
}

// isCommand reports whether a turn is no more than a command of the user.
func isCommand(m *session.Message, parts []session.Part) bool {
	if len(parts) != 1 || m.At.Known() || m.End.Known() || m.Model != "" || m.Turn.RequestID != "" || m.Turn.Model != "" || m.Turn.Mode != "" {
		return false
	}
	_, ok := parts[0].(*session.Text)
	return ok
}

// shell begins a turn that is a command of the user.
func (c *Conversation) shell(m *session.Message, text *session.Text) {
	if c.loose {
		c.note(loss.MessageReordered)
	}
	c.extras(text.Extras)
	c.turn.shell, c.turn.command = true, c.clean(text.Text)
	if m.Turn.Start.Known() && !timed(m.Turn) || m.Turn.End != exact(m.Turn.End) {
		c.note(loss.TurnRecord)
	}
}
