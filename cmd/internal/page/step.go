package page

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"rehome/cmd/internal/page/code"
	"rehome/cmd/internal/page/markup"
	"rehome/cmd/internal/prose"
	"rehome/cmd/internal/screen"
)

// verb returns what a tool does, if the template knows its kind.
func (p *output) verb(kind string) markup.HTML {
	for line := range strings.Lines(p.Template["verbs"]) {
		if name, words, _ := strings.Cut(strings.TrimSpace(line), " "); name == kind {
			return markup.Text(words)
		}
	}
	return markup.Text(kind)
}

// maxSubject is how many cells of a subject are shown.
const maxSubject = 300

// Step writes a call and its result: a line that says what was done, and below it, folded,
// all that was said.
func (p *writer) Step(s *prose.Step) {
	p.begin()
	if p.depth == 0 {
		p.sums.calls++
	}
	line, class, subject := p.Fill("verb", "text", p.verb(s.Name)), markup.HTML(""), screen.Cut(screen.Visible(s.Subject), maxSubject)
	for _, part := range []struct {
		name string
		text screen.Safe
	}{{"subject", subject}, {"outcome", screen.Cut(screen.Visible(s.Outcome), maxSubject)}, {"counts", screen.Join(s.Extras, " · ")}} {
		if part.text != "" {
			line += p.Fill(part.name, "text", markup.Safe(part.text))
		}
	}
	if s.Failed {
		class = " failed"
	}
	if s.Diff && s.Outcome == "" {
		p.change(s.Subject, s.Body)
	}
	args := p.told(s, subject)
	if len(args) == 0 && len(s.Body) == 0 && s.Child == "" {
		p.fill("step-line", "class", class, "line", line)
	} else {
		p.fill("step", "class", class, "line", line)
		p.args(args)
		p.body(s)
		p.fill("step-end")
	}
	for _, m := range s.Media {
		p.Media(m)
	}
	p.subagent(s)
}

// bookkeeping are arguments that clients add to calls, which say nothing to readers.
var bookkeeping = [...]string{"toolCallId", "simpleCommands", "timeout", "timeoutBehavior", "hardTimeout", "hasInputRedirect", "hasOutputRedirect", "parsingResult",
	"fileOutputThresholdBytes", "skipApproval", "isBackground", "requestedSandboxPolicy"}

// told returns the arguments that the line about a call does not tell.
func (p *writer) told(s *prose.Step, subject screen.Safe) (out []prose.Arg) {
	for _, a := range s.Args {
		if p.o.Tools == prose.Brief && slices.Contains(bookkeeping[:], a.Name) {
			continue
		}
		if len(a.Lines) != 1 || subject == "" || !strings.HasSuffix(string(screen.Visible(a.Lines[0])), string(subject)) {
			out = append(out, a)
		}
	}
	return out
}

// args writes arguments: those of one line first.
func (p *writer) args(list []prose.Arg) {
	short, long := markup.HTML(""), markup.HTML("")
	for _, a := range list {
		shown, _, more := p.cutLines(a.Lines, maxArg, false)
		name, text := markup.Text(a.Name), markup.Text(strings.Join(shown, "\n"))
		if len(a.Lines) > 1 {
			long += p.Fill("argument", "name", name, "text", text) + p.more(more)
			continue
		}
		if more != "" {
			more = " (" + more + "; --full includes everything)"
		}
		short += p.Fill("fact", "name", name, "value", text+markup.Safe(more))
	}
	if short != "" {
		p.fill("arguments", "list", short)
	}
	p.add(long)
}

// escapes matches the sequences that color the output of a command, or move the cursor. It is
// large, so a command that writes no page does not compile it.
var escapes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,1000}(\x07|\x1b\\)|[()][0-9A-B]|[=>78cDEHM])`)
})

// body writes a result: a diff, code or the output of a command.
func (p *writer) body(s *prose.Step) {
	shown, at, more := p.cutLines(s.Body, maxBrief, s.Name == "shell")
	for i, part := range [][]string{shown[:at], shown[at:]} {
		if i == 1 {
			p.add(p.more(more))
		}
		if len(part) == 0 {
			continue
		}
		text := strings.Join(part, "\n")
		switch {
		case s.Diff:
			p.add(p.diff(part))
		case s.Name == "read":
			p.fill("output", "text", code.Mark(s.Subject, text))
		default:
			p.fill("output", "text", markup.Text(printed(text)))
		}
	}
}

// printed returns the output of a command as a terminal shows it: without colors, and of
// a line that was written over, what was written last.
func printed(s string) string {
	if strings.Contains(s, "\x1b") {
		s = escapes().ReplaceAllString(s, "")
	}
	if !strings.Contains(s, "\r") {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		l = strings.TrimRight(l, "\r")
		lines[i] = l[strings.LastIndexByte(l, '\r')+1:]
	}
	return strings.Join(lines, "\n")
}

// diff returns the lines of a diff. The signs at their beginning stay, for those who do
// not see the colors.
func (p *output) diff(lines []string) markup.HTML {
	var out markup.Builder
	for _, l := range lines {
		class := cmp.Or(map[string]markup.HTML{"+": "add", "-": "del", "@": "at"}[head(l, 1)], "same")
		out.Add(p.Fill("diff-line", "class", class, "text", markup.Text(l)))
	}
	return p.Fill("diff", "lines", out.HTML())
}
