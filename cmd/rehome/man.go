package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// Run prints the manual page.
func (manCmd) Run(h *house) error {
	_, err := io.WriteString(h.out.stdout, manual(model()))
	return err
}

// manual is the grammar as a page of the manual, in the macros of man.
func manual(m *kong.Application) string {
	var b strings.Builder
	b.WriteString(".\\\" made by: rehome man\n.TH REHOME 1 \"\" \"\" \"User Commands\"\n")
	b.WriteString(".SH NAME\nrehome \\- " + roff(strings.ToLower(firstSentence(m.Help)[:1])+firstSentence(m.Help)[1:]) + "\n")
	b.WriteString(".SH SYNOPSIS\n.B rehome\n.I command\n[\\fIargument\\fR ...] [\\fIflag\\fR ...]\n")
	b.WriteString(".SH GLOBAL FLAGS\n")
	manFlags(&b, m.Flags)
	b.WriteString(".SH COMMANDS\n")
	for _, n := range commands(m) {
		b.WriteString(".SS " + roff("rehome "+n.Name))
		for _, p := range n.Positional {
			b.WriteString(" " + roff(p.Summary()))
		}
		b.WriteString("\n" + roff(n.Help) + "\n")
		manDetail(&b, n.Detail)
		for _, p := range n.Positional {
			b.WriteString(".TP\n\\fI" + roff(p.Name) + "\\fR\n" + roff(p.Help) + "\n")
		}
		manFlags(&b, n.Flags)
	}
	b.WriteString(".SH EXIT STATUS\n")
	for _, o := range outcomes() {
		fmt.Fprintf(&b, ".TP\n.B %d\n%s\n", o.code, roff(o.what))
	}
	b.WriteString(".SH ENVIRONMENT\n.TP\n.B PAGER\nPager for text that is longer than the screen (less \\-R by default).\n")
	b.WriteString(".TP\n.BR NO_COLOR \", \" FORCE_COLOR \", \" TERM\nWhether to use color, unless \\fB\\-\\-color\\fR is given.\n")
	return b.String()
}

func manFlags(b *strings.Builder, flags []*kong.Flag) {
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		b.WriteString(".TP\n")
		if f.Short != 0 {
			b.WriteString("\\fB\\-" + string(f.Short) + "\\fR, ")
		}
		b.WriteString("\\fB\\-\\-" + roff(f.Name) + "\\fR")
		if !f.IsBool() {
			b.WriteString("=\\fI" + roff(f.PlaceHolder) + "\\fR")
		}
		b.WriteString("\n" + roff(f.Help) + "\n")
	}
}

// manDetail spells the long help: paragraphs, and examples as they stand.
func manDetail(b *strings.Builder, text string) {
	example := false
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		line = strings.TrimRight(line, "\n")
		indented := strings.HasPrefix(line, "    ")
		switch {
		case indented && !example:
			b.WriteString(".PP\n.nf\n")
		case !indented && line != "" && example:
			b.WriteString(".fi\n")
		}
		if indented || line != "" {
			example = indented
		}
		switch {
		case line == "" && example:
			b.WriteString("\n")
		case line == "":
			b.WriteString(".PP\n")
		default:
			b.WriteString(roff(line) + "\n")
		}
	}
	if example {
		b.WriteString(".fi\n")
	}
}

// roff is text in which nothing is a macro.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", "\\(ga", "^", `\(ha`, "~", `\(ti`, "–", `\(en`).Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	return s
}
