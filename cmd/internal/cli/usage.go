package cli

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"rehome/cmd/internal/console"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/internal/closest"
	"rehome/internal/shell"
)

// rewording is one row of the table of rewordings: what kong's message for an
// invalid command line looks like, and the message that replaces it.
type rewording struct {
	pattern *regexp.Regexp
	message string // $1, $2 ... are the groups of pattern
}

func rewordings() []rewording {
	row := func(pattern, message string) rewording {
		return rewording{regexp.MustCompile("(?s)^" + pattern + "$"), message}
	}
	return []rewording{
		row(`unexpected argument (.*?)(, did you mean .*)?`, `unexpected argument $1`),
		row(`unknown flag (-[^=,]*).*`, `unknown flag $1`),
		row(`expected "<(\w+)>.*"`, `<$1> is missing`),
		row(`(\S+): expected .* value but got "EOL" .*`, `$1: value is missing`),
		row(`(\S+): expected .* value but got .* perhaps try (\S+)\?`, `$1: value is missing; for one that starts with "-", use $2`),
		row(`(\S+): expected a valid \d+ bit int but got (".*")`, `$1: invalid number $2`),
		row(`(\S+) must be one of (.*) but got (".*")`, `$1: invalid value $3 (one of $2)`),
		row(`(.*) can't be used together`, `$1 cannot be used together`),
	}
}

// plainError returns an error with which kong rejected a command line in the
// words of this program, with what was probably meant as the hint. Messages that
// the table does not have stay as they are.
func plainError(err *kong.ParseError) error {
	text, command := err.Error(), ""
	hint := "run `rehome help` to list the commands"
	if n := err.Context.Selected(); n != nil {
		command = n.Name
		text = strings.Replace(text, n.Name+" ("+strings.Join(n.Aliases, ",")+"): ", n.Name+": ", 1)
		hint = "run `" + shell.Command("rehome", "help", command) + "` for its arguments and flags"
	}
	for _, r := range rewordings() {
		m := r.pattern.FindStringSubmatchIndex(text)
		if m == nil {
			continue
		}
		plain := string(r.pattern.ExpandString(nil, r.message, text, m))
		if _, rest, ok := strings.Cut(plain, `invalid value "`); ok {
			name, _, _ := strings.Cut(rest, `"`)
			if why := whyReadOnly(all.Registry(), name); why != "" {
				hint = why + ": choose another client"
			}
		}
		if from, list, ok := strings.Cut(plain, " (one of "); ok {
			list = strings.TrimPrefix(strings.ReplaceAll(list, `"`, ""), ",") // it can be left out
			plain = from + " (one of " + strings.ReplaceAll(list, ",", ", ")
		}
		if name, rest, ok := strings.Cut(strings.TrimPrefix(plain, "<"), ">"); ok && plain[0] == '<' {
			plain = strings.ToUpper(name) + rest
		}
		word := ""
		if m[2] >= 0 {
			word = text[m[2]:m[3]]
		}
		switch {
		case strings.HasPrefix(plain, "unknown flag"):
			hint = closest.Hint(word, knownFlags(err.Context), cmp.Or(flagWith(err.Context, strings.TrimLeft(word, "-")), hint))
		case strings.HasPrefix(plain, "unexpected argument") && command == "":
			return console.Usage(&formats.Error{Err: fmt.Errorf("unknown command %q", word), Hint: closestCommand(err.Context.Model, word, hint)})
		}
		if command != "" {
			plain = command + ": " + plain
		}
		return console.Usage(&formats.Error{Err: errors.New(plain), Hint: hint})
	}
	if h := formats.Hint(err); h != "" {
		hint = h
	}
	return console.Usage(&formats.Error{Err: errors.New(text), Hint: hint})
}

// knownFlags returns the flags of the command that was given, as they are typed.
func knownFlags(ctx *kong.Context) (out []string) {
	for _, f := range ctx.Flags() {
		if !f.Hidden {
			out = append(out, "--"+f.Name)
		}
	}
	return out
}

// flagWith returns the hint for a flag that is the value of another one: --html for --format html.
func flagWith(ctx *kong.Context, value string) string {
	for _, f := range ctx.Flags() {
		if !f.Hidden && f.Enum != "" && f.EnumMap()[value] {
			return "did you mean --" + f.Name + " " + value + "?"
		}
	}
	return ""
}

// closestCommand returns the hint for an unknown command.
func closestCommand(m *kong.Application, word, otherwise string) string {
	names := []string{"help"}
	for _, n := range commands(m) {
		names = append(append(names, n.Name), n.Aliases...)
	}
	// What other programs call them.
	for name, others := range map[string][]string{
		"convert": {"export", "archive", "dump", "save"}, "migrate": {"import", "move", "mv", "copy"}, "search": {"find", "grep"},
		"continue": {"open", "start", "run"}, "watch": {"sync", "daemon"}, "check": {"verify", "validate", "lint", "test"},
		"doctor": {"status", "info"},
	} {
		if slices.Contains(others, strings.ToLower(word)) && slices.Contains(names, name) {
			return "did you mean " + name + "?"
		}
	}
	return closest.Hint(word, names, otherwise)
}
