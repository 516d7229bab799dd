package console

import (
	"slices"
	"strings"

	"rehome/cmd/internal/screen"
	"rehome/convert"
	"rehome/convert/backup"
	"rehome/formats/loss"
)

// LossTotals are the losses of several stores, added up by code.
type LossTotals []loss.Group

func (t *LossTotals) Add(s *convert.StoreReport) {
	lines := slices.Clone(s.Losses)
	for k, l := range lines {
		lines[k].Places = slices.Clone(l.Places)
		for i, at := range l.Places {
			if s.Path != "." { // else the place is unambiguous
				lines[k].Places[i] = s.Path + ": " + at
			}
		}
	}
	*t = loss.Merge(*t, lines)
}

// PaintStatus returns a status in its color.
func PaintStatus(p *screen.Page, status string) screen.Safe {
	word := screen.Visible(status)
	switch status {
	case convert.Placed, convert.Added, convert.Updated, backup.Recovered:
		return p.Green(word)
	case convert.Failed:
		return p.Red(word)
	case convert.Skipped, convert.Kept, convert.Removed, backup.Older, backup.Newer:
		return p.Yellow(word)
	case convert.Same:
		return "unchanged"
	}
	return word
}

// ListCounts returns how many there are of each status that there are any of.
func ListCounts(p *screen.Page, count map[string]int, statuses ...string) screen.Safe {
	var out []screen.Safe
	for _, s := range statuses {
		if n := count[s]; n > 0 {
			out = append(out, screen.Grouped(int64(n))+" "+PaintStatus(p, s))
		}
	}
	return screen.Join(out, ", ")
}

func PrintLosses(p *screen.Page, indent screen.Safe, lines []loss.Group) {
	for _, l := range lines {
		printLoss(p, indent, l)
		if len(l.Places) > 0 && l.Places[0] != "" {
			p.Linef("%s  first at %s", indent, screen.Shorten(l.Places[0]))
		}
	}
}

// printLoss prints a group of losses, wrapped to the width of a page.
func printLoss(p *screen.Page, indent screen.Safe, l loss.Group) {
	kind, code := screen.Visible(l.Kind.String()), "("+screen.Visible(string(l.Code))+")"
	lines := screen.WrapHanging(kind+": "+screen.Grouped(l.Count)+" "+screen.Visible(l.What)+" "+code, p.Width-len(indent))
	for i, line := range lines {
		if i == len(lines)-1 {
			line = line[:len(line)-len(code)] + p.Faint(code)
		}
		if i == 0 {
			line = p.Yellow(kind) + line[len(kind):]
		}
		p.Line(indent + line)
	}
}

func PrintFailure(p *screen.Page, indent screen.Safe, e *convert.ErrorReport) {
	if e == nil {
		return
	}
	p.Line(indent + p.Red(screen.Visible(e.Message)))
	p.Hint(indent, e.Hint)
}

// PrintRedacted prints how many places were redacted, by rule. nil means that nothing was to be.
func PrintRedacted(p *screen.Page, counts []convert.RedactedCount) {
	if counts == nil {
		return
	}
	var parts []screen.Safe
	total := int64(0)
	for _, c := range counts {
		total += c.Places
		parts = append(parts, screen.Grouped(c.Places)+" "+screen.Visible(c.Rule))
	}
	line := screen.Plural(total, "place") + " redacted: " + screen.Join(parts, ", ")
	if total == 0 {
		line = "nothing to redact was found"
	}
	p.Wrapped("  ", line, func(s screen.Safe) screen.Safe { return s })
}

// OneLine returns a title without the line ends and the indent that it may have.
func OneLine(title string) screen.Safe {
	if title = strings.Join(strings.Fields(title), " "); title == "" {
		return Unknown
	}
	return screen.Visible(title)
}

// Unknown stands for a value that is not known.
const Unknown screen.Safe = "–"

// PrintProse prints text, wrapped between words.
func PrintProse(p *screen.Page, text screen.Safe) {
	for _, line := range screen.WrapWords(text, p.Width) {
		p.Line(line)
	}
}

// NonNil turns nil into an empty list, which JSON encodes as [] instead of null.
func NonNil[T any](s []T) []T { return append([]T{}, s...) }

// AddSession adds the losses of a session. Their places name it, unless it is alone.
func (t *LossTotals) AddSession(m *convert.Migrated, alone bool) {
	s := convert.StoreReport{Path: m.ID, Losses: m.Losses}
	if alone {
		s.Path = "."
	}
	t.Add(&s)
}
