package cli

import (
	"cmp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/convert/sessions"
	"rehome/internal/shell"
)

// lost returns the folders that no longer exist that are listed: without --all, some of those
// that were found.
func (r *lsResult) lost() []sessions.Lost {
	if r.all {
		return r.Lost
	}
	found := slices.DeleteFunc(slices.Clone(r.Lost), func(l sessions.Lost) bool { return l.Found == "" })
	return found[:min(len(found), maxUnlisted)]
}

// lostLine says how the sessions of a folder follow it.
func lostLine(l sessions.Lost, home string) screen.Safe {
	word := func(dir string) string {
		short := console.HomePath(home, dir)
		if below, in := strings.CutPrefix(short, "~/"); in && runtime.GOOS != "windows" && shell.Word(below) == below {
			return short // a shell knows ~ where nothing is quoted
		}
		return shell.Word(dir)
	}
	command := shell.Join(word, []string{"rehome", "mv", l.Folder, cmp.Or(l.Found, "NEW")})
	return screen.Visible(command) + "  (" + screen.Plural(int64(l.Sessions), "session") + ")"
}

// lostSessions counts the sessions of folders that no longer exist.
func lostSessions(list []sessions.Lost) (n int) {
	for _, l := range list {
		n += l.Sessions
	}
	return n
}

// tabbed prints a line for each session and its subagents, for other programs.
func (r *lsResult) tabbed(p *screen.Page, list []lsSession) {
	number := func(n *int64) string {
		if n == nil {
			return ""
		}
		return strconv.FormatInt(*n, 10)
	}
	for i := range list {
		s := &list[i]
		updated := ""
		if s.updated.Known() {
			updated = strings.TrimPrefix(formatStamp(s.updated), "~")
		}
		var line screen.Safe
		for n, cell := range []string{
			s.ID, s.Title, s.Agent, updated, number(s.Turns), number(s.Bytes), s.Project, s.Sources[0].Path, cmp.Or(s.Parent, s.Origin),
		} {
			if n > 0 {
				line += "\t"
			}
			line += screen.Visible(cell)
		}
		p.Line(line)
		r.tabbed(p, s.Children)
	}
}

// remarks returns what the lines for other programs do not say.
func (r *lsResult) remarks() (out []string) {
	if len(r.Sessions) == 0 {
		out = append(out, "no sessions found")
		for _, l := range r.searched() {
			out = append(out, string(l))
		}
	}
	for i := range r.Kept {
		out = append(out, string(r.Kept[i].line()))
	}
	for _, u := range r.Unread {
		line := string(r.shortPath(u.Path)) + ": " + u.Reason
		if u.Hint != "" {
			line += " (hint: " + u.Hint + ")"
		}
		out = append(out, line)
	}
	for i, path := range r.Unrecognized {
		if more := len(r.Unrecognized) - i; i == maxUnlisted && more > 1 && !r.all {
			return append(out, string(screen.Grouped(int64(more)))+" more files look like sessions, but no format recognizes them (--all)")
		}
		out = append(out, string(r.shortPath(path))+": looks like a session, but no format recognizes it")
	}
	return out
}

// maxUnlisted is how many files that could not be read or recognized are listed
// below a list that is cut to the screen.
const maxUnlisted = 3

