package main

import (
	"strings"

	"rehome/cmd/rehome/internal/screen"
)

const (
	demoFiles = 12 // how much of a listing the demo shows,
	demoLines = 30 // how much of a difference,
	demoWidth = 76 // and how wide
)

func (r *demoResult) text(p *page) {
	p.Line(p.Strong("stores become text for git, and the text becomes the stores again"))
	p.Linef("everything lies in %s", visible(r.Folder))
	p.Line("")
	p.Line(p.Strong("1. the store as text"))
	p.Line(p.Cyan("   $ rehome convert chat/store.db monday --to archive"))
	p.files("", r.listed)
	p.Line("")
	p.Line(p.Strong("2. one more turn in the chat, and the text of it"))
	p.Line(p.Cyan("   $ rehome convert chat/store.db tuesday --to archive"))
	r.difference(p)
	p.Line("")
	p.Line(p.Strong("3. the text as a store, and that store as text"))
	p.Line(p.Cyan("   $ rehome convert tuesday back/store.db"))
	p.Line(p.Cyan("   $ rehome convert back/store.db again --to archive"))
	p.Linef("   tuesday and again: %s", p.verdict(r.same, "the same, byte for byte"))
	if r.secret > 0 {
		p.Linef("   %s stayed home: keys do not belong in git, and the client makes new ones", many(r.secret, "secret"))
	}
	p.Line("")
	p.Line(p.Strong("4. the same for a backup, keys included"))
	p.Line(p.Cyan("   $ rehome convert chat/store.db private --to archive --with-secrets"))
	p.Line(p.Cyan("   $ rehome convert private whole/store.db --with-secrets"))
	var sets [][]screen.Safe
	for _, s := range r.sets {
		sets = append(sets, []screen.Safe{visible(setName(s.File, s.Table)), many(s.Rows, "row"), visible(s.Digest)})
	}
	p.Table("   ", sets)
	p.Linef("   chat/store.db and whole/store.db: %s", p.verdict(r.whole, "every cell equal"))
	p.Line("")
	r.SDK.text(p)
	p.Line("")
	r.Migrated.text(p)
}

// files lists files of the demo by their names below a folder, in which ids
// and hashes are shortened.
func (p *page) files(below string, l listing) {
	var lines [][]screen.Safe
	for i, name := range l.names {
		if i == demoFiles && len(l.names) > demoFiles+1 {
			break
		}
		lines = append(lines, []screen.Safe{screen.Brief(strings.TrimPrefix(name, below)), size(l.sizes[i])})
	}
	p.Table("   ", lines)
	if more := len(l.names) - len(lines); more > 0 {
		p.Linef("   and %s", many(int64(more), "more file"))
	}
}

// difference shows the beginning of the diff, in the colors git would use.
func (r *demoResult) difference(p *page) {
	if r.shown.tool != "" {
		p.Line(p.Cyan("   $ " + visible(strings.Replace(r.shown.tool, "-U1", "--stat", 1))))
	}
	for line := range strings.Lines(r.shown.stat) {
		p.Line("  " + visible(strings.TrimRight(line, "\n")))
	}
	if r.shown.tool != "" {
		p.Line(p.Cyan("   $ " + visible(r.shown.tool)))
	}
	all := 0
	for line := range strings.Lines(r.shown.text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "diff ") || strings.HasPrefix(line, "index ") || strings.HasPrefix(line, "new file ") {
			continue
		}
		for _, part := range p.diffLine(line) {
			if all++; all <= demoLines {
				p.Line("   " + part)
			}
		}
	}
	if all > demoLines {
		p.Linef("   and %s", many(int64(all-demoLines), "more line"))
	}
}

// diffLine is one line of a diff, painted, in as many lines as it takes.
func (p *page) diffLine(s string) []screen.Safe {
	paint := screen.Plain
	switch {
	case strings.HasPrefix(s, "--- "), strings.HasPrefix(s, "+++ "):
		paint = p.Strong
	case strings.HasPrefix(s, "@@"):
		paint = p.Cyan
	case strings.HasPrefix(s, "+"):
		paint = p.Green
	case strings.HasPrefix(s, "-"):
		paint = p.Red
	}
	out := rows(visible(shortRuns(s)), demoWidth)
	for i := range out {
		out[i] = paint(out[i])
	}
	return out
}

// rows cuts a line into as many as it takes.
func rows(s screen.Safe, width int) (out []screen.Safe) {
	for used := 0; s != ""; s = s[used:] {
		used = len(s)
		n := 0
		for i := range s {
			if n++; n > width {
				used = i
				break
			}
		}
		out = append(out, s[:used])
	}
	return out
}

func (p *page) verdict(ok bool, words screen.Safe) screen.Safe {
	if ok {
		return p.Green(words)
	}
	return p.Red("not " + words)
}

// shortRuns cuts long runs of hexadecimal or base64, the names of blobs and
// bytes that are not text, so that what people said fits on a screen.
func shortRuns(s string) string {
	const long, keep = 40, 8
	var b strings.Builder
	for s != "" {
		n := strings.IndexFunc(s, func(r rune) bool {
			return !('0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' || r == '+' || r == '/' || r == '=')
		})
		switch {
		case n < 0:
			n = len(s)
		case n == 0:
			n = 1
		}
		if n >= long {
			b.WriteString(s[:keep] + "…")
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}
