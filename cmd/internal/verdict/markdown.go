package verdict

import (
	"fmt"
	"io"
	"strings"

	"rehome/cmd/internal/screen"
	"rehome/convert/check"
	"rehome/formats/rule"
)

// maxRows limits the findings on a job's page: GitHub accepts up to 1 MiB.
const maxRows = 500

// Markdown prints the verdict for a job's page.
func (v *Verdict) Markdown(w io.Writer, wd string) error {
	p := screen.NewPage(w, false)
	p.Linef("### rehome check: %s\n", cell(v.Summary(false)))
	for _, s := range v.Failed() {
		p.Linef("- %s not fully examined: %s", code(slashPath(s.Path, wd)), cell(screen.Visible(s.Err.Error())))
	}
	if len(v.Failed()) > 0 {
		p.Line("")
	}
	rows := 0
	for _, of := range []rule.Severity{rule.Error, rule.Warning, rule.Note} {
		for _, s := range v.Stores {
			for _, br := range v.listed(s) {
				if br.Rule.Severity != of {
					continue
				}
				if rows == 0 {
					p.Line("| | rule | location | problem | fix |\n|---|---|---|---|---|")
				}
				if rows++; rows <= maxRows {
					p.Line(row(s, br, wd))
				}
			}
		}
	}
	if rows > maxRows {
		p.Linef("\nand %s more", screen.Grouped(int64(rows-maxRows)))
	}
	return p.Err()
}

func row(s *check.Store, b check.RuleFindings, wd string) screen.Safe {
	first := b.Places[0]
	at := slashPath(s.File(first.At), wd)
	if inText(first) {
		at = fmt.Sprintf("%s:%d", at, first.At.Line)
	} else if in := addrInFile(first.At); in != "" {
		at += " " + in
	}
	where, what := code(at), cell(screen.Visible(b.Rule.Title))
	if rest := b.Count - 1; rest > 0 {
		where += screen.Sprintf(" +%s more", screen.Grouped(rest))
	}
	if d := detail(first); d != "" {
		what += "<br>" + cell(screen.Visible(d))
	}
	return screen.Sprintf("| %s | %s | %s | %s | %s |", b.Rule.Severity, b.Rule.ID, where, what, cell(screen.Visible(b.Rule.Fix)))
}

// code returns foreign text as code, in which GitHub does not create links.
func code(s string) screen.Safe { return "<code>" + cell(screen.Visible(s)) + "</code>" }

// cell escapes all Markdown and HTML in a table cell.
func cell(s screen.Safe) screen.Safe {
	pairs := []string{"@", "&#64;<!-- -->"} // else it would mention a user
	for _, r := range "&<>|`*_[]\\~#!$:" {
		pairs = append(pairs, string(r), fmt.Sprintf("&#%d;", r))
	}
	return screen.Replace(s, strings.NewReplacer(pairs...))
}
