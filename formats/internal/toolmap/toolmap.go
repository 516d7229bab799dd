// Package toolmap knows the names of tools and of their arguments, as data.
//
// A tool has two names: the kind that a client gives it (shell, read,
// updateTodos) and what models call it (Shell, Read, TodoWrite); see kinds.txt.
// An argument has one in Cursor's messages, one that Cursor's models use, and
// those of other clients; see arguments.txt.
package toolmap

import (
	"embed"
	"slices"
	"strings"
	"sync"
)

//go:embed *.txt
var tables embed.FS

func text(file string) string {
	b, err := tables.ReadFile(file)
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
	other map[string]bool // names that no model of Cursor's has for a tool
}) {
	t.names, t.kind, t.other = map[string][]string{}, map[string]string{}, map[string]bool{}
	for line := range strings.Lines(text("kinds.txt")) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		t.kinds = append(t.kinds, words[0])
		other := false
		for _, name := range words[1:] {
			if name == "|" {
				other = true
				continue
			}
			if t.kind[fold(name)] = words[0]; other {
				t.other[fold(name)] = true
			} else {
				t.names[words[0]] = append(t.names[words[0]], name)
			}
		}
	}
	return t
})

// fold makes one of the spellings that models use for one name: read_file,
// ReadFile.
func fold(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// Kinds lists the kinds, in the order of their numbers.
func Kinds() []string { return slices.Clone(table().kinds) }

// Names are what models of Cursor's call a kind, the usual one first; none if nobody was
// seen to call it.
func Names(kind string) []string { return slices.Clone(table().names[kind]) }

// Kind is the kind of a tool that a model of any client called by this name, "" if it is
// not known.
func Kind(name string) string { return table().kind[fold(name)] }

// Foreign reports whether a name is known, but only as that of another client's tool.
func Foreign(name string) bool { return table().other[fold(name)] }

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
