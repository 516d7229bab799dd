package cli

import (
	"regexp"
	"strings"

	"github.com/alecthomas/kong"
)

// own returns text of this program, such as a hint, with the commands in it under the name of the
// program that runs. It changes rehome and a command only at the start and after a backtick:
// hints can hold paths.
func (p Program) own(text string) string { return p.renamed(text, "^|`") }

// renamed is own for commands after a pattern.
func (p Program) renamed(text, after string) string {
	if p.Name == Rehome().Name || p.Name == "" || !strings.Contains(text, "rehome ") {
		return text
	}
	return regexp.MustCompile(`(`+after+`)rehome (`+p.commandPattern()+`)\b`).ReplaceAllString(text, "${1}"+p.Name+" ${2}")
}

// commandPattern matches the names of rehome's commands. Making it takes longer than using it.
func (p Program) commandPattern() string {
	if p.commands != "" {
		return p.commands
	}
	names := []string{"help"}
	for _, n := range Rehome().plainModel().Children {
		names = append(append(names, n.Name), n.Aliases...)
	}
	return strings.Join(names, "|")
}

// nameModel puts the name of the program into the help of rehome's commands.
func (p Program) nameModel(m *kong.Application) {
	if p.Name == Rehome().Name {
		return
	}
	const word = "(?m)^|[\\s`\"(]"
	for _, n := range m.Children {
		n.Help, n.Detail = p.renamed(n.Help, word), p.renamed(n.Detail, word)
		for _, f := range n.Flags {
			f.Help = p.renamed(f.Help, word)
		}
		for _, arg := range n.Positional {
			arg.Help = p.renamed(arg.Help, word)
		}
	}
}

// cliModel returns the grammar as parsed by kong. Completion and the manual page
// are made from it.
func (p Program) cliModel() *kong.Application {
	m := p.plainModel()
	p.nameModel(m)
	return m
}

// plainModel is cliModel as the grammar says it.
func (p Program) plainModel() *kong.Application {
	k, err := kong.New(&grammar{Plugins: p.plugins()}, words(), kong.Name(p.Name), kong.Description(p.About))
	if err != nil {
		panic(err) // the grammar itself is wrong
	}
	k.Model.HelpFlag.Help = helpFlag
	return k.Model
}
