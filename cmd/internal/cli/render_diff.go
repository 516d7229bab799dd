package cli

import (
	"cmp"
	"errors"
	"strings"

	"rehome/cmd/internal/prose"
	"rehome/cmd/internal/screen"
	"rehome/convert/diff"
)

// diffView renders differences. All forms but JSON are made of the same lines.
type diffView struct {
	cmd    *diffCmd
	detail prose.Detail
}

// diffLine is a line of a difference: a heading if level is less than 3, else a line of
// a text with its mark.
type diffLine struct {
	level int
	mark  byte // + - or a space; 0 for none
	text  screen.Safe
	words [][2]int // where text differs from the line on the other side
}

// prefix returns the mark as a unified diff has it.
func (l diffLine) prefix() screen.Safe {
	switch l.mark {
	case '+':
		return "+"
	case '-':
		return "-"
	}
	return " "
}

// changeOf says what happened to something that these sides have.
func changeOf(before, after bool) string {
	switch {
	case !before:
		return "added"
	case !after:
		return "removed"
	}
	return "changed"
}

// changes says how many things were added, removed and changed.
func changes(what screen.Safe, added, removed, changed int) (parts []screen.Safe) {
	for i, n := range []int{added, removed, changed} {
		if n > 0 {
			parts = append(parts, screen.Plural(int64(n), what)+" "+[]screen.Safe{"added", "removed", "changed"}[i])
		}
	}
	return parts
}

// diffSummary says how many sessions, or stores, differ.
func diffSummary(what screen.Safe, c *diff.Comparison) screen.Safe {
	var parts []screen.Safe
	for _, one := range []struct {
		n    int
		what screen.Safe
	}{{c.Changed, "changed"}, {c.Added, "added"}, {c.Removed, "removed"}} {
		if one.n > 0 && len(parts) == 0 {
			parts = append(parts, screen.Plural(int64(one.n), what)+" "+one.what)
		} else if one.n > 0 {
			parts = append(parts, screen.Sprintf("%d %s", one.n, one.what))
		}
	}
	switch {
	case len(parts) == 0 && c.Same == 0:
		return "no " + what + "s on either side"
	case len(parts) == 0:
		return "no differences in " + screen.Plural(int64(c.Same), what)
	case c.Same > 0:
		parts = append(parts, screen.Sprintf("%d without differences", c.Same))
	}
	return screen.Join(parts, ", ")
}

// acrossClients says what is compared of sessions of different clients.
func acrossClients(c *diff.Comparison) screen.Safe {
	return screen.Plural(int64(c.Across), "session") + " compared across clients: calls by kind and main argument, results by whether they failed, details not at all"
}

// Text prints the summary, then each session that differs.
func (v *diffView) text(p *screen.Page, c *diff.Comparison) error {
	lines := &diffPage{Page: p}
	p.Line(diffSummary("session", c))
	if c.Across > 0 {
		p.Wrapped("  ", acrossClients(c), p.Faint)
	}
	err := c.Each(func(s *diff.Session) error {
		if !v.cmd.Stat {
			p.Line("")
		}
		p.Wrapped("", v.title(s), p.Strong)
		v.session(s, lines.put)
		lines.flush()
		return p.Err()
	})
	return errors.Join(err, p.Err())
}

func printDiffLine(p *screen.Page, l diffLine) {
	indent := screen.Repeat("  ", max(l.level, 1))
	if l.level < 3 {
		p.Wrapped(indent, l.text, [...]func(screen.Safe) screen.Safe{p.Faint, p.Cyan, screen.Plain}[l.level])
		return
	}
	at := 0
	l.text = screen.ExpandTabs(l.text)
	for _, part := range screen.Wrap(l.text, p.Width-len(indent)-1) {
		switch l.mark {
		case '+', '-':
			part, at = paintDiffLine(p, l, part, at)
		case ' ':
			part = p.Faint(l.prefix() + part)
		}
		p.Line(indent + part)
	}
}

// title names a session and says what happened to it.
func (v *diffView) title(s *diff.Session) screen.Safe {
	name := screen.Safe("(untitled)")
	if s.Title != "" {
		name = screen.Shorten(s.Title)
	}
	change := changeOf(s.Before != nil, s.After != nil)
	if change != "changed" {
		name += turnCount(cmp.Or(s.After, s.Before))
	}
	return screen.Pad(screen.Visible(change), len("changed")) + "  " + name
}

