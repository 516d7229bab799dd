package verdict

import (
	"io"
	"path/filepath"
	"slices"
	"strings"

	"rehome/cmd/rehome/internal/screen"
	"rehome/convert/check"
	"rehome/formats"
	"rehome/formats/rule"
)

const (
	textWidth   = screen.PageWidth
	maxPlaces   = 5  // max places listed for a finding
	maxOKStores = 20 // max stores listed without findings
	textMargin  = "    "
)

// page is what the verdict is printed on.
type page struct{ *screen.Page }

// line prints text, wrapped at the page width.
func (p page) line(indent, s screen.Safe) { p.Wrapped(indent, s, screen.Plain) }

// Text prints the verdict as text.
func (v *Verdict) Text(w io.Writer, paint screen.Palette) error {
	p := page{screen.NewPage(w, paint)}
	ok := 0
	for _, s := range v.Stores {
		if s.Err == nil && len(v.listed(s)) == 0 {
			if ok++; ok <= maxOKStores {
				v.okStore(p, s)
			}
			continue
		}
		v.store(p, s)
	}
	if ok > maxOKStores {
		p.Linef("and %s without findings", screen.Plural(int64(ok-maxOKStores), "more store"))
	}
	v.printSummary(p)
	return p.Err()
}

// okStore prints the line of a store without findings, or without new ones.
func (v *Verdict) okStore(p page, s *check.Store) {
	word := screen.Safe("ok")
	for _, b := range s.Findings {
		if b.Known > 0 {
			word = "nothing new"
		}
	}
	if s.Format == "" && word == "ok" {
		word = "searched"
		for _, remark := range s.Remarks {
			word = screen.Visible(remark)
		}
	}
	p.head(s.Path, word+v.unlistedCounts(s))
}

// head prints the line of a store. If path is long, what follows it gets a second line.
func (p page) head(at string, what screen.Safe) {
	path := screen.Visible(at)
	fits := screen.Cells(path)+2+screen.Cells(what) <= textWidth
	if strings.HasPrefix(string(what), "ok") {
		what = p.Green("ok") + what[len("ok"):]
	}
	switch {
	case what == "":
		p.Line(p.Strong(path))
	case fits:
		p.Line(p.Strong(path) + ": " + what)
	default:
		p.Line(p.Strong(path))
		p.Line("  " + what)
	}
}

// unlistedCounts returns the number of findings that are not listed: notes and known ones.
func (v *Verdict) unlistedCounts(s *check.Store) screen.Safe {
	var notes, known int64
	var ids []string
	for _, b := range s.Findings {
		known += b.Known
		if b.Count > 0 && !v.lists(b.Rule) {
			notes += b.Count
			ids = append(ids, b.Rule.ID)
		}
	}
	out := screen.Safe("")
	if notes > 0 {
		out += screen.Sprintf(", %s (%s%s)", screen.Plural(notes, "note"), strings.Join(ids[:min(len(ids), maxPlaces)], ", "), more(len(ids)-maxPlaces))
	}
	if known > 0 {
		out += screen.Sprintf(", %s known", screen.Grouped(known))
	}
	return out
}

func more(n int) screen.Safe {
	if n > 0 {
		return ", …"
	}
	return ""
}

func (v *Verdict) store(p page, s *check.Store) {
	what := v.unlistedCounts(s)
	if s.Format != "" {
		what = screen.Sprintf(", %s, %s", s.Format, screen.Size(s.Bytes)) + what
	}
	p.head(s.Path, what[min(len(what), len(", ")):])
	for _, remark := range s.Remarks {
		p.line("  ", screen.Visible(remark))
	}
	if s.Err != nil {
		p.Line("  " + p.Red("not fully examined"))
		p.line(textMargin, screen.Visible(s.Err.Error()))
		if hint := formats.Hint(s.Err); hint != "" {
			p.line(textMargin, "hint: "+screen.Visible(hint))
		}
	}
	listed := v.listed(s)
	slices.SortStableFunc(listed, func(a, b check.RuleFindings) int { return int(b.Rule.Severity) - int(a.Rule.Severity) })
	for _, b := range listed {
		v.finding(p, s, b)
	}
}

