package members

// Table names the members that a codec asks of one kind of object, where there
// are too many for a list of names to be searched.
type Table struct {
	// Own marks records in which no person and no model speaks: a member that is
	// named like a credential is one.
	Own bool

	names []string
	at    map[string]int
}

// idle marks a member that is usually empty, and then means nothing.
const idle = -2

// NewTable gives each name its index; "" stands for an index without a name.
// Members named in idlers are left out where they are empty, and are Extras
// otherwise.
func NewTable(names []string, idlers ...string) *Table {
	t := &Table{names: names, at: make(map[string]int, len(names)+len(idlers))}
	for _, n := range idlers {
		t.at[n] = idle
	}
	for i, n := range names {
		if n != "" {
			t.at[n] = i
		}
	}
	return t
}

// index finds a name; -1 if it is unknown.
func (t *Table) index(name []byte) int {
	if i, ok := t.at[string(name)]; ok {
		return i
	}
	return -1
}

// Empty reports whether a value is an empty list, object or string, null, false
// or 0.
func Empty(v []byte) bool {
	switch string(v) {
	case "[]", "{}", `""`, "null", "false", "0":
		return true
	}
	return false
}
