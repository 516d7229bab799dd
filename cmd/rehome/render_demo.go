package main

import "strings"

const (
	demoFiles = 12 // how much of a listing the demo shows,
	demoLines = 30 // how much of a difference,
	demoWidth = 76 // and how wide
)

func (r *demoResult) text(p *page) {
	p.line(p.strong("stores become text for git, and the text becomes the stores again"))
	p.linef("everything lies in %s", visible(r.Folder))
	p.line("")
	p.line(p.strong("1. the store as text"))
	p.line(p.cyan("   $ rehome convert chat/store.db monday --to archive"))
	p.files("", r.listed)
	p.line("")
	p.line(p.strong("2. one more turn in the chat, and the text of it"))
	p.line(p.cyan("   $ rehome convert chat/store.db tuesday --to archive"))
	r.difference(p)
	p.line("")
	p.line(p.strong("3. the text as a store, and that store as text"))
	p.line(p.cyan("   $ rehome convert tuesday back/store.db"))
	p.line(p.cyan("   $ rehome convert back/store.db again --to archive"))
	p.linef("   tuesday and again: %s", p.verdict(r.same, "the same, byte for byte"))
	if r.secret > 0 {
		p.linef("   %s stayed home: keys do not belong in git, and the client makes new ones", many(r.secret, "secret"))
	}
	p.line("")
	p.line(p.strong("4. the same for a backup, keys included"))
	p.line(p.cyan("   $ rehome convert chat/store.db private --to archive --with-secrets"))
	p.line(p.cyan("   $ rehome convert private whole/store.db --with-secrets"))
	var sets [][]string
	for _, s := range r.sets {
		sets = append(sets, []string{setName(s.File, s.Table), many(s.Rows, "row"), s.Digest})
	}
	p.table("   ", sets)
	p.linef("   chat/store.db and whole/store.db: %s", p.verdict(r.whole, "every cell equal"))
	p.line("")
	r.SDK.text(p)
	p.line("")
	r.Migrated.text(p)
}

// files lists files of the demo by their names below a folder, in which ids
// and hashes are shortened.
func (p *page) files(below string, l listing) {
	var lines [][]string
	for i, name := range l.names {
		if i == demoFiles && len(l.names) > demoFiles+1 {
			break
		}
		lines = append(lines, []string{visible(brief(strings.TrimPrefix(name, below))), size(l.sizes[i])})
	}
	p.table("   ", lines)
	if more := len(l.names) - len(lines); more > 0 {
		p.linef("   and %s", many(int64(more), "more file"))
	}
}

// difference shows the beginning of the diff, in the colours git would use.
func (r *demoResult) difference(p *page) {
	if r.shown.tool != "" {
		p.line(p.cyan("   $ " + strings.Replace(r.shown.tool, "-U1", "--stat", 1)))
	}
	for line := range strings.Lines(r.shown.stat) {
		p.line("  " + visible(strings.TrimRight(line, "\n")))
	}
	if r.shown.tool != "" {
		p.line(p.cyan("   $ " + r.shown.tool))
	}
	all := 0
	for line := range strings.Lines(r.shown.text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "diff ") || strings.HasPrefix(line, "index ") || strings.HasPrefix(line, "new file ") {
			continue
		}
		for _, part := range p.diffLine(line) {
			if all++; all <= demoLines {
				p.line("   " + part)
			}
		}
	}
	if all > demoLines {
		p.linef("   and %s", many(int64(all-demoLines), "more line"))
	}
}

// diffLine is one line of a diff, painted, in as many lines as it takes.
func (p *page) diffLine(s string) []string {
	s = shortRuns(visible(s))
	paint := func(s string) string { return s }
	switch {
	case strings.HasPrefix(s, "--- "), strings.HasPrefix(s, "+++ "):
		paint = p.strong
	case strings.HasPrefix(s, "@@"):
		paint = p.cyan
	case strings.HasPrefix(s, "+"):
		paint = p.green
	case strings.HasPrefix(s, "-"):
		paint = p.red
	}
	out := rows(s, demoWidth)
	for i := range out {
		out[i] = paint(out[i])
	}
	return out
}

// rows cuts a line into as many as it takes.
func rows(s string, width int) (out []string) {
	for r := []rune(s); len(r) > 0; {
		n := min(len(r), width)
		out = append(out, string(r[:n]))
		r = r[n:]
	}
	return out
}

func (p *page) verdict(ok bool, words string) string {
	if ok {
		return p.green(words)
	}
	return p.red("not " + words)
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
