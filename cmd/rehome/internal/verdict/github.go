package verdict

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"rehome/cmd/rehome/internal/screen"
	"rehome/convert"
	"rehome/formats"
	"rehome/formats/rule"
)

// annotation is one command to GitHub's runner.
type annotation struct {
	kind  string
	file  string
	line  int
	title string
	text  string
}

// mostAnnotations is how many of a kind GitHub shows for one step.
const mostAnnotations = 10

// GitHub prints what a runner of GitHub turns into annotations of a pull
// request: a breach each, at its first place, the gravest first. Where there
// are more of a kind than GitHub shows, the last one says so.
func (v *Verdict) GitHub(w io.Writer, wd string) error {
	var list []annotation
	for _, s := range v.Failed() {
		list = append(list, annotation{"error", slashed(s.Path, wd), 0, "not examined to the end", strings.Join(append([]string{s.Err.Error()}, hints(s)...), "\n")})
	}
	for _, of := range []rule.Severity{rule.Error, rule.Warning, rule.Note} {
		for _, s := range v.Stores {
			for _, b := range v.told(s) {
				if b.Rule.Severity == of {
					list = append(list, annotate(s, b, wd))
				}
			}
		}
	}
	for _, kind := range []string{"error", "warning", "notice"} {
		of := slices.DeleteFunc(slices.Clone(list), func(a annotation) bool { return a.kind != kind })
		for i, a := range of {
			if rest := len(of) - i; i == mostAnnotations-1 && rest > 1 {
				a.text = fmt.Sprintf("%s\nThis is one of %d: the others stand in the log of this step only.", a.text, rest)
			}
			if _, err := io.WriteString(w, a.String()+"\n"); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprintln(w, v.Sum(false))
	return err
}

func hints(s *convert.CheckedStore) []string {
	if hint := formats.Hint(s.Err); hint != "" {
		return []string{hint}
	}
	return nil
}

func annotate(s *convert.CheckedStore, b convert.Breach, wd string) annotation {
	kind := b.Rule.Severity.String()
	if b.Rule.Severity == rule.Note {
		kind = "notice"
	}
	first := b.Places[0]
	a := annotation{kind: kind, file: slashed(s.File(first.At), wd), line: first.At.Line, title: b.Rule.ID + " " + b.Rule.Title}
	var text []string
	at := first.At
	at.Line = 0
	for _, part := range []string{inside(at), says(first)} {
		if part != "" {
			text = append(text, part)
		}
	}
	text = []string{strings.Join(text, ": ")}
	if rest := b.Count - 1; rest > 0 {
		text = append(text, fmt.Sprintf("+%s more in %s", screen.Grouped(rest), slashed(s.Path, wd)))
	}
	text = append(text, b.Rule.Mend)
	a.text = strings.TrimLeft(strings.Join(text, "\n"), "\n")
	return a
}

// String spells the command. What would end a command or one of its properties
// is escaped, and what would act on the log is spelled out.
func (a annotation) String() string {
	s := "::" + a.kind + " file=" + property(a.file)
	if a.line > 0 {
		s += fmt.Sprintf(",line=%d", a.line)
	}
	return s + ",title=" + property(a.title) + "::" + message(a.text)
}

func message(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.ReplaceAll(screen.Visible(l), "%", "%25")
	}
	return strings.Join(lines, "%0A")
}

func property(s string) string {
	return strings.NewReplacer("%", "%25", ":", "%3A", ",", "%2C").Replace(screen.Visible(s))
}
