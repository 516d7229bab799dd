package cli

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/convert"
)

// maxSessionRows is the number of sessions, or stores, up to which each one gets a line.
const maxSessionRows = 20

// sessions prints a session conversion: a line for each session if there are
// few, and the totals. Sessions that failed or were skipped always get a line.
func (r convertResult) sessions(p *screen.Page) {
	t := r.count()
	p.Linef("  %s, session conversion: %s", r.route(), t.line(p))
	p.Line("  " + t.sizes())
	console.PrintRedacted(p, r.Redacted)
	r.folders(p)
	few := t.total() <= maxSessionRows
	var rows [][]screen.Safe
	for i := range r.Stores {
		for k := range r.Stores[i].Sessions {
			if s := &r.Stores[i].Sessions[k]; few || s.Status == convert.Failed || s.Status == convert.Skipped || s.Note != "" {
				rows = append(rows, sessionRow(s))
			}
		}
	}
	var losses console.LossTotals
	widths := screen.ColumnWidths(rows)
	for i := range r.Stores {
		s := &r.Stores[i]
		if s.Error != nil {
			p.Linef("    %s %s", console.PaintStatus(p, s.Status), screen.Visible(s.Path))
			console.PrintFailure(p, "      ", s.Error)
		}
		for k := range s.Sessions {
			one := &s.Sessions[k]
			if !few && one.Status != convert.Failed && one.Status != convert.Skipped && one.Note == "" {
				continue
			}
			printSessionLine(p, sessionRow(one), one.Status, widths)
			if one.Note != "" {
				p.Line(p.Faint("      " + screen.Shorten(one.Note)))
			}
			if one.Status == convert.Skipped {
				console.PrintLosses(p, "      ", one.Losses)
			}
			if s.Error == nil || one.Error != nil && one.Error.Message != s.Error.Message {
				console.PrintFailure(p, "      ", one.Error)
			}
		}
		losses.Add(s)
	}
	if rest := t.total() - len(rows); rest > 0 && len(rows) > 0 {
		p.Linef("    and %s", screen.Plural(int64(rest), "more session"))
	}
	switch {
	case len(losses) == 0:
	case r.losses:
		printLossDetails(p, losses)
	default:
		printLossSummary(p, losses, "The conversations are complete", p.Width)
	}
	if t.superseded > 0 {
		p.Linef("  %s superseded (not a loss)", screen.Plural(t.superseded, "record"))
	}
}

// maxFolderRows is how many folders are listed.
const maxFolderRows = 20

// folders prints the totals of each folder, if there are several.
func (r convertResult) folders(p *screen.Page) {
	list := r.Workspaces
	if len(list) < 2 {
		return
	}
	var rows [][]screen.Safe
	for _, w := range list[:min(len(list), maxFolderRows)] {
		where := screen.Visible(w.Path)
		if w.Path == "" {
			where = "unknown folder"
		}
		for _, outcome := range []struct {
			n    int
			word string
		}{{w.Skipped, convert.Skipped}, {w.Failed, convert.Failed}} {
			if outcome.n > 0 {
				where += screen.Sprintf(" (%s %s)", screen.Grouped(int64(outcome.n)), outcome.word)
			}
		}
		rows = append(rows, []screen.Safe{screen.Plural(int64(w.Sessions), "session"), screen.Plural(w.Turns, "turn"), screen.Size(w.Bytes),
			where})
	}
	p.Line("  by folder:")
	p.Table("    ", rows)
	if rest := len(list) - len(rows); rest > 0 {
		p.Linef("    and %s more", screen.Plural(int64(rest), "folder"))
	}
}

// route names the source and target formats.
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

// sessionCount holds the totals of all sessions.
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

func (t sessionCount) total() int { return sum(t.count) }

func (t sessionCount) line(p *screen.Page) screen.Safe {
	return cmp.Or(console.ListCounts(p, t.count, convert.Placed, convert.Checked, convert.Skipped, convert.Failed), "no sessions")
}

func (t sessionCount) sizes() screen.Safe {
	return screen.Sprintf("%s, %s, %s of text, from %s", screen.Plural(t.turns, "turn"), screen.Plural(t.messages, "message"),
		screen.Size(t.bytes), screen.Plural(t.stores, "store"))
}

// sessionRow returns the columns of a session: status, target file, length and title.
func sessionRow(s *convert.SessionReport) []screen.Safe {
	name := s.File
	if name == "" {
		name = s.Agent + "/" + s.ID
	}
	return []screen.Safe{screen.Visible(s.Status), screen.Visible(shortenFile(name)), screen.Plural(s.Turns, "turn"), screen.Visible(s.Title)}
}

// shortenFile shortens a file name to the beginning of its id, and a deep path to
// its last element.
func shortenFile(name string) string {
	const maxLen = 24
	dir, base := path.Split(name)
	if strings.Count(dir, "/") > 1 {
		dir = "…/"
	}
	if r := []rune(base); dir != "" && len(r) > maxLen+8 {
		base = string(r[:maxLen]) + "…"
	}
	return dir + base
}

// printSessionLine prints a row and cuts the title at the width of the page.
func printSessionLine(p *screen.Page, row []screen.Safe, status string, widths []int) {
	pad := func(i int) screen.Safe { return screen.Repeat(" ", max(0, widths[i]-screen.Cells(row[i]))+2) }
	rest := pad(0) + row[1] + pad(1) + row[2] + pad(2)
	title := row[3]
	if room := p.Width - screen.Cells("    "+row[0]+rest); room > 8 {
		title = screen.Cut(title, room)
	}
	p.Line("    " + console.PaintStatus(p, status) + rest + title)
}

// sessionError returns the error that a session conversion amounts to, or nil.
func sessionError(r *convert.Report) error {
	failed, skipped := r.Sessions(convert.Failed), r.Sessions(convert.Skipped)
	all := failed + skipped + r.Sessions(convert.Placed) + r.Sessions(convert.Checked)
	stores := r.Failed()
	switch {
	case failed > 0:
		return fmt.Errorf("%d of %s failed", failed, screen.Plural(int64(all), "session"))
	case stores > 0:
		return fmt.Errorf("%d of %s failed", stores, screen.Plural(int64(len(r.Stores)), "store"))
	case skipped > 0:
		return skippedError(r, skipped, string(screen.Plural(int64(all), "session")))
	case r.Beyond() > 0:
		return fmt.Errorf("%s with losses outside of sessions: %w", screen.Plural(int64(r.Beyond()), "store"), console.ErrLosses)
	}
	return nil
}
