package main

import (
	"path"
	"path/filepath"
	"strings"

	"rehome/cmd/rehome/internal/screen"
	"rehome/convert"
)

// unknown stands where nothing is known.
const unknown screen.Safe = "–"

// lsRow is a line of the table, before anything is cut.
type lsRow struct {
	agent, id, title, project, updated, turns, size screen.Safe
	sources                                         []lsSource
	whole                                           screen.Safe // the id, if its column has no room for it and it is wanted
}

func (r *lsResult) text(p *page) {
	rows := r.rows(nil, r.Sessions, "")
	if len(rows) > 0 {
		r.table(p, rows)
	} else {
		p.Line("no sessions found")
		r.looked(p)
	}
	if len(r.Unread) > 0 {
		p.Line("")
		p.Line("not read:")
		for _, u := range r.Unread {
			r.unread(p, u)
		}
	}
	r.unrecognized(p)
	r.footer(p)
}

// rows is a line for each session, those of subagents below their parent's.
func (r *lsResult) rows(rows []lsRow, list []lsSession, indent screen.Safe) []lsRow {
	for i := range list {
		s := &list[i]
		row := lsRow{
			agent: visible(s.Agent), id: visible(r.listing.Short(s.ID)), title: indent + visible(s.Title),
			project: r.place(s.Project), updated: unknown, turns: unknown, size: unknown, sources: s.Sources,
		}
		if s.Title == "" {
			row.title = indent + unknown
		}
		if s.Mark != "" {
			row.title = screen.TrimRight(indent+visible(s.Title), " ")
			if s.Title != "" {
				row.title += " "
			} else {
				row.title = indent
			}
			row.title += "(" + visible(s.Mark) + ")"
		}
		if n := len(s.Sources); n > 1 {
			row.agent += screen.Sprintf(" +%d", n-1)
		}
		if s.updated.Known() {
			row.updated = visible(since(s.updated.Time(), r.now))
			if r.long {
				row.updated = visible(s.updated.Time().In(r.now.Location()).Format("2006-01-02 15:04"))
			}
			if s.updated.Inferred() {
				row.updated = "~" + row.updated
			}
		}
		if s.Turns != nil {
			row.turns = grouped(*s.Turns)
		}
		if s.Bytes != nil {
			row.size = size(*s.Bytes)
		}
		rows = append(rows, row)
		rows = r.rows(rows, s.Children, indent+"  ")
	}
	return rows
}

// place is a folder as people write it.
func (r *lsResult) place(dir string) screen.Safe {
	if dir == "" {
		return unknown
	}
	if rel, err := filepath.Rel(r.home, dir); r.home != "" && err == nil && filepath.IsLocal(rel) {
		dir = path.Join("~", filepath.ToSlash(rel))
	}
	return visible(dir)
}

// Columns of the table: those whose words are short keep their width, title
// and project share what is left.
const (
	gap          = 2
	mostAgent    = 16
	mostID       = 16
	wide         = 120 // columns from which on ids that only their ends tell apart are shown whole
	mostIDWide   = 40
	leastTitle   = 12
	leastProject = 8
)

func (r *lsResult) table(p *page, rows []lsRow) {
	head := lsRow{agent: "client", id: "id", title: "title", project: "project", updated: "updated", turns: "turns", size: "size"}
	var agent, id, title, project, updated, turns, size int
	longestID := mostID
	if r.width >= wide {
		longestID = mostIDWide
	}
	for i := range rows {
		row := &rows[i]
		if r.long && screen.Cells(row.id) > longestID {
			row.whole = row.id
		}
		row.agent, row.id = screen.Cut(row.agent, mostAgent), screen.Cut(row.id, longestID)
	}
	for _, row := range append([]lsRow{head}, rows...) {
		agent, id = max(agent, screen.Cells(row.agent)), max(id, screen.Cells(row.id))
		title, project = max(title, screen.Cells(row.title)), max(project, screen.Cells(row.project))
		updated, turns, size = max(updated, screen.Cells(row.updated)), max(turns, screen.Cells(row.turns)), max(size, screen.Cells(row.size))
	}
	base := 0
	for _, row := range rows {
		base = max(base, screen.Cells(lastPart(row.project)))
	}
	room := max(r.width-agent-id-updated-turns-size-6*gap, leastTitle+leastProject)
	if title+project > room {
		project = min(project, max(leastProject, room-title, min(base, room/2)))
		title = min(title, room-project)
	}
	line := func(row lsRow) screen.Safe {
		return left(row.agent, agent) + left(row.id, id) + left(screen.Cut(row.title, title), title) +
			left(folder(row.project, project), project) + left(row.updated, updated) +
			right(row.turns, turns) + screen.Repeat(" ", gap) + right(row.size, size)
	}
	p.Line(p.Faint(screen.TrimRight(line(head), " ")))
	for _, row := range rows {
		p.Line(line(row))
		if row.whole != "" {
			p.Line(p.Faint("    id " + row.whole))
		}
		if r.long {
			for _, s := range row.sources {
				p.Line(p.Faint("    in " + r.place(s.Path) + " (" + visible(s.Format) + ")"))
			}
		}
	}
}

