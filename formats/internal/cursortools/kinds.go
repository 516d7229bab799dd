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
	cases        map[string][]field // the fields of the cases that a result can be of
}

// argument is a field of a message of arguments.
type argument struct {
	*wire.Field
	model string
	must  bool
	names []string
	make  makeArgument // nil: it is as the call has it
}

// field is a field of a case of a result.
type field struct {
	*wire.Field
	main  bool     // it holds what the model was shown
	names []string // in records
	given []string // as an argument of the call, nil if it is none
	make  makeField
}

// kinds are the kinds that have arguments and results.
var kinds = sync.OnceValue(func() map[string]*kind {
	out, records := map[string]*kind{}, map[string][]string{}
	for _, words := range rows("results.txt") {
		records[words[0]] = words[1:]
	}
	for _, f := range wire.Messages().Message("ToolCall").Fields {
		name, ok := strings.CutSuffix(f.Name, "ToolCall")
		if !ok || f.OneOf == "" || name == "truncated" {
			continue
		}
		args, result := f.Message.Named("args"), f.Message.Named("result")
		if args == nil || result == nil {
			continue
		}
		k := &kind{name: name, args: args.Message, result: result.Message}
		for _, f := range k.args.Fields {
			a := argument{Field: f, model: toolmap.Snake(f.Name), names: []string{f.Name, toolmap.Snake(f.Name)}, make: madeArguments()[name+"."+f.Name]}
			for _, known := range toolmap.Arguments(name) {
				if known.Field == f.Name {
					a.model, a.must, a.names = known.Model, known.Must, known.Names
				}
			}
			k.arguments = append(k.arguments, a)
		}
		k.cases = k.fields(records[name])
		out[name] = k
	}
	return out
})

// fields makes the plan for the cases of a kind's results. records are the words of its row
// in results.txt.
func (k *kind) fields(records []string) map[string][]field {
	out := map[string][]field{}
	for _, one := range k.result.Fields {
		if one.OneOf == "" || one.Message == nil {
			continue
		}
		for _, f := range one.Message.Fields {
			in := field{Field: f, names: []string{f.Name}, given: k.given(f.Name), make: madeResults()[k.name+"."+f.Name]}
			for _, word := range records {
				word, main := strings.CutPrefix(word, "~")
				if names := strings.Split(word, "|"); names[0] == f.Name {
					in.main = main
					for _, other := range names[1:] {
						in.names = append(in.names, other, toolmap.Snake(other))
					}
				}
			}
			if snake := toolmap.Snake(f.Name); !slices.Contains(in.names, snake) {
				in.names = append(in.names, snake)
			}
			if f.OneOf == "" || in.main || in.make != nil {
				out[one.Name] = append(out[one.Name], in)
			}
		}
	}
	return out
}

// given returns the names of the argument that a field of a result repeats.
func (k *kind) given(name string) []string {
	if name == "pattern" && k.name == "glob" {
		name = "globPattern"
	}
	for _, a := range k.arguments {
		if a.Name == name && a.Kind == wire.String && !a.Repeated {
			return a.names
		}
	}
	return nil
}
