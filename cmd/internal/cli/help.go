package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
)

// Model returns the grammar of the program as parsed by kong. Completion and the manual page
// are made from it.
type Model func() *kong.Application

const helpFlag = "Show help"

// maxExamples is how many commands the examples of --help have. --help-all
// has the rest, the rare flags, and every paragraph about the command.
const maxExamples = 3

// helpAllFlag is --help-all.
type helpAllFlag bool

// BeforeReset prints the complete help instead of running the command.
func (helpAllFlag) BeforeReset(ctx *kong.Context, print helpPrinter) error {
	defer ctx.Kong.Exit(0)
	return print(ctx, true)
}

// helpPrinter prints help about the selected command, or about the program.
type helpPrinter func(ctx *kong.Context, all bool) error

// newHelpPrinter returns the function that prints help, through a pager if it is
// longer than the screen.
func newHelpPrinter(ctx context.Context, out *console.Output) helpPrinter {
	return func(at *kong.Context, all bool) error {
		width, _, ok := out.TerminalSize()
		if !ok {
			width = screen.PageWidth
		}
		_, w, done := out.Paged(ctx, true)
		h := helpPage{screen.NewPage(w, out.Palette), min(width, screen.PageWidth), all}
		if n := at.Selected(); n != nil {
			h.command(at.Model, n)
		} else {
			h.program(at.Model)
		}
		return done(h.Err())
	}
}

// helpPage prints help, wrapped to a width.
type helpPage struct {
	*screen.Page
	width int
	all   bool
}

// program prints the help of the program: the commands by what people want, and
// with --help-all those that belong to no group.
func (h helpPage) program(m *kong.Application) {
	h.text("", m.Help)
	h.Line("")
	h.Line("Usage: " + screen.Visible(m.Name) + " COMMAND [flags]")
	var names, rest []string
	left := 0
	groups := map[string][][2]string{}
	for _, n := range commands(m) {
		key := groupOf(n.Group)
		if key == "" {
			rest = append(rest, n.Name)
		}
		if !slices.Contains(names, key) {
			names = append(names, key)
		}
		left = max(left, len(n.Name))
		groups[key] = append(groups[key], [2]string{n.Name, n.Help})
	}
	for _, key := range names {
		if key != "" {
			h.table(key, groups[key], left)
		} else if h.all {
			h.table("Other commands:", groups[key], left)
		}
	}
	h.flags(m.Flags)
	h.Line("")
	more := "."
	if !h.all && len(rest) > 0 {
		more = "; `" + m.Name + " help all` lists the other commands: " + strings.Join(rest, ", ") + "."
	}
	h.text("", "`"+m.Name+" help COMMAND` describes a command"+more)
	h.exitCodes("")
}

// command prints the help of a command.
func (h helpPage) command(m *kong.Application, n *kong.Node) {
	h.text("", n.Help)
	h.Line("")
	usage := "Usage: " + m.Name + " " + n.Name
	var args [][2]string
	for _, p := range n.Positional {
		usage += " " + argument(p)
		args = append(args, [2]string{strings.Trim(argument(p), "[]"), p.Help})
	}
	h.text("", usage+" [flags]")
	prose, examples, _ := strings.Cut("\n\n"+strings.Trim(n.Detail, "\n"), "\n\nExamples:\n\n")
	paragraphs := strings.Split(strings.TrimSpace(prose), "\n\n")
	shown := examples
	flags := slices.DeleteFunc(slices.Clone(n.Flags), func(f *kong.Flag) bool { return f.Hidden })
	var more []string
	if total := len(flags); !h.all {
		paragraphs, shown = paragraphs[:1], firstExamples(examples)
		flags = slices.DeleteFunc(flags, isRare)
		if total > len(flags) {
			more = append(more, string(screen.Plural(int64(total-len(flags)), "more flag")))
		}
		if shown != examples {
			more = append(more, "more examples")
		}
	}
	for _, p := range paragraphs {
		if p != "" {
			h.Line("")
			h.text("", strings.ReplaceAll(p, "\n", " "))
		}
	}
	h.table("Arguments:", args, 0)
	h.flags(flags)
	h.examples(shown)
	h.Line("")
	if more != nil {
		h.text("  ", "More: "+m.Name+" "+n.Name+" --help-all ("+strings.Join(more, ", ")+")")
	}
	globals := "Global flags:"
	for _, f := range m.Flags {
		globals += " --" + f.Name
	}
	h.text("  ", globals)
	h.exitCodes(n.Name)
}

