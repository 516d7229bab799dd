package verdict

import (
	"io"
	"path/filepath"
	"slices"
	"strings"

	"rehome/cmd/rehome/internal/screen"
	"rehome/convert"
	"rehome/formats"
	"rehome/formats/rule"
)

const (
	textWidth  = screen.PageWidth
	fewPlaces  = 5  // places of a breach that are worth reading
	fewWholes  = 20 // stores in which nothing is wrong that are worth naming
	textMargin = "    "
)

// page is what the verdict is written on.
type page struct{ *screen.Page }

// line prints text, broken where the width ends.
func (p page) line(indent, s screen.Safe) { p.Wrapped(indent, s, screen.Plain) }

// Text prints a verdict for people.
func (v *Verdict) Text(w io.Writer, paint screen.Palette) error {
	p := page{screen.NewPage(w, paint)}
	wholes := 0
	for _, s := range v.Stores {
		if s.Err == nil && len(v.told(s)) == 0 {
			if wholes++; wholes <= fewWholes {
				v.whole(p, s)
			}
			continue
		}
		v.store(p, s)
	}
	if wholes > fewWholes {
		p.Linef("and %s without findings", screen.Many(int64(wholes-fewWholes), "more store"))
	}
	v.summary(p)
	return p.Err()
}

// whole says in a line that nothing is wrong with a store, or nothing new.
func (v *Verdict) whole(p page, s *convert.CheckedStore) {
	word := screen.Safe("ok")
	for _, b := range s.Breaches {
		if b.Known > 0 {
			word = "nothing new"
		}
	}
	if s.Format == "" && word == "ok" {
		word = "searched"
		for _, remark := range s.Said {
			word = screen.Visible(remark)
		}
	}
	p.head(s.Path, word+v.aside(s))
}

// head is the line of a store; what is to be said of it has a second one where
// its path is long.
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

// aside counts what is not told one by one: notes, and what is known.
func (v *Verdict) aside(s *convert.CheckedStore) screen.Safe {
	var notes, known int64
	var ids []string
	for _, b := range s.Breaches {
		known += b.Known
		if b.Count > 0 && !v.tells(b.Rule) {
			notes += b.Count
			ids = append(ids, b.Rule.ID)
		}
	}
	out := screen.Safe("")
	if notes > 0 {
		out += screen.Sprintf(", %s (%s%s)", screen.Many(notes, "note"), strings.Join(ids[:min(len(ids), fewPlaces)], ", "), more(len(ids)-fewPlaces))
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

func (v *Verdict) store(p page, s *convert.CheckedStore) {
	what := v.aside(s)
	if s.Format != "" {
		what = screen.Sprintf(", %s, %s", s.Format, screen.Size(s.Bytes)) + what
	}
	p.head(s.Path, what[min(len(what), len(", ")):])
	for _, remark := range s.Said {
		p.line("  ", screen.Visible(remark))
	}
	if s.Err != nil {
		p.Line("  " + p.Red("not fully examined"))
		p.line(textMargin, screen.Visible(s.Err.Error()))
		if hint := formats.Hint(s.Err); hint != "" {
			p.line(textMargin, "hint: "+screen.Visible(hint))
		}
	}
	told := v.told(s)
	slices.SortStableFunc(told, func(a, b convert.Breach) int { return int(b.Rule.Severity) - int(a.Rule.Severity) })
	for _, b := range told {
		v.breach(p, s, b)
	}
}

// breach is a line that says all, then the places behind the first, then what
// to do.
func (v *Verdict) breach(p page, s *convert.CheckedStore, b convert.Breach) {
	first := b.Places[0]
	p.headline(b.Rule, place(s, first), inText(first) || ofFile(first))
	if says := says(first); says != "" {
		p.line(textMargin, screen.Visible(says))
	}
	p.others(s, b)
	p.Wrapped(textMargin, "fix: "+screen.Visible(b.Rule.Fix), p.Faint)
}

// headline is severity, id, place and title. A place that is too long for all of
// that has the next line for itself, a line of a file whole: terminals and
// editors open it.
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

// others are the places behind the first: those with another reason a line each,
// for the reason is news, then where else the same is wrong.
func (p page) others(s *convert.CheckedStore, b convert.Breach) {
	told, same := map[string]bool{says(b.Places[0]): true}, []screen.Safe{}
	lines := 0
	for _, f := range b.Places[1:] {
		if what := says(f); !told[what] && lines < fewPlaces-1 {
			told[what] = true
			lines++
			p.line(textMargin, near(s, f)+": "+screen.Visible(what))
		}
	}
	again := map[string]bool{says(b.Places[0]): true}
	for _, f := range b.Places[1:] {
		if what := says(f); !again[what] && told[what] {
			again[what] = true // has its line
		} else if len(same)+lines < fewPlaces-1 {
			same = append(same, near(s, f))
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

// inText reports a place that is a line of a file, ofFile one that is a file in
// a store.
func inText(f rule.Finding) bool { return f.At.Line > 0 && f.At.Set == "" }

func ofFile(f rule.Finding) bool {
	return f.At.File != "" && f.At.Set == "" && f.At.Line == 0 && !f.At.HasID
}

// place is where somebody has to look: of text the file and line, as editors
// and terminals know them; of a table the address inside the store.
func place(s *convert.CheckedStore, f rule.Finding) screen.Safe {
	if inText(f) {
		return screen.Sprintf("%s:%d", s.File(f.At), f.At.Line)
	}
	if at := screen.Brief(f.At.String()); at != "" && !ofFile(f) {
		return at
	}
	return screen.Visible(s.File(f.At))
}

// near is place for those who have read the first one.
func near(s *convert.CheckedStore, f rule.Finding) screen.Safe {
	if inText(f) {
		return screen.Sprintf("%s:%d", screen.Brief(filepath.Base(s.File(f.At))), f.At.Line)
	}
	if at := screen.Brief(f.At.Short()); at != "" {
		return at
	}
	return place(s, f)
}

func (v *Verdict) summary(p page) {
	var bytes, known int64
	examined := 0
	for _, s := range v.Stores {
		bytes += s.Bytes
		if s.Format != "" {
			examined++
		}
		for _, b := range s.Breaches {
			known += b.Known
		}
	}
	p.Line("")
	p.Linef("%s, %s: %s", screen.Many(int64(examined), "store"), screen.Size(bytes), v.Sum(p.Palette))
	if b := v.Baseline; b != nil && b.Gone > 0 {
		p.line("", screen.Sprintf("%s lists %s that %s gone: --write-baseline removes %s", b.Path, screen.Many(b.Gone, "finding"), is(b.Gone), it(b.Gone)))
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

// Sum is the whole verdict in a few words: 2 errors, 1 warning, 3 notes.
func (v *Verdict) Sum(paint screen.Palette) screen.Safe {
	var out []screen.Safe
	for _, of := range []rule.Severity{rule.Error, rule.Warning, rule.Note} {
		if n := v.Count(of); n > 0 {
			words := screen.Many(n, screen.Visible(of.String()))
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
		for _, b := range s.Breaches {
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
		if !slices.ContainsFunc(v.Stores, func(s *convert.CheckedStore) bool { return s.Format != "" }) {
			word = "no sessions found"
		}
		out = append([]screen.Safe{word}, out...)
	}
	return screen.Join(out, ", ")
}
