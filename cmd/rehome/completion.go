package main

import (
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"rehome/formats/all"
	"rehome/formats/loss"
	"rehome/formats/rule"
	"rehome/schemas"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish,powershell" help:"Shell to generate the script for: bash, zsh, fish or powershell"`
}

func (completionCmd) Help() string {
	return `The script completes commands, flags, formats and the sessions on this machine.

Examples:

    rehome completion bash > ~/.local/share/bash-completion/completions/rehome
    rehome completion zsh > ~/.zfunc/_rehome
    rehome completion fish > ~/.config/fish/completions/rehome.fish
    rehome completion powershell > rehome.ps1`
}

type completeCmd struct {
	Prefix string `arg:"" optional:"" help:"Text typed so far"`
}

// cliModel returns the grammar as parsed by kong. The completion scripts and
// the manual page are generated from it.
func cliModel() *kong.Application {
	k, err := kong.New(&grammar{}, kong.Name("rehome"), kong.Description(about))
	if err != nil {
		panic(err) // the grammar itself is wrong
	}
	k.Model.HelpFlag.Help = helpFlag
	return k.Model
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

// The kinds of things to complete.
const (
	anyWord     = ""
	fileKind    = "file"
	dirKind     = "dir"
	sessionKind = "session" // or a file
)

// completion says what can be completed at one position of the command line:
// one of several words, or a kind of thing that the shell or rehome can list.
type completion struct {
	words []string
	kind  string
}

// flagCompletion returns the completion for the value of a flag.
func flagCompletion(f *kong.Flag) completion {
	if f.Enum != "" {
		return completion{words: f.EnumSlice()}
	}
	switch f.PlaceHolder {
	case "FORMAT":
		return completion{words: formatNames()}
	case "DIR":
		return completion{kind: dirKind}
	case "KIND":
		var kinds []string
		for _, k := range loss.Kinds() {
			kinds = append(kinds, k.String())
		}
		return completion{words: kinds}
	case "LAYER":
		return completion{words: rule.LayerNames()}
	case "RULE":
		var ids []string
		for _, r := range rule.All() {
			ids = append(ids, r.ID)
		}
		return completion{words: ids}
	case "FILE":
		return completion{kind: fileKind}
	case "WHERE":
		return completion{words: []string{"beside", "none"}, kind: fileKind}
	}
	return completion{}
}

// argCompletion returns the completion for a positional argument.
func argCompletion(command string, v *kong.Value) completion {
	switch {
	case v.Enum != "":
		return completion{words: v.EnumSlice()}
	case command == "schema":
		return completion{words: schemas.Names()}
	case v.Name == "src":
		return completion{kind: sessionKind}
	}
	return completion{kind: fileKind}
}

func formatNames() (out []string) {
	for _, f := range all.Registry().All() {
		out = append(out, f.Name)
	}
	return out
}

// flagsOf returns the visible flags of a command, including the global ones.
func flagsOf(m *kong.Application, n *kong.Node) []*kong.Flag {
	return slices.DeleteFunc(slices.Concat(m.Flags, n.Flags), func(f *kong.Flag) bool { return f.Hidden })
}

// firstSentence returns the part of a help text that fits next to a flag in a list.
func firstSentence(s string) string {
	if i := strings.Index(s, ". "); i >= 0 {
		s = s[:i]
	}
	return strings.TrimSuffix(s, ".")
}

// Run prints the script of a shell.
func (c *completionCmd) Run(a *app) error {
	script := map[string]func(*kong.Application) string{
		"bash": bashScript, "zsh": zshScript, "fish": fishScript, "powershell": powershellScript,
	}[c.Shell]
	_, err := io.WriteString(a.out.stdout, script(cliModel()))
	return err
}

// Run prints the ids of the sessions that begin with the prefix, one per line. Since
// a shell evaluates the output, ids with other than plain characters are left out.
func (c *completeCmd) Run(a *app) error {
	l, err := a.listAll(false)
	if err != nil {
		return nil // no completions
	}
	for i := range l.Sessions {
		id := l.ShortID(l.Sessions[i].ID)
		if strings.HasPrefix(id, c.Prefix) && isPlainWord(id) {
			if _, err := io.WriteString(a.out.stdout, id+"\n"); err != nil {
				return err
			}
		}
	}
	return nil
}

func isPlainWord(s string) bool {
	return s != "" && s[0] != '-' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == ""
}