// isRare reports whether --help leaves a flag out: it is tagged rare, or advanced.
func isRare(f *kong.Flag) bool { return f.Tag.Has("rare") || groupOf(f.Group) == "Advanced:" }

func groupOf(g *kong.Group) string {
	if g == nil {
		return ""
	}
	return g.Key
}

// argument returns a positional argument as usage lines have it: SRC, [DST] or [PATH...].
func argument(p *kong.Positional) string {
	name := strings.ToUpper(p.Name)
	if p.IsCumulative() && !strings.Contains(name, "...") {
		name += "..."
	}
	if !p.Required {
		name = "[" + name + "]"
	}
	return name
}

// flags prints flags: in one list, or by group if all are wanted.
func (h helpPage) flags(flags []*kong.Flag) {
	var titles []string
	groups := map[string][][2]string{}
	short := slices.ContainsFunc(flags, func(f *kong.Flag) bool { return f.Short != 0 })
	for _, f := range flags {
		name, title := "--"+f.Name, "Flags:"
		switch {
		case f.Short != 0:
			name = "-" + string(f.Short) + ", " + name
		case short:
			name = "    " + name
		}
		if !f.IsBool() {
			name += "=" + f.FormatPlaceHolder()
		}
		if key := groupOf(f.Group); h.all && key != "" {
			title = key
		}
		if !slices.Contains(titles, title) {
			titles = append(titles, title)
		}
		groups[title] = append(groups[title], [2]string{name, f.Help})
	}
	for _, title := range titles {
		h.table(title, groups[title], 0)
	}
}

// table prints a heading and rows of a name and its description.
// The names take at least left columns.
func (h helpPage) table(title string, rows [][2]string, left int) {
	if len(rows) == 0 {
		return
	}
	h.Line("")
	h.Line(h.Strong(screen.Visible(title)))
	for _, row := range rows {
		left = max(left, len(row[0]))
	}
	for _, row := range rows {
		lead := screen.Sprintf("  %-*s  ", left, row[0])
		for _, line := range screen.WrapWords(screen.Visible(row[1]), h.width-left-4) {
			h.Line(lead + line)
			lead = screen.Repeat(" ", left+4)
		}
	}
}

// Text prints a paragraph. indent is for all lines but the first.
func (h helpPage) text(indent screen.Safe, s string) {
	lead := screen.Safe("")
	for _, line := range screen.WrapWords(screen.Visible(s), h.width-len(indent)) {
		h.Line(lead + line)
		lead = indent
	}
}

func (h helpPage) examples(text string) {
	if text == "" {
		return
	}
	h.Line("")
	h.Line(h.Strong("Examples:"))
	for line := range strings.Lines(text) {
		h.Line(screen.Visible(strings.TrimPrefix(strings.TrimRight(line, "\n"), "  ")))
	}
}

// firstExamples returns the first examples: whole blocks with at most maxExamples
// commands in all, or that many lines of the first block.
func firstExamples(text string) string {
	var out []string
	n := 0
	for _, block := range strings.Split(text, "\n\n") {
		lines := strings.Split(block, "\n")
		commands := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "#") })
		if n += len(commands); n <= maxExamples {
			out = append(out, block)
			continue
		}
		if len(out) == 0 {
			out = append(out, strings.Join(lines[:maxExamples], "\n"))
		}
		break
	}
	return strings.Join(out, "\n\n")
}

// exitCodes prints the codes that a command can exit with.
func (h helpPage) exitCodes(command string) {
	var codes []string
	for _, o := range console.ExitStatuses() {
		if exitsWith(command, o.Code) {
			codes = append(codes, fmt.Sprint(o.Code, " ", o.Meaning))
		}
	}
	h.text("  ", "Exit codes: "+strings.Join(codes, ", "))
}

// exitsWith reports whether a command can exit with a code. The empty command
// stands for all commands.
func exitsWith(command string, code int) bool {
	only := map[int][]string{
		3: {"convert", "watch"},
		4: {"check", "doctor", "diff", "git", "repair"},
		5: {"convert", "redact", "merge", "migrate", "mv", "continue", "watch", "show", "diff", "check", "doctor", "repair"},
		130: {"convert", "redact", "merge", "migrate", "mv", "continue", "watch", "ls", "search", "show", "diff", "check", "doctor", "repair",
			"detect", "demo"},
	}[code]
	return command == "" || only == nil || slices.Contains(only, command)
}
