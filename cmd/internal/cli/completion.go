package cli

import (
	"bytes"
	"embed"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/formats/all"
	"rehome/formats/clients"
	"rehome/formats/loss"
	"rehome/formats/rule"
	"rehome/schemas"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish,powershell" help:"Shell to generate the script for: bash, zsh, fish or powershell"`
}

func (completionCmd) Help() string {
	return `The script completes commands, flags and their values, and the sessions on this machine, with their titles.

Examples:

    rehome completion bash > ~/.local/share/bash-completion/completions/rehome
    rehome completion zsh > ~/.zfunc/_rehome
    rehome completion fish > ~/.config/fish/completions/rehome.fish
    rehome completion powershell > rehome.ps1`
}

// completions holds the scripts. Each only asks `rehome __complete`, so it does
// not have to be generated again for another version.
//
//go:embed completions
var completions embed.FS

// Run prints the script of a shell.
func (c *completionCmd) Run(a *console.App) error {
	name := "completions/rehome." + c.Shell
	if c.Shell == "powershell" {
		name = "completions/rehome.ps1"
	}
	script, err := completions.ReadFile(name)
	if err != nil {
		return err
	}
	_, err = a.Out.Stdout.Write(bytes.ReplaceAll(script, []byte("rehome"), []byte(a.Out.Name)))
	return err
}

// completeCmd is what the scripts run. It prints what the last word could be: a
// line for each candidate, with a description after a tab, and ":files" or
// ":dirs" if the shell should add paths.
type completeCmd struct {
	Words []string `arg:"" optional:"" help:"Words after rehome, up to the cursor"`
}

func (c *completeCmd) Run(a *console.App, model Model) error {
	m := model()
	words, word := splitTyped(c.Words)
	t, lead := parseTyped(m, words), ""
	found := completion{}
	flag, value, assigned := strings.Cut(word, "=")
	switch {
	case t.flag != nil:
		found = valueCompletion(t.flag.Value)
	case t.onlyArgs || !strings.HasPrefix(word, "-"):
		found = t.argument(m)
	case !assigned:
		for _, f := range flagsOf(m, t.command) {
			found.add("--"+f.Name, f.Help)
		}
	default:
		if f := t.findFlag(m, flag); f != nil && !f.IsBool() {
			found, lead, word = valueCompletion(f.Value), flag+"=", value
		}
	}
	if found.sessions {
		addSessions(a, &found)
	}
	return found.print(a.Out.Stdout, lead, word)
}

// splitTyped splits the word under the cursor from those before it. bash makes a
// word of an equals sign, and PowerShell cannot pass an empty word.
func splitTyped(words []string) (before []string, last string) {
	for i, w := range words {
		switch {
		case w == "=" && i == len(words)-1, w == `""`:
			before = append(before, "")
		case w != "=":
			before = append(before, w)
		}
	}
	if len(before) == 0 {
		return nil, ""
	}
	return before[:len(before)-1], before[len(before)-1]
}

// typed is what has been typed before the cursor.
type typed struct {
	command  *kong.Node // nil until there is one
	flag     *kong.Flag // whose value comes next, or nil
	args     int        // number of arguments of the command
	onlyArgs bool       // after "--"
	help     bool       // after "help"
}

func parseTyped(m *kong.Application, words []string) (t typed) {
	for _, w := range words {
		switch f := t.findFlag(m, w); {
		case t.flag != nil:
			t.flag = nil
		case t.onlyArgs:
			t.args++
		case w == "--":
			t.onlyArgs = true
		case f != nil && !f.IsBool():
			t.flag = f
		case strings.HasPrefix(w, "-") && w != "-":
		case t.command != nil:
			t.args++
		case w == "help":
			t.help = true
		default:
			if i := slices.IndexFunc(m.Children, func(n *kong.Node) bool { return n.Name == w || slices.Contains(n.Aliases, w) }); i >= 0 {
				t.command = m.Children[i]
			}
		}
	}
	return t
}

// findFlag returns the flag of the command, or of the program, that is written so.
func (t *typed) findFlag(m *kong.Application, word string) *kong.Flag {
	for _, f := range flagsOf(m, t.command) {
		if word == "--"+f.Name || f.Short != 0 && word == "-"+string(f.Short) {
			return f
		}
	}
	return nil
}

