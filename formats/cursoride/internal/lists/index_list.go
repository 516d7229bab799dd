package lists

import (
	"context"
	"strings"

	"rehome/formats/internal/members"
	"rehome/formats/loss"
	"rehome/internal/rawjson"
)

// readList reads a record that holds heads in an array.
func (x *Index) readList(ctx context.Context, s *Workspace, l List) error {
	pg, err := x.Pages.open(ctx, s, l.Key, x.Note)
	if err != nil || pg == nil {
		return err
	}
	x.Account.Read++
	if pg.body == nil {
		x.Account.Unreadable++
		return nil
	}
	x.Account.Converted++
	base := pg.body
	for name, value := range rawjson.Members(base) {
		x.Account.Members++
		x.Account.MembersConverted++ // what is selected or open is the window's, no session's
		if string(name) != l.Member {
			if !windowState(name) && !members.Empty(value) {
				x.Note.Add(loss.Loss{Code: loss.ListMemberUnknown, At: pg.Addr})
			}
			continue
		}
		n := 0
		for head := range rawjson.Elements(value) {
			n++
			x.f.SplitBy(head, "", HeadNames())
			key, _ := l.SessionOf(s, &x.f, n)
			if key == "" {
				continue
			}
			x.list(s, key, headAt{pg, Offset(base, head), Offset(base, head) + len(head)})
		}
	}
	return nil
}

// windowState reports a member that says what a window shows.
func windowState(name []byte) bool {
	for _, known := range [...]string{"selected", "lastFocused", "hasMigrated", "composerDataVersion", "isInEditor", "version", "viewPane", "displayMode"} {
		if strings.HasPrefix(string(name), known) {
			return true
		}
	}
	return false
}

// list enters the head that x.f holds.
func (x *Index) list(s *Workspace, id string, at headAt) {
	e := x.Entry(id)
	e.take(&x.f, at)
	if s != nil && e.Workspace == "" {
		e.Workspace = s.ID
	}
	if e.Body != nowhere {
		return
	}
	switch {
	case x.f.Raw(HeadTabBubbles) != nil:
		e.Body, e.Where, e.hollow = InTab, s, x.f.Full(HeadTabBubbles) == nil && x.f.Full(HeadMessages) == nil
	case x.f.Raw(HeadMessages) != nil:
		e.Body, e.Where, e.hollow = InTab, s, x.f.Full(HeadMessages) == nil
	case x.f.Raw(HeadTalk) != nil:
		e.Body, e.Where, e.hollow = InHead, s, x.f.Full(HeadTalk) == nil
	}
}

// Offset returns where a view begins in the slice that it is a view of.
func Offset(whole, view []byte) int { return cap(whole) - cap(view) }

// readItem reads a list.
func (x *Index) readItem(ctx context.Context, s *Workspace, db *Database, l List) error {
	switch {
	case l.Member != "":
		return x.readList(ctx, s, l)
	case l.Kind == ListPrompts && l.Number == 0:
		return x.readTyped(ctx, s)
	case l.Kind == ListPrompts || l.Hidden:
		return nil
	}
	r, err := db.Get(ctx, ItemTable, l.Key, x.Note)
	if err != nil || r.Fate == Absent && l.Kind != ListPane {
		return err
	}
	x.Account.Read++
	if r.Fate == Broken {
		x.Account.Unreadable++
		return nil
	}
	x.Account.Converted++
	var n int64
	switch l.Kind {
	case ListPane:
		n = x.pane(s, r.Body)
	case ListSidebar:
		n = SidebarSessions(r.Body, 1, func(id string) { x.Entry(id) })
	default:
		for _, id := range CloudIDs(r.Body) {
			x.Entry(id).Remote = true
		}
	}
	x.Account.Members += n
	x.Account.MembersConverted += n
	return nil
}

// pane finds sessions that were open: an early third version lists those of a
// workspace nowhere else. It counts the members.
func (x *Index) pane(s *Workspace, body []byte) (n int64) {
	for name := range rawjson.Members(body) {
		n++
		id, ok := PaneSession(string(name))
		if !ok || id == "" || id == "aichat" || strings.Contains(id, ".") {
			continue
		}
		if e := x.ByID[id]; e != nil && e.Workspace == "" && s != nil {
			e.Workspace = s.ID
		} else if e == nil && LooksLikeID(id) {
			e = x.Entry(id)
			if s != nil {
				e.Workspace = s.ID
			}
		}
	}
	return n
}
