package cursoride

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// The records that list sessions, by the key they have in ItemTable.
const (
	composersKey = "composer.composerData"    // of a workspace: inline composers, later heads, later only what is selected
	headersKey   = "composer.composerHeaders" // heads of all workspaces
	panePrefix   = "workbench.panel.composerChatViewPane"
	paneMember   = "workbench.panel.aichat.view."
	composerRow  = "composerData:"
)

// memberKey says which session belongs to which project of the agents' sidebar.
const memberKey = "glass.localAgentProjectMembership.v1"

// tabKeys are where the first generation kept its chats.
var tabKeys = [...]string{"workbench.panel.aichat.view.aichat.chatdata", "workbench.panel.chat.view.chat.chatdata"}

// cloudKeys name agents whose conversations are not on this machine.
var cloudKeys = [...]string{"workbench.backgroundComposer.persistentData", "workbench.backgroundComposer.workspacePersistentData", "glass.cloudAgentProjects.v1"}

// index is the union of all generations of the list of sessions: none of them
// is complete, and none was ever filled up from the others.
type index struct {
	*place
	note  loss.Sink
	tally session.Account // of the records that list
	byID  map[string]*entry
	pages pages
	f     fields

	seek     bool                // a session is wanted that no list names
	given    map[string]bool     // subagents that lay in a session's state
	history  bool                // turns that the user went back on, too
	children map[string][]string // by parent; made when first asked for

	typed []*typedLists
	heard overheard // nil: no list of prompts is wanted
}

func newIndex(p *place, note loss.Sink) *index {
	if note == nil {
		note = func(loss.Loss) {}
	}
	x := &index{place: p, note: note, byID: map[string]*entry{}, given: map[string]bool{}}
	x.pages.place = p
	return x
}

// read reads every list. The best comes first: where two lists speak of one
// session, what the first says counts.
func (x *index) read(ctx context.Context) error {
	if x.global != nil {
		if err := x.readTable(ctx, x.global); err != nil {
			return err
		}
		if err := x.readShelf(ctx, nil, x.global); err != nil {
			return err
		}
	}
	for _, s := range x.spaces {
		if s.file == "" {
			continue
		}
		shelf, err := x.shelf(ctx, s)
		if err == nil {
			err = x.readShelf(ctx, s, shelf)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && s == x.only {
			return err
		}
		if err != nil { // the other workspaces are none the worse
			x.note(loss.Loss{Code: loss.WorkspaceUnreadable, At: store.Addr{File: s.file}})
		}
	}
	for _, e := range x.byID {
		e.settle(x.place)
	}
	if err := x.settleTyped(ctx); err != nil {
		return err
	}
	return x.leave()
}

func (x *index) entry(id string) *entry {
	e := x.byID[id]
	if e == nil {
		e = &entry{id: id}
		x.byID[id] = e
	}
	return e
}

// readShelf reads the lists in ItemTable, and the keys in cursorDiskKV.
func (x *index) readShelf(ctx context.Context, s *space, shelf *shelf) error {
	err := x.readBodies(ctx, s, shelf)
	if err != nil || shelf.items == nil {
		return err
	}
	for _, key := range [...]string{headersKey, composersKey} {
		if err := x.readList(ctx, s, shelf, key, "allComposers", headID); err != nil {
			return err
		}
	}
	for _, key := range tabKeys {
		if err := x.readList(ctx, s, shelf, key, "tabs", headTabID); err != nil {
			return err
		}
	}
	if err := x.readPanes(ctx, s, shelf); err != nil {
		return err
	}
	if err := x.readMembers(ctx, shelf); err != nil {
		return err
	}
	if err := x.readTyped(ctx, s); err != nil {
		return err
	}
	return x.readCloud(ctx, shelf)
}

// readBodies finds the sessions that have a row of their own.
func (x *index) readBodies(ctx context.Context, s *space, shelf *shelf) error {
	any := false
	err := shelf.family(ctx, composerRow, func(id string) bool {
		e := x.entry(id)
		if e.body == nowhere {
			e.body, e.where = inDisk, s
			any = true
		}
		return true
	})
	if any && s != nil {
		x.stay()
	}
	return err
}

// name is a workspace's id, also of the global database.
func (s *space) name() string {
	if s == nil {
		return "global"
	}
	return s.id
}

// tab is the id of a chat tab that has none.
func (s *space) tab(n int) string { return fmt.Sprintf("%s-tab-%d", s.name(), n) }

// order is all sessions, parents in front of their children, lists of prompts
// behind all others. Where children are named in a circle, the first of them is
// taken for the root.
func (x *index) order() iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		ids := make([]string, 0, len(x.byID))
		children := map[string][]*entry{}
		for id := range x.byID {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		for _, id := range ids {
			if e := x.byID[id]; x.byID[e.parent.Session] != nil {
				children[e.parent.Session] = append(children[e.parent.Session], e)
			}
		}
		done := map[string]bool{}
		visit := func(e *entry) bool {
			for list := []*entry{e}; len(list) > 0; {
				e := list[len(list)-1]
				list = list[:len(list)-1]
				if done[e.id] {
					continue
				}
				done[e.id] = true
				if !yield(e) {
					return false
				}
				kids := children[e.id]
				for i := range kids {
					list = append(list, kids[len(kids)-1-i])
				}
			}
			return true
		}
		for _, pass := range [...]func(e *entry) bool{
			func(e *entry) bool { return e.body != inTyped && x.byID[e.parent.Session] == nil },
			func(e *entry) bool { return e.body != inTyped },
			func(e *entry) bool { return true },
		} {
			for _, id := range ids {
				if e := x.byID[id]; pass(e) && !visit(e) {
					return
				}
			}
		}
	}
}

// childrenOf are the sessions that name this one as their parent.
func (x *index) childrenOf(id string) []string {
	if x.children == nil {
		x.children = map[string][]string{}
		for _, e := range x.byID {
			if of := e.parent.Session; of != "" {
				x.children[of] = append(x.children[of], e.id)
			}
		}
		for _, list := range x.children {
			slices.Sort(list)
		}
	}
	return x.children[id]
}
