package main

import (
	"strings"

	"github.com/alecthomas/kong"
)

// bashScript completes in bash, without the package bash-completion.
func bashScript(m *kong.Application) string {
	var names []string
	for _, n := range commands(m) {
		names = append(names, n.Name)
	}
	var b strings.Builder
	b.WriteString(`# bash completion for rehome, made by: rehome completion bash
_rehome() {
    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" cmd="" i
    COMPREPLY=()
    # bash takes --flag=value apart at the sign.
    if [[ $cur == "=" ]]; then
        cur=""
    elif [[ $prev == "=" ]]; then
        prev="${COMP_WORDS[COMP_CWORD-2]}"
    fi
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "${COMP_WORDS[i]}" in
` + "            " + strings.Join(names, "|") + `) cmd="${COMP_WORDS[i]}"; break ;;
        esac
    done
    case "$cmd $prev" in
`)
	for _, n := range commands(m) {
		for _, f := range n.Flags {
			if !f.IsBool() && !f.Hidden {
				b.WriteString(`        "` + n.Name + ` --` + f.Name + `") ` + bashReply(guessFlag(f)) + "; return ;;\n")
			}
		}
	}
	for _, f := range m.Flags {
		if !f.IsBool() {
			b.WriteString(`        *" --` + f.Name + `") ` + bashReply(guessFlag(f)) + "; return ;;\n")
		}
	}
	b.WriteString(`    esac
    if [[ $cur == -* ]]; then
        case "$cmd" in
`)
	line := func(name string, flags []*kong.Flag) {
		b.WriteString("            " + name + `) COMPREPLY=($(compgen -W "` + strings.Join(flagWords(flags), " ") + `" -- "$cur")) ;;` + "\n")
	}
	line(`""`, m.Flags)
	for _, n := range commands(m) {
		line(n.Name, flagsOf(m, n))
	}
	b.WriteString(`        esac
        return
    fi
    case "$cmd" in
        "") COMPREPLY=($(compgen -W "` + strings.Join(names, " ") + `" -- "$cur")) ;;
`)
	for _, n := range commands(m) {
		if len(n.Positional) > 0 {
			b.WriteString("        " + n.Name + ") " + bashReply(guessWord(n.Name, n.Positional[0])) + " ;;\n")
		}
	}
	b.WriteString(`    esac
}
complete -o filenames -F _rehome rehome
`)
	return b.String()
}

// flagWords are flags as they are typed.
func flagWords(flags []*kong.Flag) (out []string) {
	for _, f := range flags {
		out = append(out, "--"+f.Name)
		if f.Short != 0 {
			out = append(out, "-"+string(f.Short))
		}
	}
	return out
}

func bashReply(g guess) string {
	var from []string
	if len(g.words) > 0 {
		from = append(from, `compgen -W "`+strings.Join(g.words, " ")+`" -- "$cur"`)
	}
	switch g.kind {
	case fileWord:
		from = append(from, `compgen -f -- "$cur"`)
	case dirWord:
		from = append(from, `compgen -d -- "$cur"`)
	case sessionWord:
		from = append(from, `compgen -f -- "$cur"`, `compgen -W "$(rehome __complete -- "$cur" 2>/dev/null)" -- "$cur"`)
	}
	if from == nil {
		return ":"
	}
	return `local IFS=$'\n'; COMPREPLY=($(IFS=$' \t\n'; ` + strings.Join(from, "; ") + `))`
}
