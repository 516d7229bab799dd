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
	var b strings.Builder
	fmt.Fprintf(&b, "### rehome check: %s\n\n", cell(v.Sum(false)))
	for _, s := range v.Failed() {
		fmt.Fprintf(&b, "- %s could not be examined to the end: %s\n", code(slashed(s.Path, wd)), cell(s.Err.Error()))
	}
	if len(v.Failed()) > 0 {
		b.WriteByte('\n')
	}
	rows := 0
	for _, of := range []rule.Severity{rule.Error, rule.Warning, rule.Note} {
		for _, s := range v.Stores {
			for _, br := range v.told(s) {
				if br.Rule.Severity != of {
					continue
				}
				if rows == 0 {
					b.WriteString("| | rule | where | what is wrong | what to do |\n|---|---|---|---|---|\n")
				}
				if rows++; rows <= mostRows {
					b.WriteString(row(s, br, wd))
				}
			}
		}
	}
	if rows > mostRows {
		fmt.Fprintf(&b, "\nand %s more\n", screen.Grouped(int64(rows-mostRows)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func row(s *convert.CheckedStore, b convert.Breach, wd string) string {
	first := b.Places[0]
	at := slashed(s.File(first.At), wd)
	if inText(first) {
		at = fmt.Sprintf("%s:%d", at, first.At.Line)
	} else if in := inside(first.At); in != "" {
		at += " " + in
	}
	where, what := code(at), cell(b.Rule.Title)
	if rest := b.Count - 1; rest > 0 {
		where += fmt.Sprintf(" +%s more", screen.Grouped(rest))
	}
	if says := says(first); says != "" {
		what += "<br>" + cell(says)
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s |\n", b.Rule.Severity, b.Rule.ID, where, what, cell(b.Rule.Mend))
}

// code is foreign text in the type of code, where GitHub makes no links of it.
func code(s string) string { return "<code>" + cell(s) + "</code>" }

// cell is foreign text in which nothing is Markdown or HTML, on one line.
func cell(s string) string {
	var b strings.Builder
	for _, r := range screen.Visible(s) {
		switch {
		case r == '@':
			b.WriteString("&#64;<!-- -->") // else it would be somebody's name
		case strings.ContainsRune("&<>|`*_[]\\~#!$:", r):
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
