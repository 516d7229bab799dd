package cli

import (
	"cmp"
	"slices"
	"time"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/convert/sessions"
	"rehome/formats/session"
)

func (r *lsResult) Text(p *screen.Page) {
	if r.width == 0 {
		r.tabbed(p, r.Sessions)
		return
	}
	if len(r.Sessions) == 0 {
		p.Line("No sessions found.")
		for _, l := range r.searched() {
			for _, part := range r.wrapped("  ", l, screen.Plain) {
				p.Line(part)
			}
		}
	}
	tail := r.tail(p)
	rows := r.rows()
	shown, lines := rows, r.height-len(tail)-1 // the prompt needs a line, too
	if r.height > 0 && r.lines(rows) > lines {
		footer := func(n int) []screen.Safe {
			return r.wrapped("", screen.Sprintf("%s of %s; all: --limit 0", screen.Grouped(int64(listed(rows[:n]))),
				countSessions(listed(rows), len(rows)-listed(rows))), p.Faint)
		}
		shown = rows[:r.fitting(rows, max(lines-1-len(footer(len(rows))), minListed))]
		cut := footer(len(shown))
		tail = slices.Concat([]screen.Safe{""}, cut, tail)
	}
	r.table(p, shown)
	for _, l := range tail {
		p.Line(l)
	}
}

// lsRow is a row of the table on a terminal.
type lsRow struct {
	*lsSession
	indent screen.Safe
	copied bool // listed below its original
	here   bool // in the section of the current directory

	subagent bool          // listed below its parent
	heading  []screen.Safe // the lines above it
}

// countSessions says how many sessions there are, in the same words everywhere.
func countSessions(count, subagents int) screen.Safe {
	out := screen.Plural(int64(count), "session")
	if subagents > 0 {
		out += ", " + screen.Plural(int64(subagents), "subagent")
	}
	return out
}

// listed returns how many rows are not of subagents.
func listed(rows []lsRow) (n int) {
	for _, row := range rows {
		if !row.subagent {
			n++
		}
	}
	return n
}

// rows returns a row for each session, those of the current directory first. A
// session is followed by its subagents and by the copies that rehome made of it.
func (r *lsResult) rows() []lsRow {
	original := originals(r.Sessions, func(s *lsSession) (id, origin, folder string) { return s.ID, s.Origin, s.Project })
	copies := map[*lsSession][]*lsSession{}
	for i := range r.Sessions {
		if s := &r.Sessions[i]; original[s] != s {
			copies[original[s]] = append(copies[original[s]], s)
		}
	}
	here := sessions.NewProject(r.here)
	var sections [2][]lsRow
	done := map[*lsSession]bool{}
	for i := range r.Sessions {
		s := original[&r.Sessions[i]] // the newest of a session and its copies decides where all of them are
		if done[s] {
			continue
		}
		done[s] = true
		row := lsRow{lsSession: s, here: r.here != "" && here.Contains(s.Project)}
		section := &sections[0]
		if !row.here {
			section = &sections[1]
		}
		*section = appendFamily(*section, row)
		for _, c := range copies[s] {
			*section = appendFamily(*section, lsRow{lsSession: c, indent: "  ", copied: true, here: row.here})
		}
	}
	if len(sections[0]) > 0 && len(sections[1]) > 0 {
		sections[0][0].heading, sections[1][0].heading = []screen.Safe{"This folder"}, []screen.Safe{"", "Other folders"}
	}
	return append(sections[0], sections[1]...)
}

// maxCopied is how many times a copy can have been copied.
const maxCopied = 4

// originals returns the original of each session of a list: itself, unless it is a
// copy. Of two originals with one id, it is that of the same folder.
func originals[T any](list []T, of func(*T) (id, origin, folder string)) map[*T]*T {
	byID, out := map[string][]*T{}, map[*T]*T{}
	for i := range list {
		id, _, _ := of(&list[i])
		byID[id] = append(byID[id], &list[i])
	}
	for i := range list {
		s := &list[i]
		_, _, folder := of(s)
		out[s] = s
		for range maxCopied {
			_, origin, _ := of(out[s])
			if same := byID[origin]; origin != "" && len(same) > 0 {
				out[s] = same[max(0, slices.IndexFunc(same, func(x *T) bool { _, _, at := of(x); return at == folder }))]
			}
		}
	}
	return out
}

