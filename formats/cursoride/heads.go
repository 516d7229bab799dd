package cursoride

import (
	"cmp"
	"context"
	"iter"

	"rehome/formats"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/session"
	"rehome/formats/store"
)

// smallRecord is the most that an empty session's record holds: what is longer
// need not be read to know that something was said.
const smallRecord = 16 << 10

// lister lists what a store's indexes know. Of bodies only keys are looked at,
// and the record of a session that has not a single bubble, if it is small.
func lister(known *sqlitefile.Known) func(context.Context, *formats.Location, formats.View) iter.Seq2[*session.Head, error] {
	return func(ctx context.Context, l *formats.Location, v formats.View) iter.Seq2[*session.Head, error] {
		return opened(ctx, l, v, known, func(p *place, yield func(*session.Head, error) bool) error {
			return listHeads(ctx, p, v, func(h *session.Head) bool { return yield(h, nil) })
		})
	}
}

func listHeads(ctx context.Context, p *place, v formats.View, yield func(*session.Head) bool) error {
	x := newIndex(p, v.OnLoss)
	if err := x.read(ctx); err != nil {
		return err
	}
	for e := range x.order() {
		if !x.wanted(e) || e.body == inTyped && !e.asked.listed {
			continue
		}
		h := &session.Head{ID: e.id, Agent: session.CursorIDE, Turns: -1, Bytes: -1}
		dead, err := x.look(ctx, e, h)
		if err != nil {
			return err
		}
		if dead {
			continue
		}
		h.Title, h.Created, h.Updated, h.Workspace, h.Mark = e.title, e.created, e.updated, e.folder.path, e.mark()
		if e.parent.Session != "" {
			of := e.parent
			h.Parent = &of
		}
		if !yield(h) {
			return nil
		}
	}
	return nil
}

// mark is what a list says of a session besides its title.
func (e *entry) mark() string {
	switch {
	case e.remote:
		return "remote"
	case e.body == inTyped:
		return session.PromptHistory
	case e.draft:
		return "draft"
	case e.archived:
		return "archived"
	case e.bestOf:
		return "best of n"
	}
	return ""
}

// wanted reports whether a session is one of the only workspace's, where there
// is one.
func (x *index) wanted(e *entry) bool {
	return x.only == nil || e.space == x.only.id || e.where == x.only
}

// look finds out whether there is anything in a session; dead means that it
// was deleted.
func (x *index) look(ctx context.Context, e *entry, h *session.Head) (dead bool, err error) {
	switch {
	case e.remote, e.body == inTyped, len(e.prompts) > 0:
		return false, nil
	case e.body == nowhere:
		talked, err := x.talked(ctx, e)
		if !talked && err == nil {
			h.Turns = 0
		}
		return false, err
	case e.body != inDisk:
		if e.hollow {
			h.Turns = 0
		}
		return false, nil
	}
	shelf := x.global
	if e.where != nil {
		shelf = e.where.kept
	}
	prefix := bubbleRow + e.id + ":"
	_, talked, err := shelf.disk.First(ctx, prefix, behind(prefix))
	if err != nil {
		return false, err
	}
	most := int64(smallRecord)
	if talked && e.title != "" {
		most = int64(len("null"))
	}
	f, ok, err := shelf.disk.Get(ctx, composerRow+e.id, most)
	if err != nil || !ok || f.Size > most && f.Class != store.Null {
		return false, err
	}
	body, fate := quietLine(f)
	if fate == deleted {
		return true, nil
	}
	var m fields
	if body == nil || !m.split(body, "", composerTable()) {
		return false, nil
	}
	e.title = cmp.Or(e.title, m.text(comName))
	stampInto(&e.created, &m, comCreated)
	stampInto(&e.updated, &m, comUpdated)
	e.sub(m.raw(comSubagentInfo))
	e.archived, e.draft, e.bestOf = e.archived || m.flag(comArchived), e.draft || m.flag(comDraft), e.bestOf || m.flag(comBestOf)
	e.located(x.place, m.raw(comSpace))
	if !talked && m.full(comTalk) == nil && m.full(comMap) == nil && m.full(comHeaders) == nil && !hasState(m.raw(comState)) {
		h.Turns = 0
	}
	return false, nil
}

// maybe is wanted before a session's own record is read, which can be the only
// one to say whose it is.
func (x *index) maybe(e *entry) bool { return x.wanted(e) || e.space == "" && e.body == inDisk }
