package doctor

import (
	"cmp"
	"embed"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"rehome/formats"
	"rehome/schemas"
)

//go:embed known.txt
var files embed.FS

// knowledge is what is known of a format.
type knowledge struct {
	tested  []string // versions whose stores were tested, newest first
	version string   // the extra of a session that has the version of its client
	names   map[Kind]map[string]bool
	schema  map[string]bool // properties of the schemas
}

// has reports whether a name is known. A property of a schema is known at any depth.
func (k *knowledge) has(kind Kind, name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if k.names[kind][name] || kind == Field && k.schema[last] {
		return true
	}
	for prefix := range k.names[kind] {
		if prefix, any := strings.CutSuffix(prefix, "*"); any && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// table is known.txt, read once: sections by format, each with lines of a word and
// what it lists. A name that ends with "*" stands for all that begin like it.
var table = sync.OnceValue(func() map[string]*knowledge {
	text, err := files.ReadFile("known.txt")
	if err != nil {
		panic(err) // it is part of the program
	}
	out := map[string]*knowledge{}
	var k *knowledge
	for line := range strings.Lines(string(text)) {
		if name, begins := strings.CutPrefix(strings.TrimSpace(line), "format "); begins {
			k = newKnowledge()
			out[name] = k
		} else {
			k.read(strings.Fields(line), out)
		}
	}
	return out
})

func newKnowledge() *knowledge {
	return &knowledge{names: map[Kind]map[string]bool{Record: {}, Field: {}, Tool: {}}, schema: map[string]bool{}}
}

// read reads a line of a section.
func (k *knowledge) read(words []string, sections map[string]*knowledge) {
	switch {
	case len(words) == 0 || words[0] == "#":
	case words[0] == "tested":
		k.tested = words[1:]
	case words[0] == "version":
		k.version = words[1]
	case words[0] == "like":
		k.include(sections[words[1]])
	case words[0] == "schema":
		for _, name := range words[1:] {
			k.learn(name)
		}
	default:
		for _, name := range words[1:] {
			k.names[Kind(words[0])][name] = true
		}
	}
}

// knowledgeOf returns what is known of a format, nil if nothing is.
func knowledgeOf(f *formats.Format) *knowledge {
	if f.Known == "" {
		return table()[f.Name]
	}
	k := newKnowledge()
	for line := range strings.Lines(f.Known) {
		k.read(strings.Fields(line), table())
	}
	return k
}

// include adds what is known of another format.
func (k *knowledge) include(other *knowledge) {
	k.tested, k.version = other.tested, other.version
	for kind, names := range other.names {
		maps.Copy(k.names[kind], names)
	}
	maps.Copy(k.schema, other.schema)
}

// learn adds the names of all properties that a published schema describes.
func (k *knowledge) learn(schema string) {
	text, err := schemas.Text(schema)
	if err != nil {
		panic(err) // it is part of the program
	}
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		panic(err)
	}
	k.properties(doc)
}

func (k *knowledge) properties(doc any) {
	switch doc := doc.(type) {
	case []any:
		for _, one := range doc {
			k.properties(one)
		}
	case map[string]any:
		for name, one := range doc {
			if list, ok := one.(map[string]any); ok && name == "properties" {
				for property := range list {
					k.schema[property] = true
				}
			}
			k.properties(one)
		}
	}
}

// TestedVersions returns the versions of the client of a format whose stores were
// tested, newest first.
func TestedVersions(f *formats.Format) []string {
	if k := knowledgeOf(f); k != nil {
		return k.tested
	}
	return nil
}

// compareVersions compares versions by their numbers. A part without one is the lowest.
func compareVersions(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(a, b string) int { return cmp.Compare(leadingNumber(a), leadingNumber(b)) })
}

func leadingNumber(part string) int {
	n, err := strconv.Atoi(part[:len(part)-len(strings.TrimLeft(part, "0123456789"))])
	if err != nil {
		return -1
	}
	return n
}
