package page

import (
	"regexp"
	"slices"
	"strings"

	"rehome/cmd/internal/page/code"
	"rehome/cmd/internal/page/markup"
	"rehome/cmd/internal/prose"
	"rehome/cmd/internal/screen"
)

// verb returns what a tool does, if its kind is known.
func verb(kind string) markup.HTML {
	switch kind {
	case "shell", "piBash":
		return "Ran"
	case "read", "piRead":
		return "Read"
	case "edit", "piEdit", "piWrite", "applyAgentDiff":
		return "Edited"
	case "delete":
		return "Deleted"
	case "grep", "glob", "semSearch", "piGrep", "piFind":
		return "Searched"
	case "ls", "piLs":
		return "Listed"
	case "task":
		return "Started a subagent:"
	case "webSearch":
		return "Searched the web:"
	case "fetch", "webFetch":
		return "Fetched"
	case "updateTodos":
		return "Updated the todos"
	case "createPlan":
		return "Made a plan"
	case "askQuestion":
		return "Asked"
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
	line := `<span class="verb">` + verb(s.Name) + `</span>`
	subject := screen.Cut(screen.Visible(s.Subject), maxSubject)
	if subject != "" {
		line += ` <code class="subject" dir="auto">` + markup.Safe(subject) + `</code>`
	}
	class := markup.HTML("")
	if s.Failed {
		class = " failed"
	}
	if s.Outcome != "" {
		line += ` <span class="outcome">` + markup.Safe(screen.Cut(screen.Visible(s.Outcome), maxSubject)) + `</span>`
	}
	if len(s.Extras) > 0 {
		line += ` <span class="counts">` + markup.Safe(screen.Join(s.Extras, " · ")) + `</span>`
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

func (p *writer) args(list []prose.Arg) {
	short := markup.HTML("")
	for _, a := range list {
		if len(a.Lines) == 1 {
			shown, _, more := p.cutLines(a.Lines, maxArg, false)
			if more != "" {
				more = " (" + more + " left out; --full includes everything)"
			}
			short += p.Fill("fact", "name", markup.Text(a.Name), "value", markup.Text(shown[0])+markup.Safe(more))
		}
	}
	if short != "" {
		p.fill("arguments", "list", short)
	}
	for _, a := range list {
		if len(a.Lines) > 1 {
			shown, _, more := p.cutLines(a.Lines, maxArg, false)
			p.fill("argument", "name", markup.Text(a.Name), "text", markup.Text(strings.Join(shown, "\n")))
			p.more(more)
		}
	}
}

// escapes matches the sequences that color the output of a command, or move the cursor.
var escapes = regexp.MustCompile(`\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,1000}(\x07|\x1b\\)|[()][0-9A-B]|[=>78cDEHM])`)

// body writes a result: a diff, code or the output of a command.
func (p *writer) body(s *prose.Step) {
	shown, at, more := p.cutLines(s.Body, maxBrief, s.Name == "shell")
	for i, part := range [][]string{shown[:at], shown[at:]} {
		if i == 1 {
			p.more(more)
		}
		if len(part) == 0 {
			continue
		}
		text := strings.Join(part, "\n")
		switch {
		case s.Diff:
			p.add(diff(part))
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
		s = escapes.ReplaceAllString(s, "")
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
func diff(lines []string) markup.HTML {
	var out markup.Builder
	out.Add(`<pre class="diff">`)
	for _, l := range lines {
		class := markup.HTML("same")
		switch {
		case strings.HasPrefix(l, "+"):
			class = "add"
		case strings.HasPrefix(l, "-"):
			class = "del"
		case strings.HasPrefix(l, "@@"):
			class = "at"
		}
		out.Add(`<span class="`, class, `">`, markup.Text(l), "\n</span>")
	}
	out.Add("</pre>\n")
	return out.HTML()
}
