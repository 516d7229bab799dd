package cli

import (
	"io"
	"iter"
	"maps"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
)

// Arguments returns the command that args name, and its arguments by their names, such as
// src, as far as args can be parsed.
func (p Program) Arguments(args []string) (command string, arguments map[string][]string) {
	k, err := kong.New(&grammar{Plugins: p.plugins()}, words(), kong.Name(p.Name), kong.KindMapper(reflect.String, kong.MapperFunc(rawString)),
		kong.Writers(io.Discard, io.Discard), kong.Exit(func(int) {}))
	if err != nil {
		panic(err) // the grammar itself is wrong
	}
	at, err := kong.Trace(k, joinPaths(joinTurns(expandArgs(args))))
	if err != nil || at.Selected() == nil {
		return "", nil
	}
	words := strings.Fields(at.Command())
	return words[0], maps.Collect(positionals(at))
}

// positionals yields the arguments of a command by their names.
func positionals(at *kong.Context) iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		for _, step := range at.Path {
			if step.Positional == nil {
				continue
			}
			var words []string
			switch v := at.Value(step); v.Kind() {
			case reflect.String:
				words = []string{v.String()}
			case reflect.Slice:
				words, _ = v.Interface().([]string)
			}
			if !yield(step.Positional.Name, words) {
				return
			}
		}
	}
}
