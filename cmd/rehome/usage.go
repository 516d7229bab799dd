package main

import (
	"errors"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"
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
		row(`expected one of .*`, `COMMAND is missing`),
		row(`expected "<(\w+)>.*"`, `<$1> is missing`),
		row(`(\S+): expected .* value but got "EOL" .*`, `$1: value is missing`),
		row(`(\S+): expected .* value but got .* perhaps try (\S+)\?`, `$1: value is missing; for one that starts with "-", use $2`),
		row(`(\S+): expected a valid \d+ bit int but got (".*")`, `$1: invalid number $2`),
		row(`(\S+) must be one of (.*) but got (".*")`, `$1: invalid value $3 (one of $2)`),
		row(`(.*) can't be used together`, `$1 cannot be used together`),
	}
}

// plainError returns an error with which kong rejected a command line in the
// words of this program. Messages that the table does not have stay as they are.
func plainError(err error) error {
	text := err.Error()
	for _, r := range rewordings() {
		m := r.pattern.FindStringSubmatchIndex(text)
		if m == nil {
			continue
		}
		plain := string(r.pattern.ExpandString(nil, r.message, text, m))
		if from, list, ok := strings.Cut(plain, " (one of "); ok {
			plain = from + " (one of " + strings.ReplaceAll(strings.ReplaceAll(list, `"`, ""), ",", ", ")
		}
		if name, rest, ok := strings.Cut(strings.TrimPrefix(plain, "<"), ">"); ok && plain[0] == '<' {
			plain = strings.ToUpper(name) + rest
		}
		if parse := (*kong.ParseError)(nil); errors.As(err, &parse) && parse.Context.Selected() != nil {
			plain = parse.Context.Selected().Name + ": " + plain
		}
		return errors.New(plain)
	}
	return err
}
