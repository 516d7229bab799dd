package cli

import (
	"cmp"
	"slices"
	"strings"

	"rehome/cmd/internal/screen"
	"rehome/convert"
	"rehome/convert/backup"
	"rehome/formats/loss"
)

// text prints each format as a row, with its title on the next line.
func (r *formatsResult) text(p *page) {
	rows := [][]screen.Safe{{"name", "records", "sessions", "check", "carries"}}
	for _, f := range r.Formats {
		carries := strings.Join(f.Families, ", ")
		if carries == "" {
			carries = "-"
		}
		rows = append(rows, []screen.Safe{visible(f.Name), directions(f.Reads, f.Writes), directions(f.Decodes, f.Encodes), supported(f.Checks), visible(carries)})
	}
	for i, line := range screen.Columns(rows) {
		p.Wrapped("", line, screen.Plain)
		if i > 0 {
			p.Table("    ", [][]screen.Safe{{visible(r.Formats[i-1].Title)}})
		}
	}
}

func (r *schemaList) text(p *page) {
	var rows [][]screen.Safe
	for _, s := range r.Schemas {
		rows = append(rows, []screen.Safe{visible(s.Name), visible(s.Title)})
	}
	p.Table("", rows)
}

func (r *versionResult) text(p *page) {
	p.Linef("rehome %s", r.Version)
	if r.Revision != "" {
		modified := ""
		if r.Modified {
			modified = ", modified"
		}
		p.Linef("revision %s%s", r.Revision, modified)
	}
	p.Linef("%s %s/%s", r.Go, r.OS, r.Arch)
}

func (r convertResult) text(p *page) {
	p.Linef("%s -> %s", p.Strong(visible(r.Source)), p.Strong(visible(r.Target)))
	if r.Lane == convert.SessionConversion {
		r.sessions(p)
	} else if len(r.Stores) == 1 && r.Stores[0].Path == "." {
		r.single(p, &r.Stores[0])
	} else {
		r.several(p)
	}
	if r.Lane == convert.ExactConversion {
		p.redacted(r.Redacted)
	}
	p.losses("  ", r.Report.Losses)
	r.changes(p)
	switch updated := len(r.Stores) > 0 && slices.ContainsFunc(r.Stores, isUpdate); {
	case r.Backup == "":
	case updated:
		p.Linef("  edited files kept in %s", visible(r.Backup))
	default:
		p.Linef("  old target kept as %s", visible(r.Backup))
	}
	if r.Sidecar != "" {
		p.Linef("  extra data saved to %s", visible(r.Sidecar))
	}
}

// single prints one store with its tables.
func (r convertResult) single(p *page, s *convert.StoreReport) {
	if s.Change == convert.Unchanged {
		p.Linef("  %s -> %s, %s conversion: %s", s.From, s.To, r.Lane, p.status(outcome(s)))
		return // an update counts what it reads, and that is not what the store holds
	}
	some := screen.Safe("")
	if s.Partial {
		some = " (only what changed was read)"
	}
	p.Linef("  %s -> %s, %s conversion: %s, %s, %s%s", s.From, s.To, r.Lane, p.status(outcome(s)), plural(s.Rows, "record"), size(s.Bytes), some)
	var rows [][]screen.Safe
	for i, set := range s.Sets {
		if i == maxSets && len(s.Sets) > maxSets+1 {
			break
		}
		rows = append(rows, []screen.Safe{screen.Shorten(setName(set.File, set.Table)), grouped(set.Rows), size(set.Bytes), shortenDigest(set.Digest)})
	}
	p.Table("    ", rows)
	if more := len(s.Sets) - len(rows); more > 0 {
		p.Linef("    and %d more", more)
	}
	p.losses("  ", s.Losses)
	p.omitted(s.Omitted)
	p.failure("  ", s.Error)
}

// maxSets is how many tables and files of a store are listed.
const maxSets = 40

// usualOutcomes are those that are only counted if there are many stores.
func usualOutcomes() []string {
	return []string{convert.Placed, convert.Added, convert.Unchanged, convert.Checked}
}

// several prints a line for each store if there are few, else for those of an unusual
// outcome, and the totals. Losses of stores that were not skipped are added up at the
// end.
func (r convertResult) several(p *page) {
	count := map[string]int{}
	var records, bytes, omitted int64
	var losses lossTotals
	read, few := false, len(r.Stores) <= maxSessionRows
	width := len(convert.Skipped)
	if slices.ContainsFunc(r.Stores, isUpdate) {
		width = len(convert.Unchanged)
	}
	for i := range r.Stores {
		s := &r.Stores[i]
		word := outcome(s)
		count[word]++
		if few || !slices.Contains(usualOutcomes(), word) {
			p.Linef("  %s%s  %s", p.status(word), screen.Repeat(" ", width-len(word)), visible(s.Path))
		}
		if s.Change == convert.Unchanged {
			continue
		}
		read = read || s.To != ""
		records, bytes, omitted = records+s.Rows, bytes+s.Bytes, omitted+s.Omitted
		if s.Status == convert.Skipped {
			p.losses("    ", s.Losses)
		} else {
			losses.add(s)
		}
		p.failure("    ", s.Error)
	}
	totals := p.counts(count, convert.Placed, convert.Added, convert.Updated, convert.Unchanged, convert.Kept, convert.Removed, convert.Checked, convert.Skipped, convert.Failed)
	sum := screen.Safe("")
	if read {
		sum = "; " + plural(records, "record") + ", " + size(bytes)
	}
	p.Linef("  %s conversion: %s%s", r.Lane, totals, sum)
	p.losses("  ", losses)
	p.omitted(omitted)
}

