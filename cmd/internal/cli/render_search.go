package cli

import (
	"strconv"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/convert/sessions"
	"rehome/internal/shell"
)

// Text prints a result that is complete.
func (r *searchResult) Text(p *screen.Page) {
	all := r.Sessions
	for _, s := range all {
		matches := s.Matches
		for i := range matches {
			s.Matches = matches[:i+1]
			r.Sessions = []*searchSession{s}
			r.printNew(p)
		}
	}
	r.Sessions = all
	r.printEnd(p)
}

// maxMatches is how many matches of a session are printed for people without --all.
const maxMatches = 5

// printNew prints the last match.
func (r *searchResult) printNew(p *screen.Page) {
	s := r.Sessions[len(r.Sessions)-1]
	m := &s.Matches[len(s.Matches)-1]
	first := len(s.Matches) == 1
	switch {
	case !r.grouped && r.cmd.Sessions:
		p.Line(screen.Join([]screen.Safe{screen.Visible(s.ID), screen.Visible(s.Title), screen.Visible(s.Agent)}, "\t"))
	case !r.grouped:
		p.Line(screen.Join([]screen.Safe{screen.Visible(s.ID), screen.Visible(s.Title), screen.Visible(s.Agent),
			screen.Visible(strconv.Itoa(m.Turn)), screen.Visible(m.Kind), r.excerpt(p, m, 0)}, "\t"))
	default:
		if first {
			r.printHidden(p)
			r.printSession(p, s)
			r.shown = 0
		}
		if r.cmd.Sessions || m.Kind == "title" {
			break // the line of the session shows it
		}
		if r.shown++; r.shown > maxMatches && !r.cmd.All {
			r.hidden++
			break
		}
		r.printMatch(p, m)
	}
}

// minWidthOfProject is the width from which projects are printed.
const minWidthOfProject = 62

// printSession prints the line of a session: the name that show takes, title, client,
// project and time.
func (r *searchResult) printSession(p *screen.Page, s *searchSession) {
	if r.shown > 0 { // under the session before
		p.Line("")
	}
	client, rest := screen.Visible(s.Agent), screen.Safe("")
	if s.Project != "" && r.width >= minWidthOfProject {
		rest += screen.Repeat(" ", console.Gap) + console.ShortenPath(console.ShortPath(r.home, s.Project), r.width/4)
	}
	listed := s.session.Listed
	if listed == nil {
		listed = &sessions.Listed{Head: s.session.Head}
	}
	if at := listed.When(); at.Known() {
		rest += screen.Repeat(" ", console.Gap) + age(at, r.now)
	}
	room := max(r.width-screen.Cells(r.name(s)+client+rest)-2*console.Gap, minTitleWidth)
	p.Line(p.Strong(r.name(s)) + screen.Repeat(" ", console.Gap) + console.PadRight(screen.Cut(console.OneLine(s.Title), room), room) +
		p.Client(s.Agent, client) +
		p.Faint(rest))
}

// name returns what show and continue take for a session.
func (r *searchResult) name(s *searchSession) screen.Safe {
	if s.session.Listed == nil {
		return console.ShortPath(r.home, s.Source.Path) + "#" + screen.Visible(s.ID)
	}
	return screen.Visible(r.listing.ShortID(s.ID))
}

// printMatch prints a match with its turn.
func (r *searchResult) printMatch(p *screen.Page, m *searchHit) {
	where := screen.Sprintf("  turn %d", m.Turn)
	if m.Branch != "" {
		where = "  not sent"
	}
	where = console.PadRight(where, 10) + console.PadRight(screen.Visible(m.Kind), len("thinking"))
	p.Line(p.Faint(where) + r.excerpt(p, m, r.width-screen.Cells(where)))
}

// excerpt returns the text of a match with the match highlighted, cut to a width unless
// that is 0.
func (r *searchResult) excerpt(p *screen.Page, m *searchHit, width int) screen.Safe {
	from, before := 0, 0
	if len(m.Ranges) > 0 {
		before = m.Ranges[0][0]
	}
	lead, trail := screen.Safe(""), screen.Safe("")
	if m.cut[0] {
		lead = "…"
	}
	if m.cut[1] {
		trail = "…"
	}
	if width > 0 && screen.Cells(screen.Visible(m.Text)) > width { // show the match, if not all before it
		text := screen.Visible(m.Text[:before])
		if short := screen.CutLeft(lead+text, width/3); short != lead+text {
			lead = short
			from = before
		}
	}
	out, used := lead, screen.Cells(lead)
	put := func(text string, paint func(screen.Safe) screen.Safe) {
		s := screen.Visible(text)
		if width > 0 {
			s = screen.Cut(s, width-used)
		}
		used += screen.Cells(s)
		out += paint(s)
	}
	for _, at := range m.Ranges {
		put(m.Text[from:at[0]], screen.Plain)
		put(m.Text[at[0]:at[1]], func(s screen.Safe) screen.Safe { return p.Strong(p.Red(s)) })
		from = at[1]
	}
	put(m.Text[from:]+string(trail), screen.Plain)
	return out
}

// printHidden says how many matches of the session before are not printed.
func (r *searchResult) printHidden(p *screen.Page) {
	if r.hidden > 0 {
		p.Line(p.Faint("  and " + screen.Grouped(int64(r.hidden)) + " more (--all)"))
		r.hidden = 0
	}
}

// printEnd prints, for people, how much was found and what could not be read.
func (r *searchResult) printEnd(p *screen.Page) {
	if !r.grouped {
		return
	}
	r.printHidden(p)
	if r.Matches > 0 {
		p.Line("")
		r.printNext(p)
	}
	if len(r.Unread) > 0 {
		p.Line("")
		p.Line("could not be read:")
		for _, u := range r.Unread {
			(&lsResult{home: r.home}).unread(p, u)
		}
	}
}

// printNext prints how much was found, and what to do with the first session.
func (r *searchResult) printNext(p *screen.Page) {
	count := screen.Grouped(int64(r.Matches)) + " matches"
	if r.Matches == 1 {
		count = "1 match"
	}
	s := r.Sessions[0]
	name := typedName(r.listing, s.session.Listed != nil && len(r.cmd.Path) == 0, s.Source.Path, s.ID)
	show := []string{"rehome", "show", name}
	for _, m := range s.Matches {
		if m.Branch != "" {
			show = append(show, "--history")
			break
		}
		if m.Turn > 0 {
			show = append(show, "--turns", strconv.Itoa(m.Turn))
			break
		}
	}
	p.Line(p.Faint(count + " in " + screen.Plural(int64(len(r.Sessions)), "session") + "; to read or continue the first:"))
	p.Line(p.Faint("  " + screen.Visible(shell.Command(show...))))
	p.Line(p.Faint("  " + screen.Visible(shell.Command("rehome", "continue", name))))
}

// remarkUnread reports on stderr what could not be read.
func (r *searchResult) remarkUnread(a *console.App) {
	for _, u := range r.Unread {
		a.Out.Remark(u.Path + ": " + u.Reason)
	}
}
