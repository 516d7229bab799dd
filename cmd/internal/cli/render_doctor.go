package cli

import (
	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
)

func (r *doctorResult) Text(p *screen.Page) {
	if len(r.Clients) == 0 && r.Unread == 0 {
		p.Line("no sessions found")
		r.kept(p)
		return
	}
	rows := [][]screen.Safe{{"", "format", "read", "size", "raw", "version", ""}}
	for i := range r.Clients {
		row := r.Clients[i].row()
		if r.width > 0 && r.width < screen.PageWidth { // no room for places
			row = row[:len(row)-1]
		}
		rows = append(rows, row)
	}
	for i, line := range screen.Columns(rows, 2, 3, 4) {
		line = r.cut(line)
		if i == 0 {
			p.Line("  " + p.Faint(line[2:]))
			continue
		}
		p.Line(r.Clients[i-1].mark(p) + " " + line[2:])
		if r.verbose {
			r.Clients[i-1].versions(p)
		}
	}
	p.Line("  " + countSessions(r.Sessions, r.Subagents))
	if len(r.absent) > 0 {
		console.PrintProse(p, "  not found: "+screen.Join(visibleAll(r.absent), ", "))
	}
	if r.Lost > 0 {
		console.PrintProse(p, screen.Sprintf("  %s in folders that no longer exist: `rehome ls` lists these, and how the sessions follow them", screen.Plural(int64(r.Lost), "session")))
	}
	r.kept(p)
	r.remarks(p)
	r.drift(p)
}

func (r *doctorResult) kept(p *screen.Page) {
	for i := range r.Kept {
		console.PrintProse(p, "  "+r.Kept[i].line())
	}
}

// cut cuts a line at the right edge of the terminal, if there is one.
func (r *doctorResult) cut(line screen.Safe) screen.Safe {
	if r.width > 0 {
		line = screen.Cut(line, r.width)
	}
	return line
}

// row returns the columns of a client.
func (c *doctorClient) row() []screen.Safe {
	raw := screen.Safe("–")
	if c.Fields.Read > 0 {
		raw = screen.Sprintf("%d%%", c.Fields.Raw*100/c.Fields.Read)
	}
	newest := screen.Safe("–")
	if len(c.Versions) > 0 {
		newest = screen.Visible(c.Versions[0].Name)
	}
	return []screen.Safe{"", screen.Visible(c.Format), screen.Grouped(int64(c.Sessions)), screen.Size(c.Bytes), raw, newest,
		screen.Join(visibleAll(c.Places), ", ")}
}

// mark returns ✗ if a store could not be read, ! if there is drift or a version is
// newer than those tested, and else ✓.
func (c *doctorClient) mark(p *screen.Page) screen.Safe {
	switch {
	case c.Unread > 0:
		return p.Bad()
	case c.newer || len(c.Drift) > 0:
		return p.Warn()
	}
	return p.OK()
}

// versions prints all versions of a client.
func (c *doctorClient) versions(p *screen.Page) {
	for _, v := range c.Versions {
		tested := screen.Safe("not tested")
		if v.Tested {
			tested = "tested"
		}
		p.Linef("    %s: %s, %s", screen.Visible(v.Name), screen.Plural(int64(v.Sessions), "session"), tested)
	}
}

// remarks prints what follows from versions, and what could not be read.
func (r *doctorResult) remarks(p *screen.Page) {
	for i := range r.Clients {
		if c := &r.Clients[i]; c.newer {
			p.Line("")
			console.PrintProse(p, screen.Sprintf("%s %s is newer than the versions tested (%s). Exact conversions copy every record anyway; "+
				"others report what they cannot carry.", screen.Visible(c.Format), screen.Visible(c.Versions[0].Name),
				screen.Join(visibleAll(c.Tested), ", ")))
		}
	}
	if r.Unread == 0 {
		return
	}
	p.Line("")
	p.Line(p.Bad() + " " + screen.Sprintf("%s could not be read", screen.Plural(int64(r.Unread), "store")))
	shown := r.failed
	if !r.verbose {
		shown = shown[:min(len(shown), 3)]
	}
	for _, u := range shown {
		p.Table("    ", [][]screen.Safe{{screen.Visible(u.Err.Error())}})
	}
	if rest := len(r.failed) - len(shown); rest > 0 {
		p.Linef("    and %s more: --verbose lists all", screen.Grouped(int64(rest)))
	}
}

// maxDriftRows is how many rows of drift are printed without --verbose.
const maxDriftRows = 15

// drift prints what is unknown, and what to do about it.
func (r *doctorResult) drift(p *screen.Page) {
	p.Line("")
	if r.Drift == 0 {
		p.Linef("nothing in these stores is unknown to rehome %s", screen.Visible(r.Rehome))
		return
	}
	p.Line(p.Strong(screen.Sprintf("unknown to rehome %s", screen.Visible(r.Rehome))))
	rows, rest := r.driftRows()
	for _, line := range screen.Columns(rows, 1) {
		p.Line(r.cut("  " + line))
	}
	if rest > 0 {
		p.Linef("  and %s more: --verbose lists all", screen.Grouped(rest))
	}
	p.Line("")
	console.PrintProse(p, "To report this, paste the output of `rehome doctor --json` into an issue. It has names and counts, but no content.")
}

// driftRows returns a row for each name, and the number of names that have none.
func (r *doctorResult) driftRows() (rows [][]screen.Safe, rest int64) {
	for i := range r.Clients {
		c := &r.Clients[i]
		rest += c.More
		for k := 0; k < len(c.Drift); {
			d, n, where := c.Drift[k], int64(0), screen.Safe("")
			from := k
			for ; k < len(c.Drift) && c.Drift[k].Kind == d.Kind && c.Drift[k].Name == d.Name; k++ {
				n += c.Drift[k].Count
			}
			if len(rows) >= maxDriftRows && !r.verbose {
				rest++
				continue
			}
			if where = screen.Visible(d.Where); k-from > 1 {
				where += screen.Sprintf(" +%d", k-from-1)
			}
			rows = append(rows, []screen.Safe{screen.Visible(c.Format), screen.Grouped(n), screen.Visible(string(d.Kind)), screen.Visible(d.Name),
				"in " + where})
		}
	}
	return rows, rest
}

func visibleAll(list []string) (out []screen.Safe) {
	for _, s := range list {
		out = append(out, screen.Visible(s))
	}
	return out
}

func (r *detectResult) Text(p *screen.Page) {
	for _, d := range r.Paths {
		if d.Error != nil {
			continue // reported on stderr
		}
		p.Line(p.Strong(screen.Visible(d.Path)))
		for _, m := range d.Matches {
			p.Linef("  %s (%d)", p.Cyan(screen.Visible(m.Format)), m.Score)
			for _, e := range m.Evidence {
				p.Line("    " + screen.Visible(e))
			}
		}
	}
}
