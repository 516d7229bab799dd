package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Kind is a kind of thing that can be unknown.
type Kind string

// The kinds, in the order of a report.
const (
	Table  Kind = "table"  // a table, column, index or setting of a database
	Record Kind = "record" // a type of line, event, row or part
	Field  Kind = "field"  // a member of an object, or a field of protobuf
	Tool   Kind = "tool"   // a tool that the client's model called
)

// Drift is something in stores that this version of rehome does not know.
type Drift struct {
	Kind  Kind   `json:"kind"`
	Name  string `json:"name"`  // as the client names it, if that looks like an identifier
	Where string `json:"where"` // the record that has it, as the canonical form names it; or the table
	Count int64  `json:"count"`
}

// tally counts drift. It keeps the first names in the order of the report, so that
// what is left out does not depend on the order in which stores are read.
type tally map[Drift]int64 // by drift without its count

// maxDrift is how many different things are listed for each format.
const maxDrift = 1000

func (t tally) add(d Drift) {
	n := d.Count
	d.Count = 0
	t[d] += n
	if len(t) > 2*maxDrift {
		t.cut()
	}
}

// cut keeps the first names, and counts the others as one without a name.
func (t tally) cut() {
	list := slices.SortedFunc(maps.Keys(t), compareDrift)
	for _, d := range list[min(len(list), maxDrift+1):] {
		if d != (Drift{}) {
			t[Drift{}] += t[d]
			delete(t, d)
		}
	}
}

// merge adds the counts of another tally.
func (t tally) merge(more tally) {
	for d, n := range more {
		d.Count = n
		t.add(d)
	}
}

// sorted returns the drift, and how often something else was found.
func (t tally) sorted() (list []Drift, more int64) {
	more = t[Drift{}]
	for d, n := range t {
		if d != (Drift{}) {
			d.Count = n
			list = append(list, d)
		}
	}
	slices.SortFunc(list, compareDrift)
	for _, d := range list[min(len(list), maxDrift):] {
		more += d.Count
	}
	return list[:min(len(list), maxDrift)], more
}

func compareDrift(a, b Drift) int {
	kinds := []Kind{"", Table, Record, Field, Tool}
	return cmp.Or(slices.Index(kinds, a.Kind)-slices.Index(kinds, b.Kind), strings.Compare(a.Name, b.Name), strings.Compare(a.Where, b.Where))
}

// hide returns a name without what may be content: each part of it that does not
// look like an identifier is replaced by its length. Slashes separate parts only in
// names that rehome makes; in others, what holds one may be the path of a file.
func hide(name string) string { return hideParts(name, "./") }

func hideParts(name, separators string) string {
	if len(name) > maxName {
		return hidden(name)
	}
	var out strings.Builder
	for name != "" {
		end := strings.IndexAny(name, separators)
		word, sep := name, ""
		if end >= 0 {
			word, sep = name[:end], name[end:end+1]
		}
		name = name[len(word)+len(sep):]
		if !isIdentifier(word) {
			word = hidden(word)
		}
		out.WriteString(word + sep)
	}
	return out.String()
}

func hidden(word string) string { return fmt.Sprintf("<%d characters>", utf8.RuneCountInString(word)) }

const (
	maxName       = 160
	maxIdentifier = 48
	maxDigits     = 4 // ids and hashes have more
	maxWords      = 6
)

// isIdentifier reports whether a word looks like a name in a program: of letters,
// digits and few other characters, with few digits.
func isIdentifier(word string) bool {
	digits, breaks := 0, 0
	for _, r := range word {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r == '_' || r == '-' || r == ':':
			breaks++
		case r == '#' || r == '(' || r == ')' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
		default:
			return false
		}
	}
	return len(word) <= maxIdentifier && (digits <= maxDigits || isNumbered(word)) && breaks < maxWords
}
