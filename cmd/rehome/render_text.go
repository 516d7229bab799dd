package main

import (
	"fmt"
	"slices"
	"strings"

	"rehome/convert"
	"rehome/formats/loss"
)

// text gives each format a row, and what it is a line below: both side by side
// would leave neither enough room.
func (r *formatsResult) text(p *page) {
	rows := [][]string{{"name", "records", "sessions", "check", "carries"}}
	for _, f := range r.Formats {
		carries := strings.Join(f.Families, ", ")
		if carries == "" {
			carries = "-"
		}
		rows = append(rows, []string{f.Name, ways(f.Reads, f.Writes), ways(f.Decodes, f.Encodes), yes(f.Checks), carries})
	}
	for i, line := range columnsOf(rows) {
		p.line(line)
		if i > 0 {
			for _, part := range broken(r.Formats[i-1].Title, pageWidth-4) {
				p.line("    " + part)
			}
		}
	}
}

func (r *schemaList) text(p *page) {
	var rows [][]string
	for _, s := range r.Schemas {
		rows = append(rows, []string{s.Name, s.Title})
	}
	p.table("", rows)
}

func (r *versionResult) text(p *page) {
	p.linef("rehome %s", r.Version)
	if r.Revision != "" {
		modified := ""
		if r.Modified {
			modified = ", with changes"
		}
		p.linef("revision %s%s", r.Revision, modified)
	}
	p.linef("%s %s/%s", r.Go, r.OS, r.Arch)
}

func (r *detectResult) text(p *page) {
	for _, d := range r.Paths {
		if d.Error != nil {
			continue // told on stderr
		}
		p.line(p.strong(visible(d.Path)))
		for _, m := range d.Matches {
			p.linef("  %s (%d)", p.cyan(m.Format), m.Score)
			for _, e := range m.Evidence {
				p.line("    " + visible(e))
			}
		}
	}
}

func (r convertResult) text(p *page) {
	p.linef("%s -> %s", p.strong(visible(r.Source)), p.strong(visible(r.Target)))
	if r.Lane == "session" {
		r.sessions(p)
	} else if len(r.Stores) == 1 && r.Stores[0].Path == "." {
		r.alone(p, &r.Stores[0])
	} else {
		r.crowd(p)
	}
	if r.Backup != "" {
		p.linef("  the old target is kept as %s", visible(r.Backup))
	}
	if r.Residue != "" {
		p.linef("  what the target has no room for is kept as %s", visible(r.Residue))
	}
}

// alone shows one store with its tables.
func (r convertResult) alone(p *page, s *convert.StoreReport) {
	p.linef("  %s -> %s, %s lane: %s, %s, %s", s.From, s.To, r.Lane, p.status(s.Status), many(s.Rows, "record"), size(s.Bytes))
	var rows [][]string
	for i, set := range s.Sets {
		if i == mostSets && len(s.Sets) > mostSets+1 {
			break
		}
		rows = append(rows, []string{visible(brief(setName(set.File, set.Table))), grouped(set.Rows), size(set.Bytes), briefDigest(set.Digest)})
	}
	p.table("    ", rows)
	if more := len(s.Sets) - len(rows); more > 0 {
		p.linef("    and %d more", more)
	}
	p.losses("  ", s.Losses)
	p.omitted(s.Omitted)
	p.failure("  ", s.Error)
}

// mostSets is how many tables and files of one store are worth reading.
const mostSets = 40

// crowd shows many stores, a line each, and what they come to. What was lost
// in stores that were placed all the same is summed up at the end.
func (r convertResult) crowd(p *page) {
	count := map[string]int{}
	var records, bytes, omitted int64
	var books crowdBooks
	for i := range r.Stores {
		s := &r.Stores[i]
		count[s.Status]++
		records, bytes, omitted = records+s.Rows, bytes+s.Bytes, omitted+s.Omitted
		pad := strings.Repeat(" ", max(0, len(convert.Withheld)-len(s.Status)))
		p.linef("  %s%s  %s", p.status(s.Status), pad, visible(s.Path))
		if s.Status == convert.Withheld {
			p.losses("    ", s.Losses)
		} else {
			books.enter(s)
		}
		p.failure("    ", s.Error)
	}
	var totals []string
	for _, status := range []string{convert.Placed, convert.Checked, convert.Withheld, convert.Failed} {
		if n := count[status]; n > 0 {
			totals = append(totals, fmt.Sprintf("%s %s", grouped(int64(n)), p.status(status)))
		}
	}
	p.linef("  %s lane: %s; %s, %s", r.Lane, strings.Join(totals, ", "), many(records, "record"), size(bytes))
	p.losses("  ", books)
	p.omitted(omitted)
}

// crowdBooks are the losses of many stores, summed up by their reason.
type crowdBooks []loss.Line

func (b *crowdBooks) enter(s *convert.StoreReport) {
	for _, l := range s.Losses {
		at := slices.IndexFunc(*b, func(o loss.Line) bool { return o.Kind == l.Kind && o.What == l.What })
		if at >= 0 {
			(*b)[at].Count += l.Count
			continue
		}
		l.Places = slices.Clone(l.Places)
		for i := range l.Places {
			if s.Path != "." { // else the place says it all
				l.Places[i] = s.Path + ": " + l.Places[i]
			}
		}
		*b = append(*b, l)
	}
}

// status paints the one word that says how a store fared.
func (p *page) status(word string) string {
	switch word {
	case convert.Placed:
		return p.green(word)
	case convert.Failed:
		return p.red(word)
	case convert.Withheld:
		return p.yellow(word)
	}
	return word
}

func (p *page) losses(indent string, lines []loss.Line) {
	for _, l := range lines {
		p.linef("%s%s: %s, %s", indent, p.yellow(l.Kind.String()), visible(l.What), many(l.Count, "time"))
		if len(l.Places) > 0 && l.Places[0] != "" {
			p.linef("%s  first at %s", indent, visible(brief(l.Places[0])))
		}
	}
}

func (p *page) omitted(secrets int64) {
	if secrets > 0 {
		p.linef("  %s stayed home when the text was written, and the target goes without", many(secrets, "secret"))
	}
}

func (p *page) failure(indent string, e *convert.ErrorReport) {
	if e == nil {
		return
	}
	p.line(indent + p.red(visible(e.Message)))
	if e.Hint != "" {
		p.line(p.faint(indent + "hint: " + visible(e.Hint)))
	}
}

// setName is a table as addresses spell it, or a file.
func setName(file, table string) string {
	if file == "" || table == "" {
		return file + table
	}
	return file + "/" + table
}
