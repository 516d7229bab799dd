package secret

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"rehome/formats/store"
)

// Marker stands in JSON where the value of a secret member stood. It has no
// digest in it: a digest of a short secret is the secret.
const Marker = `"rehome:withheld"`

// Rule is a column in which clients keep secrets: members of its JSON that have
// one of memberNames, at any depth. Tables and columns are found ignoring ASCII
// case, as SQLite does. So are keys and members: who kept a secret under another
// spelling did not want it in git either.
type Rule struct {
	Set       string // table
	KeyColumn string // what tells its rows apart
	Column    string
	Whole     []string // all of the column is secret in rows whose key begins so
	All       bool     // all of the column is secret
	Hex       bool     // the JSON may be spelled in hexadecimal
	Said      bool     // the column may hold what somebody said: text that is no JSON is left alone
	Addressed bool     // a row's key may end in the SHA-256 of the column, which then stays as it is
	Reaches   []Reach  // how far members that are named like credentials are looked for: the first that fits counts
}

// Reach is how many objects and arrays such a member may lie in, in rows whose
// key begins so.
type Reach struct {
	Prefix string
	Depth  int
}

// anywhere is a reach that is as deep as JSON may be.
const anywhere = 1 << 20

// items are the rows of ItemTable: those that list sessions, of which only the
// heads are the client's own; those that hold what somebody said; and the state
// of the whole machine.
var items = []Reach{
	{"composer.composer", 3}, // {"allComposers":[{…}]}
	{"composer.", 0}, {"aiService.", 0}, {"workbench.panel.", 0}, {"workbench.backgroundComposer.", 0}, {"glass.", 0},
	{"interactive.sessions", 0}, {"inlineDiff", 0}, {"aiCodeTracking", 0}, {"history.", 0},
	{"", anywhere},
}

// whole are keys of rows that are nothing but a secret. Not every table has been
// seen with both; a key is a key wherever it lies.
var whole = []string{"cursorAuth/", "secret://"}

// Rules lists all columns that are known.
func Rules() []Rule {
	all := []Reach{{"", anywhere}}
	out := []Rule{
		{Set: "ItemTable", KeyColumn: "key", Column: "value", Whole: whole, Hex: true, Reaches: items},
		{Set: "cursorDiskKV", KeyColumn: "key", Column: "value", Whole: whole, Hex: true, Addressed: true, Reaches: []Reach{{"composerData:", 1}}},
		{Set: "composerHeaders", KeyColumn: "composerId", Column: "value", Reaches: []Reach{{"", 1}}},
		{Set: "meta", KeyColumn: "key", Column: "value", Hex: true, Reaches: []Reach{{"", 1}}},
		{Set: "blobs", KeyColumn: "id", Column: "data", Said: true, Addressed: true},
		{Set: "run_events", KeyColumn: "run_id", Column: "payload_json"},
	}
	for _, of := range [][3]string{ // of OpenCode
		{"account", "id", "access_token"}, {"account", "id", "refresh_token"}, {"control_account", "email", "access_token"},
		{"control_account", "email", "refresh_token"}, {"credential", "id", "value"}, {"session_share", "session_id", "secret"},
	} {
		out = append(out, Rule{Set: of[0], KeyColumn: of[1], Column: of[2], All: true})
	}
	for _, column := range []string{"metadata_json", "latest_checkpoint_ref_json"} {
		out = append(out, Rule{Set: "agents", KeyColumn: "agent_id", Column: column, Reaches: all})
	}
	for _, column := range []string{"model_params_json", "start_checkpoint_ref_json", "latest_checkpoint_ref_json", "usage_json"} {
		out = append(out, Rule{Set: "runs", KeyColumn: "run_id", Column: column, Reaches: all})
	}
	return out
}

// bound is a rule that applies to a set of a store.
type bound struct {
	Rule
	col int // of Column
	key int // of KeyColumn, -1 where the set has none
}

// spoken are columns in which somebody says something, whatever it looks like.
var spoken = map[string]string{"agents": "name", "runs": "result"}

// bind finds the rules for a set. In a client's store, where a later version may
// keep its keys in other places, every other column is looked into as well,
// but for a set's first, which tells its rows apart, and what is spoken.
func bind(set *store.Set, client bool) (out []bound) {
	if set.Kind != store.Table {
		return nil
	}
	for _, r := range Rules() {
		b := bound{Rule: r, col: store.FindColumn(set.Columns, r.Column), key: store.FindColumn(set.Columns, r.KeyColumn)}
		if strings.EqualFold(set.Name, r.Set) && b.col >= 0 {
			out = append(out, b)
		}
	}
	for col := 1; client && col < len(set.Columns); col++ {
		if strings.EqualFold(set.Columns[col], spoken[strings.ToLower(set.Name)]) {
			continue
		}
		if !slices.ContainsFunc(out, func(b bound) bool { return b.col == col || b.key == col }) {
			out = append(out, bound{Rule: Rule{Set: set.Name, Column: set.Columns[col], Said: true}, col: col, key: 0})
		}
	}
	return out
}

// whole is the beginning of a key that makes its row a secret, "*" if every one does, "" if none.
func (r *bound) whole(key []byte) string {
	if r.All {
		return "*"
	}
	for _, prefix := range r.Whole {
		if hasPrefix(key, prefix) {
			return prefix
		}
	}
	return ""
}

// depth is how far members named like credentials are looked for in a row.
func (r *bound) depth(key []byte) int {
	for _, reach := range r.Reaches {
		if hasPrefix(key, reach.Prefix) {
			return reach.Depth
		}
	}
	return 0
}

// addressed reports a row whose key is made of its content: what is in it cannot
// be taken out without making it another.
func (r *bound) addressed(key []byte, c store.Cell) bool {
	if !r.Addressed {
		return false
	}
	is := func(content []byte) bool {
		sum := sha256.Sum256(content)
		return bytes.Equal(key, sum[:]) || bytes.HasSuffix(bytes.ToLower(key[max(0, len(key)-2*len(sum)):]), []byte(hex.EncodeToString(sum[:])))
	}
	if is(c.Bytes()) {
		return true
	}
	plain, err := hex.DecodeString(string(c.Bytes()))
	return err == nil && is(plain)
}