// folder shortens a path to a width: to its last part, and that at its
// beginning.
func folder(dir screen.Safe, width int) screen.Safe {
	if screen.Cells(dir) > width {
		dir = lastPart(dir)
	}
	return screen.CutLeft(dir, width)
}

func lastPart(dir screen.Safe) screen.Safe { return dir[strings.LastIndexByte(string(dir), '/')+1:] }

// left and right fill a cell; left puts the gap to the next one behind it.
func left(s screen.Safe, width int) screen.Safe {
	return s + screen.Repeat(" ", max(0, width-screen.Cells(s))+gap)
}

func right(s screen.Safe, width int) screen.Safe {
	return screen.Repeat(" ", width-screen.Cells(s)) + s
}

// unread says which store could not be read, and why.
func (r *lsResult) unread(p *page, u lsUnread) {
	name := r.place(u.Path)
	if u.Format != "" {
		name += " (" + visible(u.Format) + ")"
	}
	p.Line("  " + name)
	for _, part := range screen.Broken(visible(u.Reason), screen.PageWidth-4) {
		p.Line(p.Yellow("    " + part))
	}
	if u.Hint != "" && u.Reason != convert.ErrNotYet.Error() {
		p.Line(p.Faint("    hint: " + visible(u.Hint)))
	}
}

// maxUnrecognized is how many files that nobody recognizes are named, unless
// all is asked for.
const maxUnrecognized = 3

// unrecognized names the files that look like sessions of nobody known.
func (r *lsResult) unrecognized(p *page) {
	named := r.Unrecognized
	if len(named) == 0 {
		return
	}
	p.Line("")
	if len(named) == 1 {
		p.Line("1 file looks like a session, but no format recognizes it: " + r.place(named[0]))
		return
	}
	p.Line(grouped(int64(len(named))) + " files look like sessions, but no format recognizes them:")
	more := len(named) - maxUnrecognized
	if r.all || more == 1 {
		more = 0
	}
	for _, path := range named[:len(named)-max(more, 0)] {
		p.Line("  " + r.place(path))
	}
	if more > 0 {
		p.Line(p.Faint("  and " + grouped(int64(more)) + " more (--all)"))
	}
}

// footer counts, and says what is not shown and how to see it.
func (r *lsResult) footer(p *page) {
	var parts []screen.Safe
	add := func(n int, one, more screen.Safe) {
		if n == 1 {
			parts = append(parts, "1 "+one)
		} else if n > 1 {
			parts = append(parts, grouped(int64(n))+" "+more)
		}
	}
	add(r.Hidden.Other, "session filtered out", "sessions filtered out")
	add(r.Hidden.Older, "older session (--limit)", "older sessions (--limit)")
	add(r.Hidden.Empty, "empty session (--all)", "empty sessions (--all)")
	add(r.Hidden.Foreign, "file that is not a store (--all)", "files that are not stores (--all)")
	if len(parts) == 0 {
		return
	}
	p.Line("")
	for i, l := range screen.Broken("not shown: "+screen.Join(parts, ", "), screen.PageWidth) {
		if i > 0 {
			l = "  " + l
		}
		p.Line(p.Faint(l))
	}
}

// looked says where no session was found: reading the wrong place is what
// mostly goes wrong.
func (r *lsResult) looked(p *page) {
	for _, dir := range r.Places {
		p.Line("  looked in " + r.place(dir))
	}
	if len(r.Places) == 0 {
		for _, dir := range r.listing.Absent {
			p.Line("  does not exist: " + r.place(dir))
		}
	}
}
