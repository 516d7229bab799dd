package verdict

import (
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"rehome/cmd/internal/screen"
	"rehome/convert/check"
	"rehome/formats"
	"rehome/formats/rule"
	"rehome/internal/shell"
)

const (
	maxPlaces     = 5  // max places listed for a rule in a store
	maxExamples   = 3  // stores listed for a rule in many stores
	manyStores    = 10 // a rule in more stores is listed with examples
	maxTextWidth  = 120
	textMargin    = "    "
	widePlaceOnly = 2 // a place wider than the width divided by this gets its own line
)

type page struct{ *screen.Page }

// Text prints the verdict as text: the stores with findings, the rules with findings
// in many stores, and one line for everything else. It leaves out paths that could not
// be searched, see PathErrors.
func (v *Verdict) Text(w io.Writer, paint screen.Palette) error {
	p := page{screen.NewPage(w, paint)}
	if v.Width > 0 {
		p.Width = min(v.Width, maxTextWidth)
	}
	v = v.named()
	many := v.rulesOfMany()
	ok, some := 0, false
	for _, s := range v.Stores {
		listed := slices.DeleteFunc(v.listed(s), func(b check.RuleFindings) bool { return many[b.Rule.ID] != nil })
		switch {
		case s.Format == "" && s.Err != nil: // a PathError
		case s.Err != nil || len(listed) > 0 || s.Others > 0 || v.Verbose && s.Format != "":
			v.store(p, s, listed)
			some = true
		case s.Format != "" && len(v.listed(s)) == 0:
			ok++
		case s.Format == "" && len(s.Remarks) > 0:
			p.Wrapped("", p.mark(false)+" "+p.Strong(screen.Visible(s.Path))+": "+screen.Visible(strings.Join(s.Remarks, "; ")), screen.Plain)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(many)) {
		v.manyStores(p, many[id])
		some = true
	}
	if ok > 0 && some {
		p.Line(p.OK() + " " + screen.Plural(int64(ok), "store") + " ok")
		p.Line("")
	}
	if v.Skipped > 0 || slices.ContainsFunc(v.Stores, func(s *check.Store) bool { return s.Format != "" || len(s.Findings) > 0 }) {
		v.printSummary(p)
	}
	return p.Err()
}

// named returns a verdict on stores with the paths that people read.
func (v *Verdict) named() *Verdict {
	if v.Name == nil {
		return v
	}
	out, report := *v, *v.Report
	report.Stores = nil
	for _, s := range v.Stores {
		c := *s
		c.Path = v.Name(s.Path)
		report.Stores = append(report.Stores, &c)
	}
	out.Report = &report
	return &out
}

// mark returns the sign for what fails the check, and for what does not.
func (p page) mark(fails bool) screen.Safe {
	if fails {
		return p.Bad()
	}
	return p.Warn()
}

// unlistedCounts returns the number of findings that are not listed: notes and known ones.
func (v *Verdict) unlistedCounts(s *check.Store) screen.Safe {
	var notes, known int64
	for _, b := range s.Findings {
		known += b.Known
		if !v.lists(b.Rule) {
			notes += b.Count
		}
	}
	out := screen.Safe("")
	if notes > 0 {
		out += ", " + screen.Plural(notes, "note")
	}
	if known > 0 {
		out += ", " + screen.Grouped(known) + " known"
	}
	return out
}

func more(n int) screen.Safe {
	if n > 0 {
		return ", …"
	}
	return ""
}

func (v *Verdict) store(p page, s *check.Store, listed []check.RuleFindings) {
	mark, path := p.mark(v.fails(s)), screen.Visible(s.Path)
	if s.Err == nil && len(listed) == 0 {
		mark = p.OK()
	}
	what := v.unlistedCounts(s)
	if s.Format != "" {
		what = screen.Sprintf(", %s, %s", s.Format, screen.Size(s.Bytes)) + what
	}
	what = what[min(len(what), len(", ")):]
	if head := mark + " " + p.Strong(path); screen.Cells(path)+screen.Cells(what)+4 <= p.Width {
		p.Line(head + "  " + p.Faint(what))
	} else {
		p.Line(head)
		if what != "" {
			p.Line("  " + p.Faint(what))
		}
	}
	for _, remark := range s.Remarks {
		p.Wrapped("  ", screen.Visible(remark), screen.Plain)
	}
	if s.Err != nil {
		p.Line("  " + p.Red("not fully examined"))
		p.Wrapped(textMargin, screen.Visible(s.Err.Error()), screen.Plain)
		if hint := formats.Hint(s.Err); hint != "" {
			p.Wrapped(textMargin, "hint: "+screen.Visible(hint), screen.Plain)
		}
	}
	if s.Others > 0 {
		p.Wrapped("  ", screen.Sprintf("%s more in other parts of this store: %s", screen.Grouped(s.Others), shell.Command("rehome", "check", s.Path)), p.Faint)
	}
	slices.SortStableFunc(listed, func(a, b check.RuleFindings) int { return int(b.Rule.Severity) - int(a.Rule.Severity) })
	for _, b := range listed {
		v.finding(p, s, b)
	}
	if s.Err != nil || len(listed) > 0 {
		p.Line("")
	}
}

// finding prints a headline, the places, and the fix.
func (v *Verdict) finding(p page, s *check.Store, b check.RuleFindings) {
	p.headline("  ", b.Rule)
	where := place(s, b.Places[0])
	if where == screen.Visible(s.Path) {
		where = "" // the headline of the store
	}
	p.place(where, detail(b.Places[0]), inText(b.Places[0]) || ofFile(b.Places[0]))
	v.otherPlaces(p, s, b)
	p.Wrapped(textMargin, "fix: "+screen.Visible(b.Rule.Fix), p.Faint)
}

// headline prints which rule is broken, after a mark of two cells.
func (p page) headline(mark screen.Safe, r *rule.Rule) {
	for i, part := range screen.WrapHanging(screen.Sprintf("%s %s %s", r.Severity, r.ID, r.Title), p.Width-2) {
		if i == 0 {
			p.Line(mark + p.severity(r.Severity) + part[len(r.Severity.String()):])
		} else {
			p.Line("  " + part)
		}
	}
}

// place prints where a finding is, and what is wrong there. A long place gets its own
// line; a file is not wrapped there, so that terminals and editors can open it.
func (p page) place(where screen.Safe, what string, file bool) {
	says := screen.Visible(what)
	switch {
	case where == "" && what == "":
	case where == "":
		p.Wrapped(textMargin, says, screen.Plain)
	case what != "" && screen.Cells(where)+screen.Cells(says)+len(textMargin)+2 <= p.Width:
		p.Line(textMargin + where + ": " + says)
	case what != "" && screen.Cells(where)*widePlaceOnly <= p.Width:
		p.Wrapped(textMargin, where+": "+says, screen.Plain)
	default:
		if file {
			p.Line(textMargin + where)
		} else {
			p.Wrapped(textMargin, where, screen.Plain)
		}
		if what != "" {
			p.Wrapped(textMargin+"  ", says, screen.Plain)
		}
	}
}

// otherPlaces prints the places after the first one: a line for each that has
// another detail, and a line with as many of the rest as fit.
func (v *Verdict) otherPlaces(p page, s *check.Store, b check.RuleFindings) {
	limit := maxPlaces
	if v.Verbose {
		limit = len(b.Places)
	}
	told, lines := map[string]bool{detail(b.Places[0]): true}, 0
	var same []screen.Safe
	for _, f := range b.Places[1:] {
		switch what := detail(f); {
		case !told[what] && lines < limit-1:
			told[what] = true
			lines++
			p.place(shortPlace(s, f), what, false)
		default:
			same = append(same, shortPlace(s, f))
		}
	}
	if rest := b.Count - 1 - int64(lines); rest > 0 {
		words := screen.Sprintf("+%s more", screen.Grouped(rest))
		list := words
		for n := 1; n <= len(same); n++ {
			next := words + ": " + screen.Join(same[:n], ", ") + more(int(rest)-n)
			if !v.Verbose && screen.Cells(next) > p.Width-len(textMargin) {
				break
			}
			list = next
		}
		p.Wrapped(textMargin, list, screen.Plain)
	}
}

func (p page) severity(s rule.Severity) screen.Safe {
	word := screen.Visible(s.String())
	switch s {
	case rule.Error:
		return p.Red(word)
	case rule.Warning:
		return p.Yellow(word)
	}
	return p.Cyan(word)
}

// inText reports whether the place of f is a line of a text file.
func inText(f rule.Finding) bool { return f.At.Line > 0 && f.At.Set == "" }

// ofFile reports whether the place of f is a file in a store.
func ofFile(f rule.Finding) bool {
	return f.At.File != "" && f.At.Set == "" && f.At.Line == 0 && !f.At.HasID
}

// place returns where to look: file and line in a text file, the address in a table.
func place(s *check.Store, f rule.Finding) screen.Safe {
	if inText(f) {
		return screen.Sprintf("%s:%d", s.File(f.At), f.At.Line)
	}
	if at := screen.Shorten(f.At.String()); at != "" && !ofFile(f) {
		return at
	}
	return screen.Visible(s.File(f.At))
}

// shortPlace is place without the parts that the first place has shown.
func shortPlace(s *check.Store, f rule.Finding) screen.Safe {
	switch {
	case inText(f):
		return screen.Sprintf("%s:%d", screen.Shorten(filepath.Base(s.File(f.At))), f.At.Line)
	case ofFile(f):
		return place(s, f)
	}
	if at := screen.Shorten(f.At.Short()); at != "" {
		return at
	}
	return place(s, f)
}

func (v *Verdict) printSummary(p page) {
	var bytes int64
	examined, notes := 0, int64(0)
	for _, s := range v.Stores {
		bytes += s.Bytes
		if s.Format != "" {
			examined++
		}
		for _, b := range s.Findings {
			if !v.lists(b.Rule) {
				notes += b.Count
			}
		}
	}
	mark := p.OK()
	switch {
	case v.FailingCount() > 0 || len(v.Failed()) > 0:
		mark = p.mark(true)
	case examined == 0 && !slices.ContainsFunc(v.Stores, func(s *check.Store) bool { return len(s.Findings) > 0 }) || v.Count(rule.Error)+v.Count(rule.Warning) > 0:
		mark = p.mark(false)
	}
	before, after := screen.Safe(""), screen.Safe("")
	if examined > 0 {
		before = screen.Sprintf("%s, %s: ", screen.Plural(int64(examined), "store"), screen.Size(bytes))
	}
	if notes > 0 {
		after = " (--notes lists notes)"
	}
	if plain := "  " + before + v.Summary(false) + after; screen.Cells(plain) > p.Width {
		p.Wrapped("", mark+plain[1:], screen.Plain)
	} else {
		p.Line(mark + " " + before + v.Summary(p.Palette) + p.Faint(after))
	}
	if v.Repairable > 0 {
		p.Wrapped("", screen.Sprintf("hint: %s may be repairable, in a copy: %s", screen.Plural(v.Repairable, "finding"), v.Repair), p.Faint)
	}
	if b := v.Baseline; b != nil && b.Gone > 0 {
		p.Wrapped("", screen.Sprintf("%s lists %s that no longer occur; --write-baseline removes them", b.Path, screen.Plural(b.Gone, "finding")), screen.Plain)
	}
}

// Summary returns the totals of the verdict: 2 errors, 1 warning, 3 notes.
func (v *Verdict) Summary(paint screen.Palette) screen.Safe {
	var out []screen.Safe
	for _, of := range []rule.Severity{rule.Error, rule.Warning, rule.Note} {
		if n := v.Count(of); n > 0 {
			words := screen.Plural(n, screen.Visible(of.String()))
			switch of {
			case rule.Error:
				words = paint.Red(words)
			case rule.Warning:
				words = paint.Yellow(words)
			}
			out = append(out, words)
		}
	}
	var known int64
	for _, s := range v.Stores {
		for _, b := range s.Findings {
			known += b.Known
		}
	}
	if known > 0 {
		out = append(out, screen.Grouped(known)+" known")
	}
	if n := len(v.Failed()); n > 0 {
		out = append(out, paint.Red(screen.Sprintf("%d not examined", n)))
	}
	if v.Count(rule.Error)+v.Count(rule.Warning)+known == 0 && len(v.Failed()) == 0 {
		word := paint.Green("ok")
		if !slices.ContainsFunc(v.Stores, func(s *check.Store) bool { return s.Format != "" }) {
			word = check.NoSessions
		}
		out = append([]screen.Safe{word}, out...)
	}
	if v.Skipped > 0 {
		out = append(out, screen.Plural(int64(v.Skipped), "path")+" skipped")
	}
	return screen.Join(out, ", ")
}