// tail returns the lines below the table.
func (r *lsResult) tail(p *screen.Page) (out []screen.Safe) {
	add := func(indent, s screen.Safe, paint func(screen.Safe) screen.Safe) {
		out = append(out, r.wrapped(indent, s, paint)...)
	}
	begin := func(n int, one, more screen.Safe) (listed int) {
		out = append(out, "")
		if n == 1 {
			add("", "1 "+one, screen.Plain)
		} else {
			add("", screen.Grouped(int64(n))+" "+more, screen.Plain)
		}
		if listed = n; r.height > 0 && n > maxUnlisted+1 && !r.all {
			listed = maxUnlisted
		}
		return listed
	}
	end := func(n int) {
		if n > 0 {
			add("  ", "and "+screen.Grouped(int64(n))+" more (--all)", p.Faint)
		}
	}
	if n := len(r.Unread); n > 0 {
		listed := begin(n, "file could not be read:", "files could not be read:")
		for _, u := range r.Unread[:listed] {
			out = append(out, r.unreadLines(p, u)...)
		}
		end(n - listed)
	}
	if n := len(r.Unrecognized); n > 0 {
		listed := begin(n, "file looks like a session, but no format recognizes it:", "files look like sessions, but no format recognizes them:")
		for _, path := range r.Unrecognized[:listed] {
			add("  ", r.shortPath(path), screen.Plain)
		}
		end(n - listed)
	}
	if shown := r.lost(); len(r.Lost) > 0 {
		more := screen.Safe(" (--all)")
		if len(shown) > 0 {
			more = ". If one moved:"
		}
		begin(lostSessions(r.Lost), "session is in a folder that no longer exists"+more, "sessions are in folders that no longer exist"+more)
		for _, l := range shown {
			add("  ", lostLine(l, r.home), screen.Plain)
		}
	}
	for i := range r.Kept {
		if i == 0 {
			out = append(out, "")
		}
		add("", r.Kept[i].line(), screen.Plain)
	}
	if hidden := r.hidden(); hidden != "" {
		out = append(out, "")
		add("", hidden, p.Faint)
	}
	return out
}

// wrapped returns a text wrapped at the width of the terminal.
func (r *lsResult) wrapped(indent, s screen.Safe, paint func(screen.Safe) screen.Safe) []screen.Safe {
	lines := screen.WrapHanging(s, cmp.Or(r.width, screen.PageWidth)-len(indent))
	for i := range lines {
		lines[i] = indent + paint(lines[i])
	}
	return lines
}

// unreadLines returns which store could not be read, why, and what to do about it.
func (r *lsResult) unreadLines(p *screen.Page, u lsUnread) []screen.Safe {
	lines := r.wrapped("  ", r.shortPath(u.Path)+": "+screen.Visible(u.Reason), p.Yellow)
	if u.Hint != "" && u.Reason != sessions.ErrUnsupported.Error() {
		lines = append(lines, r.wrapped("    ", "hint: "+screen.Visible(u.Hint), p.Faint)...)
	}
	return lines
}

// unread prints unreadLines.
func (r *lsResult) unread(p *screen.Page, u lsUnread) {
	for _, l := range r.unreadLines(p, u) {
		p.Line(l)
	}
}

// hidden counts what is not listed, and names the flags that list it.
func (r *lsResult) hidden() screen.Safe {
	var parts []screen.Safe
	add := func(n int, one, more screen.Safe) {
		if n == 1 {
			parts = append(parts, "1 "+one)
		} else if n > 1 {
			parts = append(parts, screen.Grouped(int64(n))+" "+more)
		}
	}
	add(r.Hidden.Other, "session filtered out", "sessions filtered out")
	add(r.Hidden.Older, "older session (--limit)", "older sessions (--limit)")
	add(r.Hidden.Empty, "empty session (--all)", "empty sessions (--all)")
	add(r.Hidden.Foreign, "file that is not a store (--all)", "files that are not stores (--all)")
	if len(parts) == 0 {
		return ""
	}
	return "not shown: " + screen.Join(parts, ", ")
}

// searched returns where sessions were looked for, since the usual reason for an
// empty list is searching in the wrong place.
func (r *lsResult) searched() (out []screen.Safe) {
	for _, dir := range r.Places {
		out = append(out, "looked in "+r.shortPath(dir))
	}
	if len(r.Places) == 0 {
		var absent []screen.Safe
		for _, dir := range r.listing.Absent {
			absent = append(absent, r.shortPath(dir))
		}
		out = append(out, "no client has kept sessions here: none of "+screen.Join(absent, ", ")+" exists",
			"to list those of another place, run `rehome ls PATH`")
	}
	return out
}