// onScreen returns the sessions that at most fit on the screen: those of the
// current directory, then the others.
func (r *lsResult) onScreen(wanted []sessions.Listed, height int) []*sessions.Listed {
	here := sessions.NewProject(r.here)
	var out, others []*sessions.Listed
	for i := range wanted {
		if s := &wanted[i]; r.here != "" && here.Contains(s.Workspace) {
			out = append(append(out, s), s.Children...)
		} else {
			others = append(append(others, s), s.Children...)
		}
	}
	out = append(out, others...)
	return out[:min(len(out), height)]
}

// appendFamily appends a row and those of its subagents.
func appendFamily(rows []lsRow, row lsRow) []lsRow {
	rows = append(rows, row)
	for i := range row.Children {
		rows = appendFamily(rows, lsRow{lsSession: &row.Children[i], indent: row.indent + "  ", here: row.here, subagent: true})
	}
	return rows
}

// lsColumn is a column of the table on a terminal.
type lsColumn struct {
	name  screen.Safe
	from  int // width of the narrowest terminal that has it
	right bool
	cell  func(*lsResult, *lsRow) screen.Safe
	paint func(*screen.Page, *lsRow, screen.Safe) screen.Safe
}

const (
	titleColumn     = 1
	minTitleWidth   = 10
	maxProjectShare = 5  // the project takes at most this part of the width
	minListed       = 10 // lines that are listed even if the screen is small
)

func lsColumns() []lsColumn {
	faint := func(p *screen.Page, _ *lsRow, s screen.Safe) screen.Safe { return p.Faint(s) }
	return []lsColumn{
		{"id", 0, false, func(r *lsResult, s *lsRow) screen.Safe { return screen.Visible(r.listing.ShownID(s.ID)) },
			func(p *screen.Page, _ *lsRow, s screen.Safe) screen.Safe { return p.Cyan(s) }},
		{"title", 0, false, (*lsResult).title, func(_ *screen.Page, _ *lsRow, s screen.Safe) screen.Safe { return s }},
		{"project", 90, false, (*lsResult).project, faint},
		{"client", 50, false, func(_ *lsResult, s *lsRow) screen.Safe { return screen.Visible(s.Agent) },
			func(p *screen.Page, row *lsRow, s screen.Safe) screen.Safe { return p.Client(row.Agent, s) }},
		{"updated", 34, true, (*lsResult).when, faint},
		{"turns", 80, true, func(_ *lsResult, s *lsRow) screen.Safe { return known(s.Turns, screen.Grouped) }, faint},
		{"size", 110, true, func(_ *lsResult, s *lsRow) screen.Safe { return known(s.Bytes, screen.Size) }, faint},
	}
}

func known(n *int64, format func(int64) screen.Safe) screen.Safe {
	if n == nil {
		return console.Unknown
	}
	return format(*n)
}

func (r *lsResult) title(row *lsRow) screen.Safe {
	title := screen.Safe("")
	if row.Title != "" {
		title = console.OneLine(row.Title)
	} else if row.prompt != "" { // in quotes: it is not the name of the session
		title = "“" + console.OneLine(row.prompt) + "”"
	}
	if row.copied {
		title = "→ " + title
	}
	if row.Mark != "" {
		title = screen.Trim(title+" ("+screen.Visible(row.Mark)+")", " ")
	}
	return row.indent + cmp.Or(title, console.Unknown)
}

func (r *lsResult) project(row *lsRow) screen.Safe {
	if row.copied || row.here && sessions.SameFolder(row.Project, r.here) {
		return ""
	}
	return console.ShortenPath(r.shortPath(row.Project), r.width/maxProjectShare)
}

