// Package lists opens the databases of a Cursor IDE store and reads the lists of
// sessions in them: look-ups by key, the families of rows, the workspaces and
// their folders, and everything that names a session.
package lists

import (
	"context"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/members"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// Keys of ItemTable whose values name sessions.
const (
	ComposersKey = "composer.composerData"    // of a workspace: inline composers, later heads, later only what is selected
	HeadersKey   = "composer.composerHeaders" // heads of all workspaces
	PanePrefix   = "workbench.panel.composerChatViewPane"
	PaneMember   = "workbench.panel.aichat.view."
	ProjectsKey  = "glass.localAgentProjects.v1"          // projects of the agents' sidebar
	MembersKey   = "glass.localAgentProjectMembership.v1" // which session belongs to which of them
)

// PromptKeys are the keys of the client's own lists of prompts, which name no
// session.
var PromptKeys = [...]string{
	"aiService.prompts",     // [{"text":…,"commandType":4}], the newest last
	"aiService.generations", // [{"unixMs":…,"generationUUID":…,"type":"composer","textDescription":…}], the last fifty or hundred
}

// Kind says how a row of ItemTable names sessions.
type Kind uint8

const (
	ListGlobal    Kind = iota // heads of all workspaces
	ListWorkspace             // heads of a workspace
	ListTabs                  // chat tabs, which the first generation kept whole
	ListPane                  // members named by sessions that were open
	ListSidebar               // members named by sessions, or lists of objects that name them
	ListPrompts               // what was typed
	ListCloud                 // agents whose conversations are not on this machine
)

// List is a row of ItemTable that names sessions.
type List struct {
	Kind   Kind
	Key    string // of a pane, how keys begin in the table of lists
	Member string // of the value, whose elements are heads
	ID     int    // of a head, in headNames
	Number int    // among the rows of its kind
	Hidden bool   // a pane that was not shown
}

// ListRows is the table of all lists, in the order in which they are trusted.
var ListRows = [...]List{
	{Kind: ListGlobal, Key: HeadersKey, Member: "allComposers", ID: HeadID},
	{Kind: ListWorkspace, Key: ComposersKey, Member: "allComposers", ID: HeadID},
	{Kind: ListTabs, Key: "workbench.panel.aichat.view.aichat.chatdata", Member: "tabs", ID: HeadTabID},
	{Kind: ListTabs, Key: "workbench.panel.chat.view.chat.chatdata", Member: "tabs", ID: HeadTabID, Number: 1},
	{Kind: ListPane, Key: PanePrefix},
	{Kind: ListSidebar, Key: MembersKey},
	{Kind: ListPrompts, Key: PromptKeys[0]},
	{Kind: ListPrompts, Key: PromptKeys[1], Number: 1},
	{Kind: ListCloud, Key: "workbench.backgroundComposer.persistentData"},
	{Kind: ListCloud, Key: "workbench.backgroundComposer.workspacePersistentData", Number: 1},
	{Kind: ListCloud, Key: "glass.cloudAgentProjects.v1", Number: 2},
}

// Split returns the lists that an archive splits into their entries.
func Split() (split []formats.List) {
	add := func(key, member, id string) {
		split = append(split, formats.List{Set: ItemTable, Key: key, Member: member, ID: id})
	}
	for _, l := range ListRows {
		switch {
		case l.Kind == ListTabs:
			add(l.Key, l.Member, "tabId")
		case l.Member != "":
			add(l.Key, l.Member, "composerId")
		}
	}
	add(ComposersKey, "selectedComposerIds", "")
	add(ComposersKey, "lastFocusedComposerIds", "")
	add(MembersKey, "memberships", "")
	add(PromptKeys[0], "", "")
	add(PromptKeys[1], "", "generationUUID")
	return split
}

// Lists calls f for each list that a database can have, and for each of its
// panes, in the order of ListRows.
func (s *Database) Lists(ctx context.Context, f func(List) error) error {
	if s.Items == nil {
		return nil
	}
	for _, l := range ListRows {
		keys := []string{l.Key}
		if l.Kind == ListPane {
			keys = nil
			if err := s.Items.Keys(ctx, PanePrefix, PrefixEnd(PanePrefix), func(key string) bool {
				keys = append(keys, key)
				return true
			}); err != nil {
				return err
			}
		}
		for _, l.Key = range keys {
			l.Hidden = l.Kind == ListPane && strings.HasSuffix(l.Key, ".hidden")
			if err := f(l); err != nil {
				return err
			}
		}
	}
	return nil
}

// SessionOf returns the session id of a head, the nth of its list, counted from 1.
// Some tabs have the id under another name. counted reports that a tab has none
// and is identified by its position.
func (l *List) SessionOf(s *Workspace, head *members.Object, n int) (id string, counted bool) {
	if id = PlainText(head.Raw(l.ID)); id != "" || l.Kind != ListTabs {
		return id, false
	}
	if id = PlainText(head.Raw(HeadPlainID)); id != "" {
		return id, false
	}
	return s.tab(n), true
}

// PaneSession returns the session id in the name of a member of a pane.
func PaneSession(name string) (id string, ok bool) { return strings.CutPrefix(name, PaneMember) }

// SidebarSessions calls f for each session that the sidebar's record names, and
// returns the number of its members.
func SidebarSessions(b []byte, depth int, f func(id string)) (n int64) {
	for name, value := range rawjson.Members(b) {
		n++
		switch id := string(name); {
		case LooksLikeID(id):
			f(id)
		case depth > 0:
			n += SidebarSessions(value, depth-1, f)
		}
	}
	for value := range rawjson.Elements(b) {
		if id := rawjson.TextAt(value, "composerId"); LooksLikeID(id) {
			f(id)
		}
	}
	return n
}

// HeadRow is a row of composerHeaders.
type HeadRow struct {
	columns []string
	batch   *store.Batch
	row     int
	Addr    store.Addr
}

// HeadRows calls f for each row of composerHeaders.
func (s *Database) HeadRows(ctx context.Context, f func(HeadRow)) error {
	for _, t := range s.DB.Tables() {
		if t.Name != HeadTable || !slices.Contains(t.Columns, "composerId") {
			continue
		}
		for b, err := range s.DB.Scan(ctx, 0, t) {
			if err != nil {
				return err
			}
			for i := range b.Rows() {
				f(HeadRow{t.Columns, b, i, store.Addr{File: s.File, Set: HeadTable, RowID: b.RowID(i), HasID: true}})
			}
			b.Release()
		}
	}
	return nil
}

// Cell returns a cell of a row; NULL if there is no such column.
func (r HeadRow) Cell(column string) store.Cell {
	if i := slices.Index(r.columns, column); i >= 0 {
		return r.batch.Cell(r.row, i)
	}
	return store.Cell{}
}

// Text returns the text of a cell.
func (r HeadRow) Text(column string) string { c := r.Cell(column); return string(c.Bytes()) }

// whole is an integer of a row, 0 if there is none.
func (r HeadRow) whole(column string) int64 {
	if c := r.Cell(column); c.Class == store.Int {
		return c.Int()
	}
	return 0
}

// LooksLikeID reports whether a name can be the id of a session.
func LooksLikeID(id string) bool { return formats.IsUUID(id) || strings.HasPrefix(id, TaskPrefix) }

// CloudIDs returns the ids of cloud agents among the strings and names of some
// JSON.
func CloudIDs(b []byte) (out []string) {
	text := string(b)
	for {
		i := strings.Index(text, `"`+CloudPrefix)
		if i < 0 {
			return out
		}
		text = text[i+1:]
		if id, _, ok := strings.Cut(text, `"`); ok && formats.IsUUID(strings.TrimPrefix(id, CloudPrefix)) {
			out = append(out, id)
		}
	}
}
