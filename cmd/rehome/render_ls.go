package main

import (
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"rehome/cmd/rehome/internal/screen"
	"rehome/convert"
)

// unknown stands where nothing is known.
const unknown = "–"

// lsRow is a line of the table, before anything is cut.
type lsRow struct {
	agent, id, title, project, updated, turns, size string
	sources                                         []lsSource
	whole                                           string // the id, if its column has no room for it and it is wanted
}

func (r *lsResult) text(p *page) {
	rows := r.rows(nil, r.Sessions, "")
	if len(rows) > 0 {
		r.table(p, rows)
	} else {
		p.line("no sessions")
		r.looked(p)
	}
	if len(r.Unread) > 0 {
		p.line("")
		p.line("not read:")
		for _, u := range r.Unread {
			r.unread(p, u)
		}
	}
	r.unrecognized(p)
	r.footer(p)
}

// rows is a line for each session, those of subagents below their parent's.
func (r *lsResult) rows(rows []lsRow, list []lsSession, indent string) []lsRow {
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
			row.title = strings.TrimRight(indent+visible(s.Title), " ")
			if s.Title != "" {
				row.title += " "
			} else {
				row.title = indent
			}
			row.title += "(" + visible(s.Mark) + ")"
		}
		if n := len(s.Sources); n > 1 {
			row.agent += " +" + strconv.Itoa(n-1)
		}
		if s.updated.Known() {
			row.updated = since(s.updated.Time(), r.now)
			if r.long {
				row.updated = s.updated.Time().In(r.now.Location()).Format("2006-01-02 15:04")
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
func (r *lsResult) place(dir string) string {
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
	head := lsRow{agent: "agent", id: "id", title: "title", project: "project", updated: "updated", turns: "turns", size: "size"}
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
		base = max(base, screen.Cells(path.Base(row.project)))
	}
	room := max(r.width-agent-id-updated-turns-size-6*gap, leastTitle+leastProject)
	if title+project > room {
		project = min(project, max(leastProject, room-title, min(base, room/2)))
		title = min(title, room-project)
	}
	line := func(row lsRow) string {
		return left(row.agent, agent) + left(row.id, id) + left(screen.Cut(row.title, title), title) +
			left(folder(row.project, project), project) + left(row.updated, updated) +
			right(row.turns, turns) + strings.Repeat(" ", gap) + right(row.size, size)
	}
	p.line(p.faint(strings.TrimRight(line(head), " ")))
	for _, row := range rows {
		p.line(line(row))
		if row.whole != "" {
			p.line(p.faint("    id " + row.whole))
		}
		if r.long {
			for _, s := range row.sources {
				p.line(p.faint("    in " + r.place(s.Path) + " (" + s.Format + ")"))
			}
		}
	}
}

// folder shortens a path to a width: to its last part, and that at its
// beginning.
func folder(dir string, width int) string {
	if screen.Cells(dir) > width {
		dir = path.Base(dir)
	}
	return screen.CutLeft(dir, width)
}

// left and right fill a cell; left puts the gap to the next one behind it.
func left(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-screen.Cells(s))+gap)
}

func right(s string, width int) string {
	return strings.Repeat(" ", max(0, width-screen.Cells(s))) + s
}

// unread says which store could not be read, and why.
func (r *lsResult) unread(p *page, u lsUnread) {
	name := r.place(u.Path)
	if u.Format != "" {
		name += " (" + u.Format + ")"
	}
	p.line("  " + name)
	for _, part := range broken(visible(u.Reason), pageWidth-4) {
		p.line(p.yellow("    " + part))
	}
	if u.Hint != "" && u.Reason != convert.ErrNotYet.Error() {
		p.line(p.faint("    hint: " + visible(u.Hint)))
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
	p.line("")
	if len(named) == 1 {
		p.line("1 file looks like a session, but no format recognizes it: " + r.place(named[0]))
		return
	}
	p.line(grouped(int64(len(named))) + " files look like sessions, but no format recognizes them:")
	more := len(named) - maxUnrecognized
	if r.all || more == 1 {
		more = 0
	}
	for _, path := range named[:len(named)-max(more, 0)] {
		p.line("  " + r.place(path))
	}
	if more > 0 {
		p.line(p.faint("  and " + grouped(int64(more)) + " more (--all)"))
	}
}

// footer counts, and says what is not shown and how to see it.
func (r *lsResult) footer(p *page) {
	var parts []string
	add := func(n int, one, more string) {
		if n == 1 {
			parts = append(parts, "1 "+one)
		} else if n > 1 {
			parts = append(parts, grouped(int64(n))+" "+more)
		}
	}
	add(r.Hidden.Other, "session of other projects, clients or times", "sessions of other projects, clients or times")
	add(r.Hidden.Older, "older one beyond --limit", "older ones beyond --limit")
	add(r.Hidden.Empty, "empty session (--all)", "empty sessions (--all)")
	add(r.Hidden.Foreign, "file that is no store (--all)", "files that are no stores (--all)")
	if len(parts) == 0 {
		return
	}
	p.line("")
	for i, l := range broken("not shown: "+strings.Join(parts, ", "), pageWidth) {
		if i > 0 {
			l = "  " + l
		}
		p.line(p.faint(l))
	}
}

// looked says where no session was found: reading the wrong place is what
// mostly goes wrong.
func (r *lsResult) looked(p *page) {
	for _, dir := range r.Places {
		p.line("  looked in " + r.place(dir))
	}
	if len(r.Places) == 0 {
		for _, dir := range r.listing.Absent {
			p.line("  not there: " + r.place(dir))
		}
	}
}
