package verdict

import (
	"fmt"
	"io"
	"strings"

	"rehome/cmd/rehome/internal/screen"
	"rehome/convert"
	"rehome/formats/rule"
)

// mostRows is how many breaches the page of a job can bear: GitHub takes a
// summary of a mebibyte.
const mostRows = 500

// Markdown prints the verdict for the page of a job.
func (v *Verdict) Markdown(w io.Writer, wd string) error {
	p := screen.NewPage(w, false)
	p.Linef("### rehome check: %s\n", cell(v.Sum(false)))
	for _, s := range v.Failed() {
		p.Linef("- %s could not be examined to the end: %s", code(slashed(s.Path, wd)), cell(screen.Visible(s.Err.Error())))
	}
	if len(v.Failed()) > 0 {
		p.Line("")
	}
	rows := 0
	for _, of := range []rule.Severity{rule.Error, rule.Warning, rule.Note} {
		for _, s := range v.Stores {
			for _, br := range v.told(s) {
				if br.Rule.Severity != of {
					continue
				}
				if rows == 0 {
					p.Line("| | rule | where | what is wrong | what to do |\n|---|---|---|---|---|")
				}
				if rows++; rows <= mostRows {
					p.Line(row(s, br, wd))
				}
			}
		}
	}
	if rows > mostRows {
		p.Linef("\nand %s more", screen.Grouped(int64(rows-mostRows)))
	}
	return p.Err()
}

func row(s *convert.CheckedStore, b convert.Breach, wd string) screen.Safe {
	first := b.Places[0]
	at := slashed(s.File(first.At), wd)
	if inText(first) {
		at = fmt.Sprintf("%s:%d", at, first.At.Line)
	} else if in := inside(first.At); in != "" {
		at += " " + in
	}
	where, what := code(at), cell(screen.Visible(b.Rule.Title))
	if rest := b.Count - 1; rest > 0 {
		where += screen.Sprintf(" +%s more", screen.Grouped(rest))
	}
	if says := says(first); says != "" {
		what += "<br>" + cell(screen.Visible(says))
	}
	return screen.Sprintf("| %s | %s | %s | %s | %s |", b.Rule.Severity, b.Rule.ID, where, what, cell(screen.Visible(b.Rule.Fix)))
}

// code is foreign text in the type of code, where GitHub makes no links of it.
func code(s string) screen.Safe { return "<code>" + cell(screen.Visible(s)) + "</code>" }

// cell is text in which nothing is Markdown or HTML.
func cell(s screen.Safe) screen.Safe {
	pairs := []string{"@", "&#64;<!-- -->"} // else it would be somebody's name
	for _, r := range "&<>|`*_[]\\~#!$:" {
		pairs = append(pairs, string(r), fmt.Sprintf("&#%d;", r))
	}
	return screen.Replace(s, strings.NewReplacer(pairs...))
}
