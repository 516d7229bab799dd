package audit

import (
	"context"
	"encoding/hex"
	"strings"

	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/sqlitepages"
	"rehome/formats/internal/storecheck"
	"rehome/formats/rule"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// graph checks the blobs of the agents' states. All sessions share them, and each blob
// is walked once.
type graph struct {
	*storecheck.Graph
	b    *base
	at   store.Addr // the record of the current session
	some bool       // a state was walked
}

func (r *records) newGraph() *graph {
	g := &graph{b: r.s}
	q := *r.q
	q.Layers &^= rule.Meaning // calls and results are checked in bubbles
	q.Report = func(f rule.Finding) {
		switch {
		case f.At.Set == "": // the root is in the session's record
			f.At, f.Pointer = g.at, "/conversationState"
		case g.b.named.changed[f.At.RowID]:
			return
		}
		if f.Rule == "RH303" || f.Rule == "RH304" { // the client shows and continues the session from its bubbles
			f.Rule = "RH329"
		}
		r.q.Report(f)
	}
	g.Graph = storecheck.NewGraph(&q, r.s.blobs, g.read, g.place)
	return g
}

// read returns the bytes of a blob.
func (g *graph) read(_ context.Context, place uint64) ([]byte, error) {
	row, col, err := g.row(place)
	if err != nil || row.Long {
		return nil, err
	}
	value := row.Cell(col)
	if value.Class == store.Text {
		b, _ := hex.DecodeString(string(value.Bytes())) // as far as it is valid
		return b, nil
	}
	if b := value.Bytes(); len(b) != 1 || b[0] != 0 {
		return b, nil
	}
	return nil, nil
}

// place returns the address of a blob.
func (g *graph) place(place uint64) store.Addr {
	at := store.Addr{File: g.b.File, Set: lists.DiskTable}
	if row, _, err := g.row(place); err == nil {
		at.RowID, at.HasID, at.Key = row.RowID, true, row.Cell(g.b.keyAt).Clone()
	}
	return at
}

func (g *graph) row(place uint64) (*sqlitepages.Row, int, error) {
	row, err := g.b.image.Again(sqlitepages.Place(place))
	return row, g.b.valueAt, err
}

// state checks the agent's own state of a session: whether it can be decoded, and
// whether everything exists that the agent needs to continue.
func (r *records) state(id string, at store.Addr) error {
	raw := r.f.Raw(lists.ComState)
	r.graph.at = at
	if lists.HasState(raw) {
		root := lists.RootBytes(rawjson.Text(raw))
		switch {
		case len(root) == 0:
			if r.q.Enabled(rule.Meaning) {
				r.found("RH424", at, "/conversationState", "")
			}
		case r.q.Enabled(rule.References):
			r.graph.some = true
			if err := r.graph.RootBytes(r.ctx, root); err != nil {
				return err
			}
		}
	}
	if !r.q.Enabled(rule.References) {
		return nil
	}
	if err := r.newest(id); err != nil {
		return err
	}
	return r.earlier(id)
}

// newest walks the state that the store names for a session.
func (r *records) newest(id string) error {
	found, ok, err := r.s.Disk.Get(r.ctx, lists.RootRow+id, 1<<10)
	if err != nil || !ok || found.Class == store.Null {
		return err
	}
	at := r.s.Addr(lists.DiskTable, lists.RootRow+id, found.RowID)
	root, ok := agentstate.ParseID(string(found.Bytes))
	if !ok {
		r.found("RH307", at, "", "")
		return nil
	}
	r.graph.some = true
	return r.graph.Root(r.ctx, root, at, "")
}

// earlier walks the states before each prompt. The client restores them on request,
// and does not need them to continue.
func (r *records) earlier(id string) error {
	var keys []string
	err := r.s.Family(r.ctx, lists.BubbleRootRow+id+":", func(rest string) bool {
		keys = append(keys, lists.BubbleRootRow+id+":"+rest)
		return true
	})
	for _, key := range keys {
		found, ok, gerr := r.s.Disk.Get(r.ctx, key, 1<<10)
		if gerr != nil {
			return gerr
		}
		if !ok || found.Class == store.Null {
			continue
		}
		at := r.s.Addr(lists.DiskTable, key, found.RowID)
		root, ok := agentstate.ParseID(strings.TrimSpace(string(found.Bytes)))
		if !ok || !r.graph.Has(root) {
			r.found("RH342", at, "", "")
			continue
		}
		r.graph.some = true
		if err := r.graph.Root(r.ctx, root, at, ""); err != nil {
			return err
		}
	}
	return err
}
