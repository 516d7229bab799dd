package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
)

// zshScript completes in zsh: a file _rehome on the fpath, or sourced.
func zshScript(m *kong.Application) string {
	var b strings.Builder
	b.WriteString(`#compdef rehome
# zsh completion for rehome, made by: rehome completion zsh
_rehome_session() {
    local -a ids
    ids=(${(f)"$(rehome __complete -- "$PREFIX" 2>/dev/null)"})
    _alternative 'files:file:_files' "sessions:session:compadd -a ids"
}
_rehome() {
    local context state state_descr line
    typeset -A opt_args
    local -a commands
    commands=(
`)
	for _, n := range commands(m) {
		b.WriteString("        " + single(n.Name+":"+zshText(firstSentence(n.Help))) + "\n")
	}
	b.WriteString("    )\n    _arguments -C \\\n")
	for _, f := range m.Flags {
		b.WriteString("        " + zshFlag(f) + " \\\n")
	}
	b.WriteString(`        '1:command:->command' '*::argument:->argument'
    case $state in
        command) _describe command commands ;;
        argument)
            case $words[1] in
`)
	for _, n := range commands(m) {
		b.WriteString("                " + n.Name + ") _arguments")
		for _, f := range flagsOf(m, n) {
			b.WriteString(" \\\n                    " + zshFlag(f))
		}
		for i, p := range n.Positional {
			where := strconv.Itoa(i + 1)
			if p.IsCumulative() {
				where = "*"
			}
			b.WriteString(" \\\n                    " + single(where+":"+p.Name+":"+zshGuess(guessWord(n.Name, p))))
		}
		b.WriteString(" ;;\n")
	}
	b.WriteString(`            esac ;;
    esac
}
if [[ $funcstack[1] == _rehome ]]; then
    _rehome "$@"
else
    compdef _rehome rehome
fi
`)
	return b.String()
}

func zshFlag(f *kong.Flag) string {
	help := "[" + zshText(firstSentence(f.Help)) + "]"
	if f.IsBool() && f.Short != 0 {
		return single("--"+f.Name+help) + " " + single("-"+string(f.Short)+help)
	}
	if f.IsBool() {
		return single("--" + f.Name + help)
	}
	return single("--" + f.Name + "=" + help + ":" + strings.ToLower(f.PlaceHolder) + ":" + zshGuess(guessFlag(f)))
}

func zshGuess(g guess) string {
	switch {
	case g.kind == sessionWord:
		return "_rehome_session"
	case len(g.words) > 0:
		return "(" + strings.Join(g.words, " ") + ")"
	case g.kind == dirWord:
		return "_files -/"
	case g.kind == fileWord:
		return "_files"
	}
	return " "
}

