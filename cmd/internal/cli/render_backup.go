package cli

import (
	"path/filepath"
	"slices"
	"strings"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/convert"
	"rehome/convert/backup"
)

// maxStoreRows is the number of stores up to which each one gets a line.
const maxStoreRows = 20

func (r backupResult) Text(p *screen.Page) {
	switch {
	case len(r.Stores) == 0:
		p.Line("no sessions found on this machine: nothing to back up")
		for _, dir := range r.Searched {
			p.Line("  searched " + screen.Visible(dir))
		}
		return
	case r.Snapshot != "":
		p.Line(p.Strong(screen.Visible(filepath.Join(r.Dir, r.Snapshot))))
	default:
		p.Line(p.Strong(screen.Visible(r.Dir)))
	}
	var rows []storeRow
	total := storeTotals{}
	for i := range r.Stores {
		s := &r.Stores[i]
		total.add(s.Status, s.Files, s.Bytes, s.Sessions)
		row := storeRow{s.Status, s.Client, s.Path, "", s.Error}
		if s.Gone > 0 {
			row.note = screen.Plural(int64(s.Gone), "file") + " no longer on this machine, kept"
		}
		if len(s.LeftOut) > 0 && s.Status != backup.Unchanged {
			row.note = leftOut(s.LeftOut)
		}
		if s.Error != nil && s.AsOf != "" {
			row.note = "the copy of " + screen.Visible(s.AsOf) + " was kept"
		}
		rows = append(rows, row)
	}
	printStoreRows(p, rows, r.verbose, backup.Unchanged, backup.Kept)
	p.Linef("  %s; %s, %s, %s", total.states(p), screen.Plural(int64(total.sessions), "session"), screen.Plural(total.files, "file"),
		screen.Size(total.bytes))
	switch {
	case r.DryRun:
		p.Line("  dry run: nothing was written")
	case r.Snapshot == "" && !r.Git:
		p.Wrapped("  ", "nothing has changed since "+screen.Visible(r.Previous)+": no new snapshot", screen.Plain)
	}
	for _, name := range r.Removed {
		p.Linef("  removed the old snapshot %s", screen.Visible(name))
	}
}

func (l *snapshotList) Text(p *screen.Page) {
	p.Line(p.Strong(screen.Visible(l.Dir)))
	for _, s := range l.Snapshots {
		if s.Error != "" {
			p.Linef("  %s  cannot be read: %s", screen.Visible(s.Name), screen.Visible(s.Error))
			continue
		}
		line := screen.Visible(s.Name) + "  " + screen.Plural(int64(s.Sessions), "session") + ", " + screen.Plural(s.Files, "file") + ", " +
			screen.Size(s.Bytes)
		if s.Failed > 0 {
			line += ", " + screen.Plural(int64(s.Failed), "store") + " not read"
		}
		p.Line("  " + line + p.Faint("  "+screen.Visible(strings.Join(s.Clients, ", "))))
	}
}

func (r restoreResult) Text(p *screen.Page) {
	p.Line(p.Strong(screen.Visible(r.Snapshot)))
	var rows []storeRow
	total := storeTotals{}
	for i := range r.Stores {
		s := &r.Stores[i]
		total.add(s.Status, 0, 0, s.Sessions)
		row := storeRow{s.Status, s.Client, s.Path, "", s.Error}
		if n := s.Files[backup.Recovered]; n > 0 {
			row.note = screen.Plural(int64(n), "file") + " of " + screen.Grouped(int64(sum(s.Files)))
		}
		if len(s.LeftOut) > 0 && s.Status != backup.Unchanged {
			row.note = leftOut(s.LeftOut)
		}
		if s.Backup != "" {
			row.note = "the old store was kept as " + screen.Visible(s.Backup)
		}
		rows = append(rows, row)
	}
	printStoreRows(p, rows, r.verbose, backup.Unchanged, "")
	p.Line("  " + total.states(p))
	for i := range r.Stores {
		r.leftAlone(p, &r.Stores[i])
	}
	if r.DryRun {
		p.Line("  dry run: nothing was written")
	}
}

