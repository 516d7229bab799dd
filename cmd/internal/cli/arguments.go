package cli

import (
	"io"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
)

// Arguments returns the command that args name, and its arguments by their names, such as
// src, as far as args can be parsed.
func (p Program) Arguments(args []string) (command string, arguments map[string][]string) {
	k, err := kong.New(&grammar{Plugins: p.plugins()}, kong.Name(p.Name), kong.KindMapper(reflect.String, kong.MapperFunc(rawString)),
		kong.Writers(io.Discard, io.Discard), kong.Exit(func(int) {}))
	if err != nil {
		panic(err) // the grammar itself is wrong
	}
	at, err := kong.Trace(k, joinPaths(joinTurns(expandArgs(args))))
	if err != nil || at.Selected() == nil {
		return "", nil
	}
	arguments = map[string][]string{}
	for _, step := range at.Path {
		if step.Positional == nil {
			continue
		}
		switch v := at.Value(step); v.Kind() {
		case reflect.String:
			arguments[step.Positional.Name] = []string{v.String()}
		case reflect.Slice:
			arguments[step.Positional.Name], _ = v.Interface().([]string)
		}
	}
	words := strings.Fields(at.Command())
	return words[0], arguments
}