// finding prints a headline, the other places, and the fix.
func (v *Verdict) finding(p page, s *check.Store, b check.RuleFindings) {
	first := b.Places[0]
	p.headline(b.Rule, place(s, first), inText(first) || ofFile(first))
	if what := detail(first); what != "" {
		p.line(textMargin, screen.Visible(what))
	}
	p.otherPlaces(s, b)
	p.Wrapped(textMargin, "fix: "+screen.Visible(b.Rule.Fix), p.Faint)
}

// headline prints severity, rule, place and title. A place that does not fit
// gets the next line; a line of a file is not wrapped there, so that terminals
// and editors can open it.
func (p page) headline(r *rule.Rule, at screen.Safe, text bool) {
	what := screen.Sprintf("%s %s ", r.Severity, r.ID)
	long := screen.Cells(what+at)+1 > textWidth-4
	if long {
		what += screen.Visible(r.Title)
	} else {
		what += at + ": " + screen.Visible(r.Title)
	}
	for i, part := range screen.Wrap(what, textWidth-4) {
		if i == 0 {
			part = "  " + p.severity(r.Severity) + part[len(r.Severity.String()):]
		} else {
			part = textMargin + part
		}
		p.Line(part)
	}
	switch {
	case long && text:
		p.Line(textMargin + at)
	case long:
		p.line(textMargin, at)
	}
}

// otherPlaces prints the places after the first one: a line for each that has
// another detail, and a list of the rest.
func (p page) otherPlaces(s *check.Store, b check.RuleFindings) {
	told, same := map[string]bool{detail(b.Places[0]): true}, []screen.Safe{}
	lines := 0
	for _, f := range b.Places[1:] {
		if what := detail(f); !told[what] && lines < maxPlaces-1 {
			told[what] = true
			lines++
			p.line(textMargin, shortPlace(s, f)+": "+screen.Visible(what))
		}
	}
	again := map[string]bool{detail(b.Places[0]): true}
	for _, f := range b.Places[1:] {
		if what := detail(f); !again[what] && told[what] {
			again[what] = true // has a line of its own
		} else if len(same)+lines < maxPlaces-1 {
			same = append(same, shortPlace(s, f))
		}
	}
	if rest := b.Count - 1 - int64(lines); rest > 0 {
		words := screen.Sprintf("+%s more", screen.Grouped(rest))
		if len(same) > 0 {
			words += ": " + screen.Join(same, ", ") + more(int(rest)-len(same))
		}
		p.line(textMargin, words)
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
	if inText(f) {
		return screen.Sprintf("%s:%d", screen.Shorten(filepath.Base(s.File(f.At))), f.At.Line)
	}
	if at := screen.Shorten(f.At.Short()); at != "" {
		return at
	}
	return place(s, f)
}

func (v *Verdict) printSummary(p page) {
	var bytes, known int64
	examined := 0
	for _, s := range v.Stores {
		bytes += s.Bytes
		if s.Format != "" {
			examined++
		}
		for _, b := range s.Findings {
			known += b.Known
		}
	}
	p.Line("")
	p.Linef("%s, %s: %s", screen.Plural(int64(examined), "store"), screen.Size(bytes), v.Summary(p.Palette))
	if b := v.Baseline; b != nil && b.Gone > 0 {
		p.line("", screen.Sprintf("%s lists %s that %s gone: --write-baseline removes %s", b.Path, screen.Plural(b.Gone, "finding"), is(b.Gone), it(b.Gone)))
	}
}

func is(n int64) screen.Safe {
	if n == 1 {
		return "is"
	}
	return "are"
}

func it(n int64) screen.Safe {
	if n == 1 {
		return "it"
	}
	return "them"
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
			word = "no sessions found"
		}
		out = append([]screen.Safe{word}, out...)
	}
	return screen.Join(out, ", ")
}