// leftAlone prints what a store has that was not restored, and how to get it.
func (r restoreResult) leftAlone(p *screen.Page, s *backup.RestoredStore) {
	if len(s.Settings) > 0 {
		done := screen.Safe("not restored")
		if r.withSettings {
			done = "restored"
		}
		p.Linef("  %s: %s in %s, not of sessions, which %s may follow as instructions:", done, screen.Plural(int64(len(s.Settings)), "file"),
			screen.Visible(s.Path), screen.Visible(s.Client))
		for _, f := range s.Settings[:min(len(s.Settings), maxStoreRows)] {
			p.Line("    " + screen.Visible(f))
		}
		if !r.withSettings {
			p.Line(p.Faint("    hint: read them in the backup, then pass --with-settings to restore them too"))
		}
	}
	if len(s.Changed) > 0 && (s.Status == backup.Older || s.Status == backup.Newer || r.verbose) {
		p.Linef("  %s in %s differ from the backup:", screen.Plural(int64(len(s.Changed)), "file"), screen.Visible(s.Path))
		for _, f := range s.Changed[:min(len(s.Changed), maxStoreRows)] {
			p.Line("    " + screen.Visible(f))
		}
	}
	if len(s.Missing) > 0 {
		p.Linef("  %s only in the backup, because %s holds newer ones too:", screen.Plural(int64(len(s.Missing)), "session"),
			screen.Visible(s.Path))
		for _, m := range s.Missing[:min(len(s.Missing), maxStoreRows)] {
			p.Line("    " + screen.Visible(m.ID) + "  " + screen.Shorten(m.Title))
		}
		p.Line(p.Faint("    hint: restore to another folder with --to DIR, and migrate from there: rehome migrate DIR#ID"))
	}
	if s.Status == backup.Older {
		p.Line(p.Faint("    hint: pass --replace to restore it; the old one is kept"))
	}
}

// leftOut says what of a store is not in a backup.
func leftOut(list []string) screen.Safe {
	out := "left out: " + screen.Join(visibleAll(list[:min(len(list), maxLeftOut)]), ", ")
	if more := len(list) - maxLeftOut; more > 0 {
		out += " and " + screen.Grouped(int64(more)) + " more (--json)"
	}
	return out
}

// maxLeftOut is how much of what is left out is named in a line.
const maxLeftOut = 8

func sum(count map[string]int) (n int) {
	for _, k := range count {
		n += k
	}
	return n
}

// storeRow is a line about a store.
type storeRow struct {
	status, client, path string
	note                 screen.Safe
	failure              *convert.ErrorReport
}

// printStoreRows prints a line for each store. If there are many, those in the dull states
// are only counted, unless all are wanted.
func printStoreRows(p *screen.Page, rows []storeRow, all bool, dull ...string) {
	few := all || len(rows) <= maxStoreRows
	shown := slices.DeleteFunc(slices.Clone(rows), func(r storeRow) bool { return !few && slices.Contains(dull, r.status) })
	if !all && len(shown) > maxStoreRows {
		shown = slices.DeleteFunc(shown, func(r storeRow) bool { return r.failure == nil && r.note == "" })
	}
	width := 0
	for _, r := range shown {
		width = max(width, screen.Cells(screen.Visible(r.client)))
	}
	for _, r := range shown {
		pad := screen.Repeat(" ", len(backup.Unchanged)-len(r.status))
		p.Line("  " + console.PaintStatus(p, r.status) + pad + "  " + console.PadRight(screen.Visible(r.client), width) + screen.Visible(r.path))
		if r.note != "" {
			p.Line(p.Faint("    " + r.note))
		}
		console.PrintFailure(p, "    ", r.failure)
	}
	if rest := len(rows) - len(shown); rest > 0 && len(shown) > 0 {
		p.Linef("  and %s (-v lists them)", screen.Plural(int64(rest), "more store"))
	}
}

// storeTotals are the totals of a backup.
type storeTotals struct {
	count        map[string]int
	files, bytes int64
	sessions     int
}

func (t *storeTotals) add(status string, files, bytes int64, sessions int) {
	if t.count == nil {
		t.count = map[string]int{}
	}
	t.count[status]++
	t.files, t.bytes, t.sessions = t.files+files, t.bytes+bytes, t.sessions+sessions
}

// states counts the stores in each state.
func (t *storeTotals) states(p *screen.Page) screen.Safe {
	n := sum(t.count)
	return screen.Plural(int64(n), "store") + ": " + console.ListCounts(p, t.count, backup.Added, backup.Updated, backup.Recovered,
		backup.Unchanged,
		backup.Kept, backup.Newer, backup.Older, backup.Failed)
}
