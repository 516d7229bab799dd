package loss

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Code identifies a loss. Its first digit is the area. A code never changes its
// meaning.
type Code string

// Definition is the row of a code in the tables.
type Definition struct {
	Code        Code
	Kind        Kind
	Consequence Consequence
	Args        []string  // names of the arguments of a Loss, in order
	One, Many   string    // noun phrases for one and for several, with arguments in braces
	Brief       [2]string // shorter ones, without arguments; only for Unseen and ClientOnly
	Means       string    // what it means for the person or the model that continues
}

//go:embed losses/*.txt
var tables embed.FS

// All returns the definitions in the order of their codes. The list is shared: do
// not change it.
func All() []Definition { return parsed() }

// Definition returns the definition of a code. It panics if there is none, which is a
// mistake in the program.
func (c Code) Definition() *Definition {
	all := parsed()
	i, ok := slices.BinarySearchFunc(all, c, func(l Definition, c Code) int { return strings.Compare(string(l.Code), string(c)) })
	if !ok {
		panic("loss: undefined code " + string(c))
	}
	return &all[i]
}

// Kind returns the kind of the loss.
func (c Code) Kind() Kind { return c.Definition().Kind }

// Secret reports whether the loss is a withheld secret.
func (c Code) Secret() bool { return c[1] == '4' }

// Stale reports whether the loss is a sidecar item that no longer applies.
func (c Code) Stale() bool { return c[1] == '9' }

// Areas returns the titles of the areas, by the first digit of their codes.
func Areas() []string {
	return []string{1: "Conversation", 2: "Tool calls", 3: "Records and files", 4: "Secrets", 5: "Claude Code", 6: "Cursor IDE", 7: "Cursor SDK", 8: "Saved agent state", 9: "Sidecar"}
}

// phrase returns the phrase for n losses, with arguments filled in.
func (l *Definition) phrase(n int64, args map[string]string) string {
	text := l.One
	if n != 1 {
		text = l.Many
	}
	if len(args) == 0 {
		return text
	}
	var pairs []string
	for _, name := range l.Args {
		pairs = append(pairs, "{"+name+"}", args[name])
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// shared returns the names of the arguments that all losses of a group share: those
// in the phrase for several.
func (l *Definition) shared() (out []string) {
	for _, name := range l.Args {
		if strings.Contains(l.Many, "{"+name+"}") {
			out = append(out, name)
		}
	}
	return out
}

// parsed parses the tables once. They are part of the program, so it panics on a
// mistake.
var parsed = sync.OnceValue(func() []Definition {
	var all []Definition
	files, err := tables.ReadDir("losses")
	if err != nil {
		panic(err)
	}
	for _, f := range files {
		text, err := tables.ReadFile("losses/" + f.Name())
		if err != nil {
			panic(err)
		}
		list, err := parse(string(text))
		if err != nil {
			panic(fmt.Sprintf("loss: losses/%s: %v", f.Name(), err))
		}
		all = append(all, list...)
	}
	slices.SortFunc(all, func(a, b Definition) int { return strings.Compare(string(a.Code), string(b.Code)) })
	return all
})

// parse parses blocks separated by blank lines:
//
//	L702 dropped none column
//	one: column that the SDK does not create: {column}
//	many: columns that the SDK does not create: {column}
//	brief: unknown column / unknown columns
//	means: The SDK does not read it ...
//
// The first line has the code, kind, consequence and arguments. A loss has brief: if
// its consequence is one that a summary mentions. A line that starts with a space
// continues the one before; # starts a comment.
func parse(text string) ([]Definition, error) {
	var out []Definition
	for block := range strings.SplitSeq(strings.ReplaceAll(text, "\n ", " "), "\n\n") {
		lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(block), "\n"), func(s string) bool { return s == "" || s[0] == '#' })
		if len(lines) == 0 {
			continue
		}
		head := strings.Fields(lines[0])
		if len(head) < 3 || len(head[0]) != 4 || head[0][0] != 'L' || head[0][1] < '1' || head[0][1] > '9' {
			return nil, fmt.Errorf("%q: want code, kind, consequence and arguments", lines[0])
		}
		l := Definition{Code: Code(head[0]), Consequence: Consequence(head[2]), Args: head[3:]}
		if err := l.Kind.UnmarshalText([]byte(head[1])); err != nil {
			return nil, fmt.Errorf("%s: %w", l.Code, err)
		}
		var brief string
		fields := []struct {
			lead string
			to   *string
		}{{"one: ", &l.One}, {"many: ", &l.Many}, {"brief: ", &brief}, {"means: ", &l.Means}}
		if !slices.Contains(Consequences(), l.Consequence) {
			return nil, fmt.Errorf("%s: unknown consequence %q; use one of %q", l.Code, l.Consequence, Consequences())
		}
		if !l.Consequence.matters() {
			fields = slices.Delete(fields, 2, 3)
		}
		for i, f := range fields {
			ok := len(lines) == len(fields)+1
			if ok {
				*f.to, ok = strings.CutPrefix(lines[i+1], f.lead)
			}
			if !ok {
				return nil, fmt.Errorf("%s: want one:, many:, brief: if it is %s or %s, and means:, in this order", l.Code, Unseen, ClientOnly)
			}
		}
		l.Brief[0], l.Brief[1], _ = strings.Cut(brief, " / ")
		out = append(out, l)
	}
	return out, nil
}
