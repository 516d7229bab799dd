package cursortools

import (
	"embed"
	"slices"
	"strings"
	"sync"

	"rehome/formats/internal/toolmap"
	"rehome/formats/internal/wire"
)

//go:embed *.txt
var tables embed.FS

// rows yields the words of each line of a table.
func rows(file string) (out [][]string) {
	b, err := tables.ReadFile(file)
	if err != nil {
		panic(err) // it is part of the program
	}
	for line := range strings.Lines(string(b)) {
		if words := strings.Fields(line); len(words) > 0 && words[0] != "#" {
			out = append(out, words)
		}
	}
	return out
}

// kind is a kind of tool with its messages.
type kind struct {
	name         string
	args, result *wire.Message
	arguments    []argument
	main         string              // the field of a success that holds what the model is shown
	names        map[string][]string // of fields of results
}

// argument is a field of a message of arguments.
type argument struct {
	*wire.Field
	model string
	must  bool
	names []string
}

// kinds are the kinds that have arguments and results.
var kinds = sync.OnceValue(func() map[string]*kind {
	out := map[string]*kind{}
	for _, f := range wire.Messages().Message("ToolCall").Fields {
		name, ok := strings.CutSuffix(f.Name, "ToolCall")
		if !ok || f.OneOf == "" || name == "truncated" {
			continue
		}
		args, result := f.Message.Named("args"), f.Message.Named("result")
		if args == nil || result == nil {
			continue
		}
		k := &kind{name: name, args: args.Message, result: result.Message, names: map[string][]string{}}
		for _, f := range k.args.Fields {
			a := argument{Field: f, model: toolmap.Snake(f.Name), names: []string{f.Name, toolmap.Snake(f.Name)}}
			for _, known := range toolmap.Arguments(name) {
				if known.Field == f.Name {
					a.model, a.must, a.names = known.Model, known.Must, known.Names
				}
			}
			k.arguments = append(k.arguments, a)
		}
		out[name] = k
	}
	for _, words := range rows("results.txt") {
		k := out[words[0]]
		for _, word := range words[1:] {
			word, main := strings.CutPrefix(word, "~")
			names := strings.Split(word, "|")
			if main {
				k.main = names[0]
			}
			k.names[names[0]] = names[1:]
		}
	}
	return out
})

// named returns the names that a field of a result has in records.
func (k *kind) named(f *wire.Field) []string {
	names := []string{f.Name}
	for _, other := range k.names[f.Name] {
		names = append(names, other, toolmap.Snake(other))
	}
	if snake := toolmap.Snake(f.Name); !slices.Contains(names, snake) {
		names = append(names, snake)
	}
	return names
}
