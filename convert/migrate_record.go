package convert

import (
	"path/filepath"
	"slices"

	"rehome/convert/internal/filetx"
	"rehome/convert/internal/undo"
)

// maxKept is how many bytes of replaced files an undo record keeps.
const maxKept = 256 << 20

// moved reports whether a file was renamed for a family.
func (p *plannedFamily) moved() bool { return p.rep.Status == Placed || p.rep.Status == Updated }

// begin begins the transaction of families. It has an undo record if there is anything to
// rename, and a folder for records.
func (m *migration) begin(plans []*plannedFamily) (*filetx.Tx, error) {
	tx := &filetx.Tx{Move: m.rename.create, Replace: m.rename.replace, Synced: m.synced, MaxKept: maxKept, Say: m.notify.Say}
	plans = slices.DeleteFunc(slices.Clone(plans), func(p *plannedFamily) bool { return len(p.todo) == 0 || p.err != nil })
	if len(plans) == 0 || m.o.DryRun || m.o.UndoDir == "" {
		return tx, nil
	}
	first := &plans[0].rep
	r := undo.Record{Made: undo.Made(m.o.Now), Format: m.to.Name, Store: first.File, Session: first.Session, Title: first.Title}
	if len(plans) > 1 {
		r.Store = filepath.Join(m.o.Dir, m.to.Home.Folder)
	}
	var steps []*filetx.Step
	for _, p := range plans {
		steps = append(steps, p.todo...)
	}
	err := tx.Begin(undo.Folder{Dir: m.o.UndoDir}, r, steps)
	if err == nil {
		m.recordCopies(tx.Log, plans...)
	}
	return tx, err
}

// recordCopies records from which sessions others are made. Without that they are known by
// their ids, as far as no earlier copy is missing.
func (m *migration) recordCopies(log *undo.Log, plans ...*plannedFamily) {
	var list []undo.Copy
	for _, p := range plans {
		list = append(list, undo.Copy{Format: m.to.Name, Session: p.rep.Session, Of: p.rep.ID})
	}
	if err := log.Copied(list); err != nil {
		m.notify.Say("cannot record which session this is a copy of: " + err.Error())
	}
}

// end ends a transaction, whose record is called by the first session that was placed.
func (m *migration) end(tx *filetx.Tx, plans []*plannedFamily) error {
	if !slices.ContainsFunc(plans, func(p *plannedFamily) bool { return len(p.todo) > 0 && !p.moved() }) {
		return tx.End(nil)
	}
	return tx.End(func(r *undo.Record) {
		for _, p := range plans {
			if p.rep.File == r.Files[0].Family() {
				r.Session, r.Title = p.rep.Session, p.rep.Title
			}
		}
	})
}