func turnCount(p *diff.Place) screen.Safe {
	if p.Turns < 0 {
		return ""
	}
	return ", " + screen.Plural(p.Turns, "turn")
}

// places says which sessions are compared.
func places(s *diff.Session) screen.Safe {
	name := func(p *diff.Place) screen.Safe { return screen.Visible(p.Client) + " " + screen.Visible(p.ID) }
	switch {
	case s.Before == nil:
		return name(s.After)
	case s.After == nil || s.Before.Client == s.After.Client && s.Before.ID == s.After.ID:
		return name(s.Before)
	}
	return name(s.Before) + " -> " + name(s.After)
}

// session gives the lines of a session to put, until that returns false.
func (v *diffView) session(s *diff.Session, put func(diffLine) bool) {
	head := func(level int, text screen.Safe) { put(diffLine{level: level, text: text}) }
	head(0, places(s))
	v.counts(s, head)
	if v.cmd.Stat {
		return
	}
	v.fields(1, s.Fields, put)
	turn, whole := -1, false
	for i := range s.Changes {
		ch := &s.Changes[i]
		at := cmp.Or(ch.After, ch.Before)
		if at.Kind == diff.File && !v.cmd.All {
			continue
		}
		if at.Turn != turn || ch.WholeTurn != whole {
			turn, whole = at.Turn, ch.WholeTurn
			head(1, turnTitle(ch, turn))
		}
		head(2, v.changeTitle(s, ch))
		for _, l := range v.lines(s, ch) {
			if !put(l) {
				return
			}
		}
	}
	v.details(s, put)
}

func turnTitle(ch *diff.Change, turn int) screen.Safe {
	switch {
	case turn == 0:
		return "outside of turns"
	case !ch.WholeTurn:
		return screen.Sprintf("turn %d", turn)
	}
	return screen.Sprintf("turn %d %s", turn, screen.Visible(changeOf(ch.Before != nil, ch.After != nil)))
}

// counts prints how many turns differ.
func (v *diffView) counts(s *diff.Session, head func(int, screen.Safe)) {
	parts := changes("turn", s.Turns.Added, s.Turns.Removed, s.Turns.Changed)
	if s.Coarse {
		parts = append(parts, "too many messages to compare all of them")
	}
	if n := len(s.Details) + s.More; n > 0 {
		what := "details of " + screen.Plural(int64(n), "message")
		if len(s.Changes) > 0 && !v.cmd.All {
			what += " (--all)"
		}
		parts = append(parts, what)
	}
	if len(parts) > 0 {
		head(1, screen.Join(parts, ", "))
	}
}

// fields prints members that differ.
func (v *diffView) fields(level int, all diff.Fields, put func(diffLine) bool) {
	for _, f := range all.List {
		v.field(level, f, put)
	}
	v.more(level, all.More, put)
}

func (v *diffView) more(level, n int, put func(diffLine) bool) {
	if n > 0 {
		put(diffLine{level: level, text: "and " + screen.Plural(int64(n), "more member")})
	}
}

// field prints a member that differs: in one line if it fits.
func (v *diffView) field(level int, f diff.Field, put func(diffLine) bool) {
	show := func(s string) screen.Safe {
		if s == "" {
			return "(none)"
		}
		return screen.Visible(s)
	}
	if line := screen.Sprintf("%s: %s -> %s", screen.Visible(f.Name), show(f.Before), show(f.After)); len(line) < maxFieldLine &&
		!strings.Contains(f.Before+f.After, "\n") {
		put(diffLine{level: level, text: line})
		return
	}
	put(diffLine{level: level, text: screen.Visible(f.Name) + ":"})
	for _, l := range markedLines(diffText(f.Before, f.After)) {
		if !put(l) {
			return
		}
	}
}

// maxFieldLine is the max length of a member on one line.
const maxFieldLine = 120

