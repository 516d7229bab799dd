package secret

import (
	"strings"

	"rehome/formats/store"
)

// Marker stands in JSON where the value of a secret member stood. It has no
// digest in it: a digest of a short secret is the secret.
const Marker = `"rehome:withheld"`

// Rule is one place where clients keep secrets. Tables and columns are found
// ignoring ASCII case, as SQLite does. So are keys and members: who kept a
// secret under another spelling did not want it in git either.
type Rule struct {
	Set       string // table
	KeyColumn string // with KeyPrefix: only rows whose key begins so
	KeyPrefix string
	Column    string   // the cell,
	Whole     bool     // of which all is secret,
	Members   []string // or these members, at any depth of its JSON;
	Hex       bool     // the JSON may be spelled in hexadecimal
}

// Rules lists all places.
func Rules() []Rule {
	// Not every table has been seen with both; a key is a key wherever it lies.
	keys := memberNames()
	var out []Rule
	for _, table := range []string{"ItemTable", "cursorDiskKV"} {
		out = append(out,
			Rule{Set: table, KeyColumn: "key", KeyPrefix: "cursorAuth/", Column: "value", Whole: true},
			Rule{Set: table, KeyColumn: "key", KeyPrefix: "secret://", Column: "value", Whole: true},
			Rule{Set: table, KeyColumn: "key", Column: "value", Members: keys, Hex: true})
	}
	return append(out,
		Rule{Set: "composerHeaders", KeyColumn: "composerId", Column: "value", Members: keys},
		Rule{Set: "meta", KeyColumn: "key", Column: "value", Members: keys, Hex: true},
		Rule{Set: "agents", KeyColumn: "agent_id", Column: "metadata_json", Members: keys})
}

// bound is a rule that applies to a set of a store.
type bound struct {
	Rule
	col int // of Column
	key int // of KeyColumn, -1 where the set has none
}

// bind finds the rules for a set.
func bind(set *store.Set) (out []bound) {
	if set.Kind != store.Table {
		return nil
	}
	for _, r := range Rules() {
		b := bound{Rule: r, col: column(set, r.Column), key: column(set, r.KeyColumn)}
		if !strings.EqualFold(set.Name, r.Set) || b.col < 0 || r.KeyPrefix != "" && b.key < 0 {
			continue
		}
		out = append(out, b)
	}
	return out
}

func column(set *store.Set, name string) int {
	for i, c := range set.Columns {
		if strings.EqualFold(c, name) {
			return i
		}
	}
	return -1
}

// covers reports whether the row with this key is one of the rule's.
func (r *bound) covers(key store.Cell) bool { return hasPrefix(key.Bytes(), r.KeyPrefix) }

// what names the rule for the books.
func (r *bound) what(member string) string {
	if r.Whole {
		return "secret left at home: " + r.Set + " " + r.KeyPrefix + "*"
	}
	return "secret left at home: " + r.Set + " " + member
}
