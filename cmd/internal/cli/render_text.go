package cli

import (
	"cmp"
	"slices"
	"strings"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/convert"
)

// Text prints each format as a row, with its title on the next line.
func (r *formatsResult) Text(p *screen.Page) {
	rows := [][]screen.Safe{{"name", "records", "sessions", "check", "carries"}}
	for _, f := range r.Formats {
		carries := strings.Join(f.Families, ", ")
		if carries == "" {
			carries = "-"
		}
		rows = append(rows, []screen.Safe{screen.Visible(f.Name), directions(f.Reads, f.Writes), directions(f.Decodes, f.Encodes),
			supported(f.Checks), screen.Visible(carries)})
	}
	for i, line := range screen.Columns(rows) {
		p.Wrapped("", line, screen.Plain)
		if i > 0 {
			p.Table("    ", [][]screen.Safe{{screen.Visible(r.Formats[i-1].Title)}})
		}
	}
}

// directions returns how a format can be used: in, out, both or "-".
func directions(in, out bool) screen.Safe {
	switch {
	case in && out:
		return "in, out"
	case in:
		return "in"
	case out:
		return "out"
	}
	return "-"
}

// supported returns "yes" or "-".
func supported(can bool) screen.Safe {
	if can {
		return "yes"
	}
	return "-"
}

func (r *schemaList) Text(p *screen.Page) {
	var rows [][]screen.Safe
	for _, s := range r.Schemas {
		rows = append(rows, []screen.Safe{screen.Visible(s.Name), screen.Visible(s.Title)})
	}
	p.Table("", rows)
}

func (r *versionResult) Text(p *screen.Page) {
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

func (r convertResult) Text(p *screen.Page) {
	p.Linef("%s -> %s", p.Strong(screen.Visible(r.Source)), p.Strong(screen.Visible(r.Target)))
	if r.Lane == convert.SessionConversion {
		r.sessions(p)
	} else if len(r.Stores) == 1 && r.Stores[0].Path == "." {
		r.single(p, &r.Stores[0])
	} else {
		r.several(p)
	}
	if r.Lane == convert.ExactConversion {
		console.PrintRedacted(p, r.Redacted)
	}
	console.PrintLosses(p, "  ", r.Report.Losses)
	r.changes(p)
	switch updated := len(r.Stores) > 0 && slices.ContainsFunc(r.Stores, isUpdate); {
	case r.Backup == "":
	case updated:
		p.Linef("  edited files kept in %s", screen.Visible(r.Backup))
	default:
		p.Linef("  old target kept as %s", screen.Visible(r.Backup))
	}
	if r.Sidecar != "" {
		p.Linef("  extra data saved to %s", screen.Visible(r.Sidecar))
	}
}

// single prints one store with its tables.
func (r convertResult) single(p *screen.Page, s *convert.StoreReport) {
	if s.Change == convert.Unchanged {
		p.Linef("  %s -> %s, %s conversion: %s", s.From, s.To, r.Lane, console.PaintStatus(p, outcome(s)))
		return // an update counts what it reads, and that is not what the store holds
	}
	some := screen.Safe("")
	if s.Partial {
		some = " (only what changed was read)"
	}
	p.Linef("  %s -> %s, %s conversion: %s, %s, %s%s", s.From, s.To, r.Lane, console.PaintStatus(p, outcome(s)),
		screen.Plural(s.Rows, "record"),
		screen.Size(s.Bytes), some)
	var rows [][]screen.Safe
	for i, set := range s.Sets {
		if i == maxSets && len(s.Sets) > maxSets+1 {
			break
		}
		rows = append(rows, []screen.Safe{screen.Shorten(setName(set.File, set.Table)), screen.Grouped(set.Rows), screen.Size(set.Bytes),
			shortenDigest(set.Digest)})
	}
	p.Table("    ", rows)
	if more := len(s.Sets) - len(rows); more > 0 {
		p.Linef("    and %d more", more)
	}
	console.PrintLosses(p, "  ", s.Losses)
	printWithheld(p, s.Omitted)
	console.PrintFailure(p, "  ", s.Error)
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
func (r convertResult) several(p *screen.Page) {
	count := map[string]int{}
	var records, bytes, omitted int64
	var losses console.LossTotals
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
			p.Linef("  %s%s  %s", console.PaintStatus(p, word), screen.Repeat(" ", width-len(word)), screen.Visible(s.Path))
		}
		if s.Change == convert.Unchanged {
			continue
		}
		read = read || s.To != ""
		records, bytes, omitted = records+s.Rows, bytes+s.Bytes, omitted+s.Omitted
		if s.Status == convert.Skipped {
			console.PrintLosses(p, "    ", s.Losses)
		} else {
			losses.Add(s)
		}
		console.PrintFailure(p, "    ", s.Error)
	}
	totals := console.ListCounts(p, count, convert.Placed, convert.Added, convert.Updated, convert.Unchanged, convert.Kept, convert.Removed,
		convert.Checked, convert.Skipped, convert.Failed)
	sum := screen.Safe("")
	if read {
		sum = "; " + screen.Plural(records, "record") + ", " + screen.Size(bytes)
	}
	p.Linef("  %s conversion: %s%s", r.Lane, totals, sum)
	console.PrintLosses(p, "  ", losses)
	printWithheld(p, omitted)
}

// outcome returns what happened to a store: in an update, what changed.
func outcome(s *convert.StoreReport) string { return cmp.Or(s.Change, s.Status) }

func isUpdate(s convert.StoreReport) bool { return s.Change != "" }

// maxChanges is how many files of an update are listed.
const maxChanges = 20

// changes lists the files that an update changed, or kept although the source no longer
// has them, and how many there are of each.
func (r convertResult) changes(p *screen.Page) {
	count := map[string]int{}
	var rows [][]screen.Safe
	for i := range r.Stores {
		for _, f := range r.Stores[i].Files {
			count[f.Change]++
			rows = append(rows, []screen.Safe{screen.Visible(f.Change), screen.Visible(f.Path)})
		}
	}
	if len(rows) == 0 {
		return
	}
	p.Linef("  files: %s", console.ListCounts(p, count, convert.Added, convert.Updated, convert.Removed, convert.Kept))
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

func printWithheld(p *screen.Page, secrets int64) {
	if secrets > 0 {
		p.Linef("  %s withheld from the text, and missing from the target", screen.Plural(secrets, "secret"))
	}
}

// shortenDigest returns the algorithm and the first digits of a digest.
func shortenDigest(d string) screen.Safe {
	const kept = 13
	if s := screen.Visible(d); len(s) <= kept+1 {
		return s
	}
	return screen.Cut(screen.Visible(d), kept+1)
}

// setName returns the name of a table as addresses spell it, or of a file.
func setName(file, table string) string {
	if file == "" || table == "" {
		return file + table
	}
	return file + "/" + table
}