// zshText is prose inside of one of zsh's descriptions.
func zshText(s string) string {
	return strings.NewReplacer(`\`, `\\`, ":", `\:`, "[", `\[`, "]", `\]`).Replace(s)
}

// single is a word in the quotes of a POSIX shell.
func single(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// fishScript completes in fish.
func fishScript(m *kong.Application) string {
	quote := func(s string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
	}
	var b strings.Builder
	b.WriteString("# fish completion for rehome, made by: rehome completion fish\ncomplete -c rehome -f\n")
	flag := func(when string, f *kong.Flag) {
		b.WriteString("complete -c rehome -n " + quote(when) + " -l " + f.Name)
		if f.Short != 0 {
			b.WriteString(" -s " + string(f.Short))
		}
		if g := guessFlag(f); !f.IsBool() {
			b.WriteString(fishGuess(g, quote, " -x", " -r"))
		}
		b.WriteString(" -d " + quote(firstSentence(f.Help)) + "\n")
	}
	for _, f := range m.Flags {
		flag("true", f)
	}
	for _, n := range commands(m) {
		b.WriteString("complete -c rehome -n __fish_use_subcommand -a " + n.Name + " -d " + quote(firstSentence(n.Help)) + "\n")
	}
	for _, n := range commands(m) {
		when := "__fish_seen_subcommand_from " + n.Name
		for _, f := range n.Flags {
			if !f.Hidden {
				flag(when, f)
			}
		}
		if len(n.Positional) > 0 {
			b.WriteString("complete -c rehome -n " + quote(when) + fishGuess(guessWord(n.Name, n.Positional[0]), quote, "", " -F") + "\n")
		}
	}
	return b.String()
}

// fishGuess spells what can stand in a place: plain is for a place where only
// the words named can, files for one where a file can.
func fishGuess(g guess, quote func(string) string, plain, files string) string {
	switch {
	case g.kind == sessionWord:
		return files + " -a " + quote("(rehome __complete -- (commandline -ct) 2>/dev/null)")
	case g.kind == dirWord:
		return plain + " -a " + quote("(__fish_complete_directories (commandline -ct))")
	case g.kind == fileWord && len(g.words) > 0:
		return files + " -a " + quote(strings.Join(g.words, " "))
	case g.kind == fileWord:
		return files
	case len(g.words) > 0:
		return plain + " -a " + quote(strings.Join(g.words, " "))
	}
	return plain
}

// powershellScript completes in PowerShell, on any system.
func powershellScript(m *kong.Application) string {
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	table := func(g guess) string {
		var parts []string
		for _, w := range g.words {
			parts = append(parts, quote(w))
		}
		if g.kind == sessionWord {
			parts = append(parts, quote("@session"))
		}
		return "@(" + strings.Join(parts, ", ") + ")"
	}
	var b strings.Builder
	b.WriteString("# PowerShell completion for rehome, made by: rehome completion powershell\n")
	b.WriteString("Register-ArgumentCompleter -Native -CommandName rehome -ScriptBlock {\n    param($word, $ast, $cursor)\n    $commands = [ordered]@{\n")
	for _, n := range commands(m) {
		fmt.Fprintf(&b, "        %s = %s\n", quote(n.Name), quote(firstSentence(n.Help)))
	}
	b.WriteString("    }\n    $flags = @{\n")
	line := func(name string, flags []*kong.Flag) {
		var parts []string
		for _, w := range flagWords(flags) {
			parts = append(parts, quote(w))
		}
		fmt.Fprintf(&b, "        %s = @(%s)\n", quote(name), strings.Join(parts, ", "))
	}
	line("", m.Flags)
	for _, n := range commands(m) {
		line(n.Name, flagsOf(m, n))
	}
	b.WriteString("    }\n    $values = @{\n")
	for _, f := range m.Flags {
		if !f.IsBool() {
			fmt.Fprintf(&b, "        %s = %s\n", quote(" --"+f.Name), table(guessFlag(f)))
		}
	}
	for _, n := range commands(m) {
		for _, f := range flagsOf(m, n) {
			if !f.IsBool() {
				fmt.Fprintf(&b, "        %s = %s\n", quote(n.Name+" --"+f.Name), table(guessFlag(f)))
			}
		}
		if len(n.Positional) > 0 {
			fmt.Fprintf(&b, "        %s = %s\n", quote(n.Name+" "), table(guessWord(n.Name, n.Positional[0])))
		}
	}
	b.WriteString(`    }
    $typed = @($ast.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object { $_.ToString() })
    $command = $typed | Select-Object -Skip 1 | Where-Object { $commands.Contains($_) } | Select-Object -First 1
    $last = if ($typed.Count -gt 1) { $typed[-1] } else { '' }
    $found = if ($word -like '-*') { $flags["$command"] }
        elseif ($values.ContainsKey("$command $last")) { $values["$command $last"] }
        elseif (-not $command) { $commands.Keys }
        else { $values["$command "] }
    if ($found -contains '@session') { $found = @(rehome __complete -- "$word" 2>$null) }
    $found | Where-Object { $_ -like "$word*" } | ForEach-Object {
        $about = if ($commands.Contains($_)) { $commands[$_] } else { $_ }
        [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $about)
    }
}
`)
	return b.String()
}