func (r *lsResult) when(row *lsRow) screen.Safe {
	t := row.updated
	if !r.long || !t.Known() {
		return age(t, r.now)
	}
	return approximate(t, t.Time().In(r.now.Location()).Format("2006-01-02 15:04"))
}

// age returns how long ago a session was changed.
func age(t session.Stamp, now time.Time) screen.Safe {
	if !t.Known() {
		return console.Unknown
	}
	return approximate(t, relativeTime(t.Time(), now))
}

// approximate marks the text of a time that only a file tells.
func approximate(t session.Stamp, text string) screen.Safe {
	if t.Inferred() {
		text = "~" + text
	}
	return screen.Visible(text)
}

func (r *lsResult) shortPath(dir string) screen.Safe { return console.ShortPath(r.home, dir) }

// table prints rows. The title has the width that the other columns leave.
func (r *lsResult) table(p *screen.Page, rows []lsRow) {
	if len(rows) == 0 {
		return
	}
	columns, cells, width := r.measure(rows)
	line := func(row *lsRow, cells []screen.Safe) (out screen.Safe) {
		for i, c := range columns {
			cell := screen.Cut(cells[i], width[i])
			pad := screen.Repeat(" ", width[i]-screen.Cells(cell))
			if row != nil {
				cell = c.paint(p, row, cell)
			}
			if c.right {
				cell = pad + cell
			} else {
				cell += pad
			}
			out += cell + screen.Repeat(" ", console.Gap)
		}
		return screen.TrimRight(out, " ")
	}
	p.Line(p.Faint(line(nil, cells[0])))
	for i := range rows {
		for _, l := range rows[i].heading {
			p.Line(p.Strong(l))
		}
		p.Line(line(&rows[i], cells[i+1]))
		for n, l := range r.details(&rows[i]) {
			if l = p.Faint(l); n > 0 {
				l = "    " + p.Link(rows[i].Sources[n-1].Path, l)
			} else {
				l = "    " + l
			}
			p.Line(l)
		}
	}
}

// measure returns the columns that the terminal has room for and that some row
// fills, their cells with the header first, and their widths.
func (r *lsResult) measure(rows []lsRow) (columns []lsColumn, cells [][]screen.Safe, width []int) {
	for _, c := range lsColumns() {
		if r.width < c.from {
			continue
		}
		list, filled := make([]screen.Safe, len(rows)), false
		for i := range rows {
			list[i] = c.cell(r, &rows[i])
			filled = filled || list[i] != "" && list[i] != console.Unknown
		}
		if !filled && len(columns) > titleColumn {
			continue
		}
		if cells == nil {
			cells = make([][]screen.Safe, len(rows)+1)
		}
		columns, cells[0] = append(columns, c), append(cells[0], c.name)
		for i, cell := range list {
			cells[i+1] = append(cells[i+1], cell)
		}
	}
	width = screen.ColumnWidths(cells)
	room := r.width
	for i, w := range width {
		if i != titleColumn {
			room -= w + console.Gap
		}
	}
	width[titleColumn] = min(width[titleColumn], max(room, minTitleWidth))
	return columns, cells, width
}

// details returns the lines below a row with --long: its whole id and its stores.
func (r *lsResult) details(row *lsRow) []screen.Safe {
	if !r.long {
		return nil
	}
	out := []screen.Safe{"id " + screen.Visible(row.ID)}
	for _, s := range row.Sources {
		out = append(out, "in "+r.shortPath(s.Path)+" ("+screen.Visible(s.Format)+")")
	}
	return out
}

// lines returns how many lines the table of some rows has.
func (r *lsResult) lines(rows []lsRow) int {
	n := 1
	for i := range rows {
		n += 1 + len(rows[i].heading)
		for _, l := range r.details(&rows[i]) { // the terminal wraps them, so that they can be copied
			n += 1 + (screen.Cells(l)+3)/r.width
		}
	}
	return n
}

// fitting returns how many rows fit in a number of lines.
func (r *lsResult) fitting(rows []lsRow, lines int) int {
	n := 0
	for n < len(rows) && r.lines(rows[:n+1]) <= lines {
		n++
	}
	return n
}
