package main

import (
	"slices"
	"strings"

	"rehome/cmd/rehome/internal/screen"
	"rehome/convert"
	"rehome/formats/loss"
)

// text gives each format a row, and what it is a line below: both side by side
// would leave neither enough room.
func (r *formatsResult) text(p *page) {
	rows := [][]screen.Safe{{"name", "records", "sessions", "check", "carries"}}
	for _, f := range r.Formats {
		carries := strings.Join(f.Families, ", ")
		if carries == "" {
			carries = "-"
		}
		rows = append(rows, []screen.Safe{visible(f.Name), ways(f.Reads, f.Writes), ways(f.Decodes, f.Encodes), yes(f.Checks), visible(carries)})
	}
	widths := screen.Widths(rows)
	for i, row := range rows {
		line := screen.Safe("")
		for k, c := range row {
			line += left(c, widths[k])
		}
		p.Line(line)
		if i > 0 {
			for _, part := range screen.Broken(visible(r.Formats[i-1].Title), screen.PageWidth-4) {
				p.Line("    " + part)
			}
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

func (r *detectResult) text(p *page) {
	for _, d := range r.Paths {
		if d.Error != nil {
			continue // told on stderr
		}
		p.Line(p.Strong(visible(d.Path)))
		for _, m := range d.Matches {
			p.Linef("  %s (%d)", p.Cyan(visible(m.Format)), m.Score)
			for _, e := range m.Evidence {
				p.Line("    " + visible(e))
			}
		}
	}
}

func (r convertResult) text(p *page) {
	p.Linef("%s -> %s", p.Strong(visible(r.Source)), p.Strong(visible(r.Target)))
	if r.Lane == "session" {
		r.sessions(p)
	} else if len(r.Stores) == 1 && r.Stores[0].Path == "." {
		r.alone(p, &r.Stores[0])
	} else {
		r.crowd(p)
	}
	if r.Backup != "" {
		p.Linef("  old target kept as %s", visible(r.Backup))
	}
	if r.Sidecar != "" {
		p.Linef("  what the target has no room for is kept as %s", visible(r.Sidecar))
	}
}

// alone shows one store with its tables.
func (r convertResult) alone(p *page, s *convert.StoreReport) {
	p.Linef("  %s -> %s, %s conversion: %s, %s, %s", s.From, s.To, r.Lane, p.status(s.Status), many(s.Rows, "record"), size(s.Bytes))
	var rows [][]screen.Safe
	for i, set := range s.Sets {
		if i == mostSets && len(s.Sets) > mostSets+1 {
			break
		}
		rows = append(rows, []screen.Safe{screen.Brief(setName(set.File, set.Table)), grouped(set.Rows), size(set.Bytes), briefDigest(set.Digest)})
	}
	p.Table("    ", rows)
	if more := len(s.Sets) - len(rows); more > 0 {
		p.Linef("    and %d more", more)
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
		pad := screen.Repeat(" ", len(convert.Withheld)-len(s.Status))
		p.Linef("  %s%s  %s", p.status(s.Status), pad, visible(s.Path))
		if s.Status == convert.Withheld {
			p.losses("    ", s.Losses)
		} else {
			books.enter(s)
		}
		p.failure("    ", s.Error)
	}
	var totals []screen.Safe
	for _, status := range []string{convert.Placed, convert.Checked, convert.Withheld, convert.Failed} {
		if n := count[status]; n > 0 {
			totals = append(totals, grouped(int64(n))+" "+p.status(status))
		}
	}
	p.Linef("  %s conversion: %s; %s, %s", r.Lane, screen.Join(totals, ", "), many(records, "record"), size(bytes))
	p.losses("  ", books)
	p.omitted(omitted)
}

// crowdBooks are the losses of many stores, summed up by their reason.
type crowdBooks []loss.Group

func (b *crowdBooks) enter(s *convert.StoreReport) {
	lines := slices.Clone(s.Losses)
	for k, l := range lines {
		lines[k].Places = slices.Clone(l.Places)
		for i, at := range l.Places {
			if s.Path != "." { // else the place says it all
				lines[k].Places[i] = s.Path + ": " + at
			}
		}
	}
	*b = loss.Merge(*b, lines)
}

// status paints the one word that says how a store fared.
func (p *page) status(status string) screen.Safe {
	word := visible(status)
	switch status {
	case convert.Placed:
		return p.Green(word)
	case convert.Failed:
		return p.Red(word)
	case convert.Withheld:
		return p.Yellow(word)
	}
	return word
}

func (p *page) losses(indent screen.Safe, lines []loss.Group) {
	for _, l := range lines {
		p.Linef("%s%s: %s %s %s", indent, p.Yellow(visible(l.Kind.String())), grouped(l.Count), visible(l.What), p.Faint("("+visible(string(l.Code))+")"))
		if len(l.Places) > 0 && l.Places[0] != "" {
			p.Linef("%s  first at %s", indent, screen.Brief(l.Places[0]))
		}
	}
}

func (p *page) omitted(secrets int64) {
	if secrets > 0 {
		p.Linef("  %s withheld from the text, so the target lacks them", many(secrets, "secret"))
	}
}

func (p *page) failure(indent screen.Safe, e *convert.ErrorReport) {
	if e == nil {
		return
	}
	p.Line(indent + p.Red(visible(e.Message)))
	if e.Hint != "" {
		p.Line(p.Faint(indent + "hint: " + visible(e.Hint)))
	}
}

// briefDigest is the algorithm and the first digits of a digest.
func briefDigest(d string) screen.Safe {
	const kept = 13
	if s := visible(d); len(s) <= kept+1 {
		return s
	}
	return screen.Cut(visible(d), kept+1)
}

// setName is a table as addresses spell it, or a file.
func setName(file, table string) string {
	if file == "" || table == "" {
		return file + table
	}
	return file + "/" + table
}
