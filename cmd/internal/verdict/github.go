package verdict

import (
	"io"
	"slices"
	"strings"

	"rehome/cmd/internal/screen"
	"rehome/convert/check"
	"rehome/formats"
	"rehome/formats/rule"
)

// annotation is a command to GitHub's runner.
type annotation struct {
	kind  screen.Safe
	file  string
	line  int
	title screen.Safe
	text  []screen.Safe
}

// maxAnnotations is how many annotations of a kind GitHub shows for one step.
const maxAnnotations = 10

// GitHub prints the commands that GitHub's runner turns into annotations of a
// pull request: one per finding, at its first place, most severe first. If
// there are more of a kind than GitHub shows, the last shown one says so.
func (v *Verdict) GitHub(w io.Writer, wd string) error {
	var list []annotation
	for _, s := range v.Failed() {
		list = append(list, annotation{"error", slashPath(s.Path, wd), 0, "not fully examined", append(slices.Collect(screen.Rows(screen.Lines(s.Err.Error()))), hints(s)...)})
	}
	for _, of := range []rule.Severity{rule.Error, rule.Warning, rule.Note} {
		for _, s := range v.Stores {
			for _, b := range v.listed(s) {
				if b.Rule.Severity == of {
					list = append(list, annotate(s, b, wd))
				}
			}
		}
	}
	for _, kind := range []screen.Safe{"error", "warning", "notice"} {
		of := slices.DeleteFunc(slices.Clone(list), func(a annotation) bool { return a.kind != kind })
		for i, a := range of {
			if rest := len(of) - i; i == maxAnnotations-1 && rest > 1 {
				a.text = append(a.text, screen.Sprintf("GitHub does not show %d more; see the log of this step.", rest-1))
			}
			if _, err := io.WriteString(w, string(a.command())+"\n"); err != nil {
				return err
			}
		}
	}
	_, err := io.WriteString(w, string(v.Summary(false))+"\n")
	return err
}

func hints(s *check.Store) []screen.Safe {
	if hint := formats.Hint(s.Err); hint != "" {
		return []screen.Safe{screen.Visible(hint)}
	}
	return nil
}

func annotate(s *check.Store, b check.RuleFindings, wd string) annotation {
	kind := screen.Visible(b.Rule.Severity.String())
	if b.Rule.Severity == rule.Note {
		kind = "notice"
	}
	first := b.Places[0]
	a := annotation{kind: kind, file: slashPath(s.File(first.At), wd), line: first.At.Line, title: screen.Visible(b.Rule.ID + " " + b.Rule.Title)}
	var said []screen.Safe
	at := first.At
	at.Line = 0
	for _, part := range []string{addrInFile(at), detail(first)} {
		if part != "" {
			said = append(said, screen.Visible(part))
		}
	}
	if len(said) > 0 {
		a.text = append(a.text, screen.Join(said, ": "))
	}
	if rest := b.Count - 1; rest > 0 {
		a.text = append(a.text, screen.Sprintf("+%s more in %s", screen.Grouped(rest), slashPath(s.Path, wd)))
	}
	a.text = append(a.text, screen.Visible(b.Rule.Fix))
	return a
}

// command formats an annotation. It escapes what would end a command or one of
// its properties.
func (a annotation) command() screen.Safe {
	s := "::" + a.kind + " file=" + property(screen.Visible(a.file))
	if a.line > 0 {
		s += screen.Sprintf(",line=%d", a.line)
	}
	return s + ",title=" + property(a.title) + "::" + message(a.text)
}

func message(lines []screen.Safe) screen.Safe {
	out := make([]screen.Safe, len(lines))
	for i, l := range lines {
		out[i] = screen.ReplaceAll(l, "%", "%25")
	}
	return screen.Join(out, "%0A")
}

func property(s screen.Safe) screen.Safe {
	return screen.Replace(s, strings.NewReplacer("%", "%25", ":", "%3A", ",", "%2C"))
}