// argument returns the completion of the next word, which is not a flag.
func (t *typed) argument(m *kong.Application) (c completion) {
	if t.command == nil {
		for _, n := range commands(m) {
			c.add(n.Name, n.Help)
		}
		if t.help {
			c.add("all", "List all commands")
		} else {
			c.add("help", "Describe a command")
		}
		return c
	}
	args := t.command.Positional
	if len(args) == 0 || t.help || t.args >= len(args) && !args[len(args)-1].IsCumulative() {
		return c
	}
	return valueCompletion(args[min(t.args, len(args)-1)])
}

// completion says what can be typed at one place of the command line.
type completion struct {
	words    [][2]string // each with its description
	sessions bool        // sessions, too
	paths    string      // paths that the shell should add: files, dirs or none ("")
}

func (c *completion) add(word, about string) { c.words = append(c.words, [2]string{word, about}) }

func (c *completion) addAll(words ...string) {
	for _, w := range words {
		c.add(w, "")
	}
}

// valueCompletion returns the completion for the value of a flag or an argument.
func valueCompletion(v *kong.Value) (c completion) {
	key := v.Name
	if v.Flag != nil {
		key = v.Flag.PlaceHolder
	}
	switch key {
	case "FORMAT":
		for _, f := range all.Registry().All() {
			c.add(f.Name, f.Title)
		}
	case "RULE":
		for _, r := range rule.All() {
			c.add(r.ID, r.Title)
		}
	case "NAME":
		c.addAll(slices.Concat(all.Registry().Clients(), clients.Names())...)
	case "CLIENT":
		c.addAll(all.Registry().Clients()...)
	case "KIND":
		for _, k := range loss.Kinds() {
			c.add(k.String(), "")
		}
	case "LAYER":
		c.addAll(rule.LayerNames()...)
	case "WHEN":
		c.addAll("today", "yesterday", "3d", "2w")
	case "WHERE":
		c.addAll("beside", "none")
		c.paths = "files"
	case "name": // of a schema
		c.addAll(schemas.Names()...)
	case "word": // to search for
	case "ID":
		c.sessions = true
	case "src", "session":
		c.sessions, c.paths = true, "files"
	case "DIR":
		c.paths = "dirs"
	default:
		if v.Flag == nil || key == "FILE" || key == "PATH" {
			c.paths = "files"
		}
	}
	if v.Enum != "" {
		c = completion{}
		c.addAll(v.EnumSlice()...)
	}
	return c
}

// addSessions adds the sessions on this machine, newest first. A shell evaluates
// what it completes, so ids with other than plain characters are left out.
func addSessions(a *console.App, c *completion) {
	l, err := listAll(a, false)
	if err != nil {
		return
	}
	for i := range l.Sessions {
		if id := l.ShortID(l.Sessions[i].ID); isPlainWord(id) {
			c.add(id, l.Sessions[i].Title)
		}
	}
}

const (
	maxWords = 300 // candidates that a shell is given at once
	maxAbout = 70  // width of a description
)

// print prints the candidates that begin with prefix, each once, after lead.
func (c *completion) print(w io.Writer, lead, prefix string) error {
	p := screen.NewPage(w, false)
	seen := map[string]bool{}
	for _, word := range c.words {
		if !strings.HasPrefix(word[0], prefix) || seen[word[0]] || len(seen) == maxWords {
			continue
		}
		seen[word[0]] = true
		line := screen.Visible(lead + word[0])
		if about := strings.TrimSpace(firstSentence(word[1])); about != "" {
			line += "\t" + screen.Cut(screen.Visible(about), maxAbout)
		}
		p.Line(line)
	}
	if c.paths != "" {
		p.Line(":" + screen.Visible(c.paths))
	}
	return p.Err()
}

// commands returns the commands that are not hidden.
func commands(m *kong.Application) (out []*kong.Node) {
	for _, n := range m.Children {
		if !n.Hidden {
			out = append(out, n)
		}
	}
	return out
}

// flagsOf returns the visible flags of a command, which can be nil, and of the
// program.
func flagsOf(m *kong.Application, n *kong.Node) []*kong.Flag {
	flags := slices.Clone(m.Flags)
	if n != nil {
		flags = append(flags, n.Flags...)
	}
	return slices.DeleteFunc(flags, func(f *kong.Flag) bool { return f.Hidden })
}

// firstSentence returns the part of a help text that fits next to a flag in a list.
func firstSentence(s string) string {
	if i := strings.Index(s, ". "); i >= 0 {
		s = s[:i]
	}
	return strings.TrimSuffix(s, ".")
}

func isPlainWord(s string) bool {
	return s != "" && s[0] != '-' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == ""
}
