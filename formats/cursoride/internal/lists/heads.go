package lists

import (
	"cmp"
	"context"

	"rehome/formats"
	"rehome/formats/internal/members"
	"rehome/formats/session"
	"rehome/formats/store"
)

// smallRecord is the most that an empty session's record holds: what is longer
// need not be read to know that something was said.
const smallRecord = 16 << 10

// EachHead yields what the lists of a store say about its sessions.
func EachHead(ctx context.Context, p *Store, v formats.View, yield func(*session.Head) bool) error {
	return EachEntry(ctx, NewIndex(p, v.OnLoss), func(_ *Entry, h *session.Head) bool { return yield(h) })
}

// EachEntry is EachHead for a new index. It also yields the entries.
func EachEntry(ctx context.Context, x *Index, yield func(*Entry, *session.Head) bool) error {
	if err := x.Read(ctx); err != nil {
		return err
	}
	for e := range x.Order() {
		if !x.Wanted(e) || e.Body == InPrompts && !e.Asked.Listed {
			continue
		}
		h := &session.Head{ID: e.ID, Agent: session.CursorIDE, Turns: -1, Bytes: -1}
		dead, err := x.look(ctx, e, h)
		if err != nil {
			return err
		}
		if dead {
			continue
		}
		h.Title, h.Created, h.Updated, h.Workspace, h.Mark = e.Title, e.Created, e.Updated, e.Folder.Path, e.Mark()
		if e.Parent.Session != "" {
			of := e.Parent
			h.Parent = &of
		}
		if !yield(e, h) {
			return nil
		}
	}
	return nil
}

// Wanted reports whether a session belongs to the store, where that is one
// workspace.
func (x *Index) Wanted(e *Entry) bool {
	return x.Only == nil || e.Workspace == x.Only.ID || e.Where == x.Only
}

// look finds out whether there is anything in a session; dead means that it
// was deleted.
func (x *Index) look(ctx context.Context, e *Entry, h *session.Head) (dead bool, err error) {
	switch {
	case e.Remote, e.Body == InPrompts, len(e.Prompts) > 0:
		return false, nil
	case e.Body == nowhere:
		talked, err := x.talked(ctx, e)
		if !talked && err == nil {
			h.Turns = 0
		}
		return false, err
	case e.Body != InDisk:
		if e.hollow {
			h.Turns = 0
		}
		return false, nil
	}
	db := x.databaseOf(e)
	prefix := BubbleRow + e.ID + ":"
	_, talked, err := db.Disk.First(ctx, prefix, PrefixEnd(prefix))
	if err != nil {
		return false, err
	}
	most := int64(smallRecord)
	if talked && e.Title != "" {
		most = int64(len("null"))
	}
	f, ok, err := db.Disk.Get(ctx, ComposerRow+e.ID, most)
	if err != nil || !ok || f.Size > most && f.Class != store.Null {
		return false, err
	}
	body, fate := QuietLine(f)
	if fate == Deleted {
		return true, nil
	}
	var m members.Object
	if body == nil || !m.SplitBy(body, "", ComposerTable()) {
		return false, nil
	}
	e.Title = cmp.Or(e.Title, m.Text(ComName))
	stampInto(&e.Created, &m, ComCreated)
	stampInto(&e.Updated, &m, ComUpdated)
	e.TakeParent(m.Raw(ComSubagentInfo))
	e.Archived, e.Draft, e.BestOf = e.Archived || m.Flag(ComArchived), e.Draft || m.Flag(ComDraft), e.BestOf || m.Flag(ComBestOf)
	e.TakeFolder(x.Store, m.Raw(ComSpace))
	if !talked && m.Full(ComTalk) == nil && m.Full(ComMap) == nil && m.Full(ComHeaders) == nil && !HasState(m.Raw(ComState)) {
		h.Turns = 0
	}
	return false, nil
}

// Maybe is Wanted before a session's own record is read, which can be the only
// one that names its workspace.
func (x *Index) Maybe(e *Entry) bool { return x.Wanted(e) || e.Workspace == "" && e.Body == InDisk }