// outcome returns what happened to a store: in an update, what changed.
func outcome(s *convert.StoreReport) string { return cmp.Or(s.Change, s.Status) }

func isUpdate(s convert.StoreReport) bool { return s.Change != "" }

// maxChanges is how many files of an update are listed.
const maxChanges = 20

// changes lists the files that an update changed, or kept although the source no longer
// has them, and how many there are of each.
func (r convertResult) changes(p *page) {
	count := map[string]int{}
	var rows [][]screen.Safe
	for i := range r.Stores {
		for _, f := range r.Stores[i].Files {
			count[f.Change]++
			rows = append(rows, []screen.Safe{visible(f.Change), visible(f.Path)})
		}
	}
	if len(rows) == 0 {
		return
	}
	p.Linef("  files: %s", p.counts(count, convert.Added, convert.Updated, convert.Removed, convert.Kept))
	p.Table("    ", rows[:min(len(rows), maxChanges)])
	if more := len(rows) - maxChanges; more > 0 {
		p.Linef("    and %d more", more)
	}
	if count[convert.Kept] > 0 {
		p.Line("  kept files are no longer in the source; --delete removes them")
	}
	if r.DryRun {
		p.Line("  nothing was written: this was a dry run")
	}
}

// lossTotals are the losses of several stores, added up by code.
type lossTotals []loss.Group

func (t *lossTotals) add(s *convert.StoreReport) {
	lines := slices.Clone(s.Losses)
	for k, l := range lines {
		lines[k].Places = slices.Clone(l.Places)
		for i, at := range l.Places {
			if s.Path != "." { // else the place is unambiguous
				lines[k].Places[i] = s.Path + ": " + at
			}
		}
	}
	*t = loss.Merge(*t, lines)
}

// status returns a status in its color.
func (p *page) status(status string) screen.Safe {
	word := visible(status)
	switch status {
	case convert.Placed, convert.Added, convert.Updated, backup.Recovered:
		return p.Green(word)
	case convert.Failed:
		return p.Red(word)
	case convert.Skipped, convert.Kept, convert.Removed, backup.Older, backup.Newer:
		return p.Yellow(word)
	case convert.Same:
		return "unchanged"
	}
	return word
}

// counts returns how many there are of each status that there are any of.
func (p *page) counts(count map[string]int, statuses ...string) screen.Safe {
	var out []screen.Safe
	for _, s := range statuses {
		if n := count[s]; n > 0 {
			out = append(out, grouped(int64(n))+" "+p.status(s))
		}
	}
	return screen.Join(out, ", ")
}

func (p *page) losses(indent screen.Safe, lines []loss.Group) {
	for _, l := range lines {
		p.lossLine(indent, l)
		if len(l.Places) > 0 && l.Places[0] != "" {
			p.Linef("%s  first at %s", indent, screen.Shorten(l.Places[0]))
		}
	}
}

// lossLine prints a group of losses, wrapped to the width of a page.
func (p *page) lossLine(indent screen.Safe, l loss.Group) {
	kind, code := visible(l.Kind.String()), "("+visible(string(l.Code))+")"
	lines := screen.WrapHanging(kind+": "+grouped(l.Count)+" "+visible(l.What)+" "+code, p.Width-len(indent))
	for i, line := range lines {
		if i == len(lines)-1 {
			line = line[:len(line)-len(code)] + p.Faint(code)
		}
		if i == 0 {
			line = p.Yellow(kind) + line[len(kind):]
		}
		p.Line(indent + line)
	}
}

func (p *page) omitted(secrets int64) {
	if secrets > 0 {
		p.Linef("  %s withheld from the text, and missing from the target", plural(secrets, "secret"))
	}
}

func (p *page) failure(indent screen.Safe, e *convert.ErrorReport) {
	if e == nil {
		return
	}
	p.Line(indent + p.Red(visible(e.Message)))
	if e.Hint != "" {
		p.Line(p.Faint(indent + "hint: " + visible(p.self.own(e.Hint))))
	}
}

// shortenDigest returns the algorithm and the first digits of a digest.
func shortenDigest(d string) screen.Safe {
	const kept = 13
	if s := visible(d); len(s) <= kept+1 {
		return s
	}
	return screen.Cut(visible(d), kept+1)
}

// setName returns the name of a table as addresses spell it, or of a file.
func setName(file, table string) string {
	if file == "" || table == "" {
		return file + table
	}
	return file + "/" + table
}
