package main

import (
	"path"
	"path/filepath"
	"strings"

	"rehome/cmd/rehome/internal/screen"
	"rehome/convert/sessions"
)

// unknown stands for a value that is not known.
const unknown screen.Safe = "–"

// lsRow is a row of the table before its cells are cut.
type lsRow struct {
	agent, id, title, project, updated, turns, size screen.Safe
	sources                                         []lsSource
	fullID                                          screen.Safe // the full id, if it is wanted and does not fit the column
}

func (r *lsResult) text(p *page) {
	rows := r.rows(nil, r.Sessions, "")
	if len(rows) > 0 {
		r.table(p, rows)
	} else {
		p.Line("no sessions found")
		r.searched(p)
	}
	if len(r.Unread) > 0 {
		p.Line("")
		p.Line("could not be read:")
		for _, u := range r.Unread {
			r.unread(p, u)
		}
	}
	r.unrecognized(p)
	r.footer(p)
}

// rows appends a row for each session, followed by the rows of its subagents.
func (r *lsResult) rows(rows []lsRow, list []lsSession, indent screen.Safe) []lsRow {
	for i := range list {
		s := &list[i]
		row := lsRow{
			agent: visible(s.Agent), id: visible(r.listing.ShortID(s.ID)), title: indent + visible(s.Title),
			project: r.shortPath(s.Project), updated: unknown, turns: unknown, size: unknown, sources: s.Sources,
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
			row.updated = visible(relativeTime(s.updated.Time(), r.now))
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

// shortPath returns a path with ~ for the home folder.
func (r *lsResult) shortPath(dir string) screen.Safe {
	if dir == "" {
		return unknown
	}
	if rel, err := filepath.Rel(r.home, dir); r.home != "" && err == nil && filepath.IsLocal(rel) {
		dir = path.Join("~", filepath.ToSlash(rel))
	}
	return visible(dir)
}

// Widths of the columns. Title and project share the width that the other columns leave.
const (
	gap             = 2
	maxAgentWidth   = 16
	maxIDWidth      = 16
	wideScreen      = 120 // width from which ids get up to maxWideIDWidth cells
	maxWideIDWidth  = 40
	minTitleWidth   = 12
	minProjectWidth = 8
)

func (r *lsResult) table(p *page, rows []lsRow) {
	head := lsRow{agent: "client", id: "id", title: "title", project: "project", updated: "updated", turns: "turns", size: "size"}
	var agent, id, title, project, updated, turns, size int
	maxID := maxIDWidth
	if r.width >= wideScreen {
		maxID = maxWideIDWidth
	}
	for i := range rows {
		row := &rows[i]
		if r.long && screen.Cells(row.id) > maxID {
			row.fullID = row.id
		}
		row.agent, row.id = screen.Cut(row.agent, maxAgentWidth), screen.Cut(row.id, maxID)
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
	room := max(r.width-agent-id-updated-turns-size-6*gap, minTitleWidth+minProjectWidth)
	if title+project > room {
		project = min(project, max(minProjectWidth, room-title, min(base, room/2)))
		title = min(title, room-project)
	}
	line := func(row lsRow) screen.Safe {
		return padRight(row.agent, agent) + padRight(row.id, id) + padRight(screen.Cut(row.title, title), title) +
			padRight(shortenPath(row.project, project), project) + padRight(row.updated, updated) +
			padLeft(row.turns, turns) + screen.Repeat(" ", gap) + padLeft(row.size, size)
	}
	p.Line(p.Faint(screen.TrimRight(line(head), " ")))
	for _, row := range rows {
		p.Line(line(row))
		if row.fullID != "" {
			p.Line(p.Faint("    id " + row.fullID))
		}
		if r.long {
			for _, s := range row.sources {
				p.Line(p.Faint("    in " + r.shortPath(s.Path) + " (" + visible(s.Format) + ")"))
			}
		}
	}
}

// shortenPath shortens a path to a width by cutting it to its last element, and
// that at its beginning.
func shortenPath(dir screen.Safe, width int) screen.Safe {
	if screen.Cells(dir) > width {
		dir = lastPart(dir)
	}
	return screen.CutLeft(dir, width)
}

func lastPart(dir screen.Safe) screen.Safe { return dir[strings.LastIndexByte(string(dir), '/')+1:] }

// padRight pads a cell to a width, followed by the gap between columns.
func padRight(s screen.Safe, width int) screen.Safe {
	return s + screen.Repeat(" ", max(0, width-screen.Cells(s))+gap)
}

func padLeft(s screen.Safe, width int) screen.Safe {
	return screen.Repeat(" ", width-screen.Cells(s)) + s
}

// unread prints which store could not be read, and why.
func (r *lsResult) unread(p *page, u lsUnread) {
	name := r.shortPath(u.Path)
	if u.Format != "" {
		name += " (" + visible(u.Format) + ")"
	}
	p.Line("  " + name)
	for _, part := range screen.WrapWords(visible(u.Reason), screen.PageWidth-4) {
		p.Line(p.Yellow("    " + part))
	}
	if u.Hint != "" && u.Reason != sessions.ErrUnsupported.Error() {
		p.Line(p.Faint("    hint: " + visible(u.Hint)))
	}
}

// maxUnrecognized is how many unrecognized files are listed without --all.
const maxUnrecognized = 3

// unrecognized lists files that look like sessions but have no known format.
func (r *lsResult) unrecognized(p *page) {
	named := r.Unrecognized
	if len(named) == 0 {
		return
	}
	p.Line("")
	if len(named) == 1 {
		p.Line("1 file looks like a session, but no format recognizes it: " + r.shortPath(named[0]))
		return
	}
	p.Line(grouped(int64(len(named))) + " files look like sessions, but no format recognizes them:")
	more := len(named) - maxUnrecognized
	if r.all || more == 1 {
		more = 0
	}
	for _, path := range named[:len(named)-max(more, 0)] {
		p.Line("  " + r.shortPath(path))
	}
	if more > 0 {
		p.Line(p.Faint("  and " + grouped(int64(more)) + " more (--all)"))
	}
}

// footer counts what is not shown and names the flags that show it.
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
	for i, l := range screen.WrapWords("not shown: "+screen.Join(parts, ", "), screen.PageWidth) {
		if i > 0 {
			l = "  " + l
		}
		p.Line(p.Faint(l))
	}
}

// searched lists the searched folders, since the usual reason for an empty list
// is searching in the wrong place.
func (r *lsResult) searched(p *page) {
	for _, dir := range r.Places {
		p.Line("  looked in " + r.shortPath(dir))
	}
	if len(r.Places) == 0 {
		for _, dir := range r.listing.Absent {
			p.Line("  does not exist: " + r.shortPath(dir))
		}
	}
}
