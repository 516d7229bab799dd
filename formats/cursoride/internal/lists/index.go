package lists

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"rehome/formats/internal/members"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// Index is the union of all lists of sessions. None of them is complete, and the
// client never completes one from the others.
type Index struct {
	*Store
	Note    loss.Sink
	Account session.Account // of the records that list
	ByID    map[string]*Entry
	Pages   pages
	f       members.Object

	children map[string][]string // by parent; made when first asked for

	Typed []*PromptLists
}

// NewIndex returns an empty index of a store. note gets the losses; it can be nil.
func NewIndex(p *Store, note loss.Sink) *Index {
	x := &Index{Store: p, Note: note, ByID: map[string]*Entry{}}
	x.Pages.Store = p
	return x
}

// Read reads all lists, in the order in which they are trusted: if two describe
// one session, the first one counts.
func (x *Index) Read(ctx context.Context) error {
	if x.Global != nil {
		if err := x.readTable(ctx, x.Global); err != nil {
			return err
		}
		if err := x.readDatabase(ctx, nil, x.Global); err != nil {
			return err
		}
	}
	for _, s := range x.Workspaces {
		if s.File == "" {
			continue
		}
		db, err := x.Database(ctx, s)
		if err == nil {
			err = x.readDatabase(ctx, s, db)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && s == x.Only {
			return err
		}
		if err != nil { // the other workspaces can still be read
			x.Note.Add(loss.Loss{Code: loss.WorkspaceUnreadable, At: store.Addr{File: s.File}})
		}
	}
	for _, e := range x.ByID {
		e.settle(x.Store)
	}
	if err := x.settleTyped(ctx); err != nil {
		return err
	}
	if err := errors.Join(x.adopt(ctx), x.findParents(ctx)); err != nil {
		return err
	}
	return x.leave()
}

// findParents takes the parents that only the small records of sessions name, which no list of
// the table's age does.
func (x *Index) findParents(ctx context.Context) error {
	for _, e := range x.ByID {
		if e.Body != InDisk || e.Table || e.Parent.Session != "" {
			continue
		}
		f, _, err := x.databaseOf(e).Disk.Get(ctx, ComposerRow+e.ID, smallRecord)
		if err != nil {
			return err
		}
		if !bytes.Contains(f.Bytes, []byte(`"parentComposerId"`)) {
			continue
		}
		if body, _ := QuietLine(f); body != nil {
			e.TakeParent(rawjson.Last(body, "subagentInfo"))
		}
	}
	return nil
}

// databaseOf returns the database that a session's own row is in.
func (x *Index) databaseOf(e *Entry) *Database {
	if e.Where != nil {
		return e.Where.Kept
	}
	return x.Global
}

// Entry returns the session with an id, and adds it if there is none.
func (x *Index) Entry(id string) *Entry {
	e := x.ByID[id]
	if e == nil {
		e = &Entry{ID: id}
		x.ByID[id] = e
	}
	return e
}

// readDatabase reads the lists in ItemTable, and the keys in cursorDiskKV.
func (x *Index) readDatabase(ctx context.Context, s *Workspace, db *Database) error {
	if err := x.readBodies(ctx, s, db); err != nil {
		return err
	}
	return db.Lists(ctx, func(l List) error { return x.readItem(ctx, s, db, l) })
}

// readBodies finds the sessions that have a row of their own.
func (x *Index) readBodies(ctx context.Context, s *Workspace, db *Database) error {
	any := false
	err := db.Family(ctx, ComposerRow, func(id string) bool {
		e := x.Entry(id)
		if e.Body == nowhere {
			e.Body, e.Where = InDisk, s
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
func (s *Workspace) name() string {
	if s == nil {
		return "global"
	}
	return s.ID
}

// tab is the id of a chat tab that has none.
func (s *Workspace) tab(n int) string { return fmt.Sprintf("%s-tab-%d", s.name(), n) }

// Order yields all sessions: parents before their children, lists of prompts
// after all others. Where children are named in a circle, the first of them is
// taken for the root.
func (x *Index) Order() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		ids := make([]string, 0, len(x.ByID))
		children := map[string][]*Entry{}
		for id := range x.ByID {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		for _, id := range ids {
			if e := x.ByID[id]; x.ByID[e.Parent.Session] != nil {
				children[e.Parent.Session] = append(children[e.Parent.Session], e)
			}
		}
		done := map[string]bool{}
		visit := func(e *Entry) bool {
			for list := []*Entry{e}; len(list) > 0; {
				e := list[len(list)-1]
				list = list[:len(list)-1]
				if done[e.ID] {
					continue
				}
				done[e.ID] = true
				if !yield(e) {
					return false
				}
				kids := children[e.ID]
				for i := range kids {
					list = append(list, kids[len(kids)-1-i])
				}
			}
			return true
		}
		for _, pass := range [...]func(e *Entry) bool{
			func(e *Entry) bool { return e.Body != InPrompts && x.ByID[e.Parent.Session] == nil },
			func(e *Entry) bool { return e.Body != InPrompts },
			func(e *Entry) bool { return true },
		} {
			for _, id := range ids {
				if e := x.ByID[id]; pass(e) && !visit(e) {
					return
				}
			}
		}
	}
}

// ChildrenOf returns the sessions that name this one as their parent.
func (x *Index) ChildrenOf(id string) []string {
	if x.children == nil {
		x.children = map[string][]string{}
		for _, e := range x.ByID {
			if of := e.Parent.Session; of != "" {
				x.children[of] = append(x.children[of], e.ID)
			}
		}
		for _, list := range x.children {
			slices.Sort(list)
		}
	}
	return x.children[id]
}
