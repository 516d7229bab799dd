// Package toolmap knows tools by their two names: the kind that a client gives
// a tool (shell, read, updateTodos) and what models call it (Shell, Read,
// TodoWrite). Both are data, in kinds.txt.
package toolmap

import (
	"embed"
	"slices"
	"strings"
	"sync"
)

//go:embed kinds.txt
var tables embed.FS

func kindsText() string {
	b, err := tables.ReadFile("kinds.txt")
	if err != nil {
		panic(err) // it is part of the program
	}
	return string(b)
}

// table is kinds.txt, read once.
var table = sync.OnceValue(func() (t struct {
	kinds []string
	names map[string][]string
	kind  map[string]string
}) {
	t.names, t.kind = map[string][]string{}, map[string]string{}
	for line := range strings.Lines(kindsText()) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		t.kinds = append(t.kinds, words[0])
		t.names[words[0]] = words[1:]
		for _, name := range words[1:] {
			t.kind[fold(name)] = words[0]
		}
	}
	return t
})

// fold makes one of the spellings that models use for one name: read_file,
// ReadFile.
func fold(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// Kinds lists the kinds, in the order of their numbers.
func Kinds() []string { return slices.Clone(table().kinds) }

// Names are what models call a kind, the usual one first; none if nobody was
// seen to call it.
func Names(kind string) []string { return slices.Clone(table().names[kind]) }

// Kind is the kind of a tool that a model called by this name, "" if it is not
// known.
func Kind(name string) string { return table().kind[fold(name)] }

// Outcome reads the word that says how a call ended: "success" for each known
// spelling of it, else the word itself. A word that nobody has described is no
// failure.
func Outcome(word string) (status string, failed bool) {
	switch word {
	case "ok", "completed", "done":
		return "success", false
	}
	return word, Failed(word)
}

// Failed reports whether a result's case says that the tool did not do what it
// was asked to.
func Failed(status string) bool {
	switch status {
	case "error", "failure", "failed", "cancelled", "aborted", "rejected", "timeout", "spawnError", "permissionDenied", "fileNotFound", "notFile",
		"fileBusy", "readPermissionDenied", "writePermissionDenied", "notFound":
		return true
	}
	return false
}
