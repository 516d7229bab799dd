package main

import (
	"fmt"
	"path"
	"strings"

	"rehome/cmd/rehome/internal/screen"
	"rehome/convert"
)

// mostSessions is how many sessions are worth a line each.
const mostSessions = 20

// sessions shows a conversion by meaning: a line for each session while there
// are few, and what they come to. What failed or was withheld always has one.
func (r convertResult) sessions(p *page) {
	t := r.count()
	p.Linef("  %s, session conversion: %s", r.route(), t.line(p))
	p.Line("  " + t.sizes())
	r.folders(p)
	few := t.all() <= mostSessions
	var rows [][]screen.Safe
	for i := range r.Stores {
		for k := range r.Stores[i].Sessions {
			if s := &r.Stores[i].Sessions[k]; few || s.Status == convert.Failed || s.Status == convert.Withheld || s.Note != "" {
				rows = append(rows, sessionRow(s))
			}
		}
	}
	var books crowdBooks
	widths := screen.Widths(rows)
	for i := range r.Stores {
		s := &r.Stores[i]
		if s.Error != nil {
			p.Linef("    %s %s", p.status(s.Status), visible(s.Path))
			p.failure("      ", s.Error)
		}
		for k := range s.Sessions {
			one := &s.Sessions[k]
			if !few && one.Status != convert.Failed && one.Status != convert.Withheld && one.Note == "" {
				continue
			}
			p.sessionLine(sessionRow(one), one.Status, widths)
			if one.Note != "" {
				p.Line(p.Faint("      " + screen.Brief(one.Note)))
			}
			if one.Status == convert.Withheld {
				p.losses("      ", one.Losses)
			}
			if s.Error == nil || one.Error != nil && one.Error.Message != s.Error.Message {
				p.failure("      ", one.Error)
			}
		}
		books.enter(s)
	}
	if rest := t.all() - len(rows); rest > 0 && len(rows) > 0 {
		p.Linef("    and %s", many(int64(rest), "more session"))
	}
	p.losses("  ", books)
	if t.superseded > 0 {
		p.Linef("  %s superseded (not a loss)", many(t.superseded, "record"))
	}
}

// mostFolders is how many folders are worth a line each.
const mostFolders = 20

// folders shows what the sessions of each folder come to, where there are
// several.
func (r convertResult) folders(p *page) {
	list := r.Workspaces
	if len(list) < 2 {
		return
	}
	var rows [][]screen.Safe
	for _, w := range list[:min(len(list), mostFolders)] {
		where := visible(w.Path)
		if w.Path == "" {
			where = "folder unknown"
		}
		for _, fate := range []struct {
			n    int
			word string
		}{{w.Withheld, convert.Withheld}, {w.Failed, convert.Failed}} {
			if fate.n > 0 {
				where += screen.Sprintf(" (%s %s)", grouped(int64(fate.n)), fate.word)
			}
		}
		rows = append(rows, []screen.Safe{many(int64(w.Sessions), "session"), many(w.Turns, "turn"), size(w.Bytes), where})
	}
	p.Line("  by folder:")
	p.Table("    ", rows)
	if rest := len(list) - len(rows); rest > 0 {
		p.Linef("    and %s more", many(int64(rest), "folder"))
	}
}

// route names the formats, if all stores have the same.
func (r convertResult) route() string {
	from, to := "", ""
	for _, s := range r.Stores {
		if s.From != "" && from == "" {
			from = s.From
		} else if s.From != "" && s.From != from {
			from = "several formats"
		}
		if s.To != "" {
			to = s.To
		}
	}
	if to == "" {
		return from
	}
	return from + " -> " + to
}

// sessionCount is what all sessions come to.
type sessionCount struct {
	count                                      map[string]int
	stores, messages, turns, bytes, superseded int64
}

func (r convertResult) count() sessionCount {
	t := sessionCount{count: map[string]int{}, stores: int64(len(r.Stores))}
	for _, s := range r.Stores {
		t.superseded += s.Superseded
		for _, one := range s.Sessions {
			t.count[one.Status]++
			if one.Status == convert.Placed || one.Status == convert.Checked {
				t.messages, t.turns, t.bytes = t.messages+one.Messages, t.turns+one.Turns, t.bytes+one.Bytes
			}
		}
	}
	return t
}

func (t sessionCount) all() (n int) {
	for _, c := range t.count {
		n += c
	}
	return n
}

func (t sessionCount) line(p *page) screen.Safe {
	var out []screen.Safe
	for _, status := range []string{convert.Placed, convert.Checked, convert.Withheld, convert.Failed} {
		if n := t.count[status]; n > 0 {
			out = append(out, grouped(int64(n))+" "+p.status(status))
		}
	}
	if len(out) == 0 {
		return "no sessions"
	}
	return screen.Join(out, ", ")
}

func (t sessionCount) sizes() screen.Safe {
	return screen.Sprintf("%s, %s, %s of text, out of %s", many(t.turns, "turn"), many(t.messages, "message"), size(t.bytes), many(t.stores, "store"))
}

// sessionRow is a session in columns: its state, where it went, how long it is,
// what it is called.
func sessionRow(s *convert.SessionReport) []screen.Safe {
	name := s.File
	if name == "" {
		name = s.Agent + "/" + s.ID
	}
	return []screen.Safe{visible(s.Status), visible(briefFile(name)), many(s.Turns, "turn"), visible(s.Title)}
}

// briefFile keeps the beginning of long ids: they are told apart by it. Of a
// file that lies deeper only its own name is worth the room.
func briefFile(name string) string {
	const longest = 24
	dir, base := path.Split(name)
	if strings.Count(dir, "/") > 1 {
		dir = "…/"
	}
	if r := []rune(base); dir != "" && len(r) > longest+8 {
		base = string(r[:longest]) + "…"
	}
	return dir + base
}

// sessionLine prints a row, its title cut where the page ends.
func (p *page) sessionLine(row []screen.Safe, status string, widths []int) {
	pad := func(i int) screen.Safe { return screen.Repeat(" ", max(0, widths[i]-screen.Cells(row[i]))+2) }
	rest := pad(0) + row[1] + pad(1) + row[2] + pad(2)
	title := row[3]
	if room := screen.PageWidth - screen.Cells("    "+row[0]+rest); room > 8 {
		title = screen.Cut(title, room)
	}
	p.Line("    " + p.status(status) + rest + title)
}

// sessionVerdict is what a conversion by meaning amounts to.
func sessionVerdict(r *convert.Report) error {
	failed, withheld := r.Sessions(convert.Failed), r.Sessions(convert.Withheld)
	all := failed + withheld + r.Sessions(convert.Placed) + r.Sessions(convert.Checked)
	stores := r.Failed()
	switch {
	case failed > 0:
		return fmt.Errorf("%d of %s failed", failed, many(int64(all), "session"))
	case stores > 0:
		return fmt.Errorf("%d of %s failed", stores, many(int64(len(r.Stores)), "store"))
	case withheld > 0:
		return fmt.Errorf("%d of %s withheld: %w", withheld, many(int64(all), "session"), errWithheld)
	case r.Beyond() > 0:
		return fmt.Errorf("in %s, outside of sessions: %w", many(int64(r.Beyond()), "store"), errWithheld)
	}
	return nil
}
