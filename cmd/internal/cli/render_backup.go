package cli

import (
	"path/filepath"
	"slices"
	"strings"

	"rehome/cmd/internal/screen"
	"rehome/convert"
	"rehome/convert/backup"
)

// maxStoreRows is the number of stores up to which each one gets a line.
const maxStoreRows = 20

func (r backupResult) text(p *page) {
	switch {
	case len(r.Stores) == 0:
		p.Line("no sessions found on this machine: nothing to back up")
		for _, dir := range r.Searched {
			p.Line("  searched " + visible(dir))
		}
		return
	case r.Snapshot != "":
		p.Line(p.Strong(visible(filepath.Join(r.Dir, r.Snapshot))))
	default:
		p.Line(p.Strong(visible(r.Dir)))
	}
	var rows []storeRow
	total := storeTotals{}
	for i := range r.Stores {
		s := &r.Stores[i]
		total.add(s.Status, s.Files, s.Bytes, s.Sessions)
		row := storeRow{s.Status, s.Client, s.Path, "", s.Error}
		if s.Gone > 0 {
			row.note = plural(int64(s.Gone), "file") + " no longer on this machine, kept"
		}
		if len(s.LeftOut) > 0 && s.Status != backup.Unchanged {
			row.note = leftOut(s.LeftOut)
		}
		if s.Error != nil && s.AsOf != "" {
			row.note = "the copy of " + visible(s.AsOf) + " was kept"
		}
		rows = append(rows, row)
	}
	p.storeRows(rows, r.verbose, backup.Unchanged, backup.Kept)
	p.Linef("  %s; %s, %s, %s", total.states(p), plural(int64(total.sessions), "session"), plural(total.files, "file"), size(total.bytes))
	switch {
	case r.DryRun:
		p.Line("  dry run: nothing was written")
	case r.Snapshot == "" && !r.Git:
		p.Wrapped("  ", "nothing has changed since "+visible(r.Previous)+": no new snapshot", screen.Plain)
	}
	for _, name := range r.Removed {
		p.Linef("  removed the old snapshot %s", visible(name))
	}
}

func (l *snapshotList) text(p *page) {
	p.Line(p.Strong(visible(l.Dir)))
	for _, s := range l.Snapshots {
		if s.Error != "" {
			p.Linef("  %s  cannot be read: %s", visible(s.Name), visible(s.Error))
			continue
		}
		line := visible(s.Name) + "  " + plural(int64(s.Sessions), "session") + ", " + plural(s.Files, "file") + ", " + size(s.Bytes)
		if s.Failed > 0 {
			line += ", " + plural(int64(s.Failed), "store") + " not read"
		}
		p.Line("  " + line + p.Faint("  "+visible(strings.Join(s.Clients, ", "))))
	}
}

func (r restoreResult) text(p *page) {
	p.Line(p.Strong(visible(r.Snapshot)))
	var rows []storeRow
	total := storeTotals{}
	for i := range r.Stores {
		s := &r.Stores[i]
		total.add(s.Status, 0, 0, s.Sessions)
		row := storeRow{s.Status, s.Client, s.Path, "", s.Error}
		if n := s.Files[backup.Recovered]; n > 0 {
			row.note = plural(int64(n), "file") + " of " + grouped(int64(sum(s.Files)))
		}
		if len(s.LeftOut) > 0 && s.Status != backup.Unchanged {
			row.note = leftOut(s.LeftOut)
		}
		if s.Backup != "" {
			row.note = "the old store was kept as " + visible(s.Backup)
		}
		rows = append(rows, row)
	}
	p.storeRows(rows, r.verbose, backup.Unchanged, "")
	p.Line("  " + total.states(p))
	for i := range r.Stores {
		r.leftAlone(p, &r.Stores[i])
	}
	if r.DryRun {
		p.Line("  dry run: nothing was written")
	}
}

// leftAlone prints what a store has that was not restored, and how to get it.
func (r restoreResult) leftAlone(p *page, s *backup.RestoredStore) {
	if len(s.Settings) > 0 {
		done := screen.Safe("not restored")
		if r.withSettings {
			done = "restored"
		}
		p.Linef("  %s: %s in %s, not of sessions, which %s may follow as instructions:", done, plural(int64(len(s.Settings)), "file"), visible(s.Path), visible(s.Client))
		for _, f := range s.Settings[:min(len(s.Settings), maxStoreRows)] {
			p.Line("    " + visible(f))
		}
		if !r.withSettings {
			p.Line(p.Faint("    hint: read them in the backup, then pass --with-settings to restore them too"))
		}
	}
	if len(s.Changed) > 0 && (s.Status == backup.Older || s.Status == backup.Newer || r.verbose) {
		p.Linef("  %s in %s differ from the backup:", plural(int64(len(s.Changed)), "file"), visible(s.Path))
		for _, f := range s.Changed[:min(len(s.Changed), maxStoreRows)] {
			p.Line("    " + visible(f))
		}
	}
	if len(s.Missing) > 0 {
		p.Linef("  %s only in the backup, because %s holds newer ones too:", plural(int64(len(s.Missing)), "session"), visible(s.Path))
		for _, m := range s.Missing[:min(len(s.Missing), maxStoreRows)] {
			p.Line("    " + visible(m.ID) + "  " + screen.Shorten(m.Title))
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
		out += " and " + grouped(int64(more)) + " more (--json)"
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

// storeRows prints a line for each store. If there are many, those in the dull states
// are only counted, unless all are wanted.
func (p *page) storeRows(rows []storeRow, all bool, dull ...string) {
	few := all || len(rows) <= maxStoreRows
	shown := slices.DeleteFunc(slices.Clone(rows), func(r storeRow) bool { return !few && slices.Contains(dull, r.status) })
	if !all && len(shown) > maxStoreRows {
		shown = slices.DeleteFunc(shown, func(r storeRow) bool { return r.failure == nil && r.note == "" })
	}
	width := 0
	for _, r := range shown {
		width = max(width, screen.Cells(visible(r.client)))
	}
	for _, r := range shown {
		pad := screen.Repeat(" ", len(backup.Unchanged)-len(r.status))
		p.Line("  " + p.status(r.status) + pad + "  " + padRight(visible(r.client), width) + visible(r.path))
		if r.note != "" {
			p.Line(p.Faint("    " + r.note))
		}
		p.failure("    ", r.failure)
	}
	if rest := len(rows) - len(shown); rest > 0 && len(shown) > 0 {
		p.Linef("  and %s (-v lists them)", plural(int64(rest), "more store"))
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
func (t *storeTotals) states(p *page) screen.Safe {
	n := sum(t.count)
	return plural(int64(n), "store") + ": " + p.counts(t.count, backup.Added, backup.Updated, backup.Recovered, backup.Unchanged, backup.Kept, backup.Newer, backup.Older, backup.Failed)
}