// details prints the details that differ of messages that say the same, unless the
// session differs otherwise: then they are only counted.
func (v *diffView) details(s *diff.Session, put func(diffLine) bool) {
	if len(s.Changes) > 0 && !v.cmd.All {
		return
	}
	for _, d := range s.Details {
		put(diffLine{level: 1, text: screen.Sprintf("turn %d, details", d.Turn)})
		v.fields(2, d.Fields, put)
	}
}

// changeTitle names a part and says what happened to it.
func (v *diffView) changeTitle(s *diff.Session, ch *diff.Change) screen.Safe {
	at := cmp.Or(ch.After, ch.Before)
	name := screen.Visible(string(at.Kind))
	if at.Name != "" {
		name += " " + screen.Shorten(at.Name)
	}
	if at.Call != nil {
		tool, subject := prose.Subject(at.Call, s.Workspace)
		name = screen.Visible(tool)
		if subject != "" {
			name += "  " + screen.Shorten(subject)
		}
	}
	if ch.WholeTurn {
		return name
	}
	return name + "  " + screen.Visible(changeOf(ch.Before != nil, ch.After != nil))
}

// lines returns what differs in a part.
func (v *diffView) lines(s *diff.Session, ch *diff.Change) (out []diffLine) {
	switch {
	case !v.shows(cmp.Or(ch.After, ch.Before)):
		return nil
	case len(ch.Fields.List)+len(ch.Longs) > 0:
		v.fields(3, ch.Fields, func(l diffLine) bool {
			out = append(out, l)
			return true
		})
		for _, l := range ch.Longs {
			out = append(out, longLines(ch, l)...)
		}
		return out
	}
	out = markedLines(prose.DiffLines(v.partLines(s, ch.Before), v.partLines(s, ch.After)))
	if ch.Before != nil && ch.Before.Cut || ch.After != nil && ch.After.Cut {
		out = append(out, diffLine{level: 3, mark: ' ', text: "… (too long to show in full)"})
	}
	return out
}

// longLines returns how long a text is on both sides, and the first line that differs.
func longLines(ch *diff.Change, l diff.Long) []diffLine {
	long := func(e diff.Extent) screen.Safe {
		return screen.Sprintf("%s in %s", screen.Size(int64(e.Bytes)), screen.Plural(int64(e.Lines), "line"))
	}
	text := screen.Sprintf("%s: %s -> %s, not shown in full", screen.Visible(l.Name), long(l.Before), long(l.After))
	if l.Line == 0 || max(l.Before.Lines, l.After.Lines) == 1 {
		return []diffLine{{level: 3, text: text}}
	}
	out := []diffLine{{level: 3, text: text + screen.Sprintf(", first difference in line %d", l.Line)}}
	a, b := textLines(ch.Before.Text), textLines(ch.After.Text)
	if n := l.Line; l.Name == "text" && n < min(len(a), len(b)) { // the last line can be cut
		out = append(out, markedLines(diffText(a[n-1], b[n-1]))...)
	}
	return out
}

// shows reports whether the content of a part is printed.
func (v *diffView) shows(p *diff.Part) bool {
	switch p.Kind {
	case diff.Reasoning:
		return v.cmd.Thinking
	case diff.Context, diff.Other, diff.File:
		return v.cmd.All
	case diff.Call, diff.Result:
		return v.detail != prose.None
	}
	return true
}

// partLines returns the lines of a part.
func (v *diffView) partLines(s *diff.Session, p *diff.Part) []string {
	switch {
	case p == nil:
		return nil
	case p.Call != nil:
		return prose.CallLines(p.Call, p.Result, s.Workspace, v.detail)
	case p.Result != nil:
		return prose.ResultLines(p.Result, v.detail)
	}
	return textLines(p.Text)
}

func textLines(s string) []string {
	if s = strings.TrimRight(strings.ReplaceAll(s, "\r\n", "\n"), "\n"); s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

func diffText(before, after string) []string {
	return prose.DiffLines(textLines(before), textLines(after))
}

// markedLines splits lines of a diff into marks and text.
func markedLines(list []string) (out []diffLine) {
	for _, l := range list {
		if strings.HasPrefix(l, "@@") {
			out = append(out, diffLine{level: 3, mark: ' ', text: "…"})
			continue
		}
		out = append(out, diffLine{level: 3, mark: l[0], text: screen.Lines(l[1:])})
	}
	return out
}
