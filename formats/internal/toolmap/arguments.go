package toolmap

import (
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Argument is an argument of a kind of tool, with all the names that it has.
type Argument struct {
	Field string   // in Cursor's message of arguments
	Model string   // what Cursor's models call it
	Must  bool     // there is no call without it
	Names []string // these two and those of other tools and clients, the model's first
}

// arguments is arguments.txt, by kinds, read once.
var arguments = sync.OnceValue(func() map[string][]Argument {
	out := map[string][]Argument{}
	for line := range strings.Lines(text("arguments.txt")) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		for _, word := range words[1:] {
			out[words[0]] = append(out[words[0]], argument(word))
		}
	}
	return out
})

// argument reads one argument of the table.
func argument(word string) (a Argument) {
	names := strings.Split(word, "|")
	field, model, named := strings.Cut(names[0], "=")
	a.Field, a.Must = strings.CutPrefix(field, "!")
	if !named {
		model = Snake(a.Field)
	}
	a.Model, a.Names = model, []string{model}
	for _, name := range append([]string{a.Field, Snake(a.Field)}, names[1:]...) {
		if !slices.Contains(a.Names, name) {
			a.Names = append(a.Names, name)
		}
	}
	return a
}

// Snake returns a name in lowerCamelCase in snake case.
func Snake(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// Arguments returns the arguments of a kind that have other names elsewhere. The list is
// shared: do not change it.
func Arguments(kind string) []Argument { return arguments()[kind] }

// ArgumentNames returns all names of the argument that any tool calls name.
func ArgumentNames(kind, name string) []string {
	for _, a := range Arguments(kind) {
		if slices.Contains(a.Names, name) {
			return a.Names
		}
	}
	return []string{name}
}

// clientArguments is client.txt, read once.
var clientArguments = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(text("client.txt")) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for _, name := range strings.Fields(line) {
			out[name] = true
		}
	}
	return out
})

// ClientArgument reports whether an argument that a tool ran with is one that the client
// added: no model gave it.
func ClientArgument(name string) bool { return clientArguments()[name] }
