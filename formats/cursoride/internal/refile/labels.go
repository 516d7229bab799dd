// Package refile files composers under another workspace, in the global database of a user
// dir: the workspace of a folder that moved.
//
// What says to which workspace a composer belongs is a label. There are up to five of a
// composer: the column workspaceId of its row in composerHeaders, the member
// workspaceIdentifier in the value of that row, in its head in composer.composerHeaders and
// in its record, and its project in the agents' sidebar. A label is replaced where it
// stands; all other bytes of the row stay. A composer that has none of the first four is
// only in the list of its old workspace, as versions before 3.0 wrote it: it gets a row in
// composerHeaders.
//
// One transaction changes all composers. The databases of workspaces are only read.
package refile

import (
	"bytes"
	"encoding/json"
	"strings"

	"rehome/formats/cursoride/internal/lists"
	"rehome/internal/rawjson"
)

// place is a cell that has labels.
type place struct {
	Table  string `json:"table"`
	Column string `json:"column"`
	Key    string `json:"key"`
}

// Names of columns and members.
const (
	keyColumn   = "key"
	idColumn    = "composerId"
	spaceColumn = "workspaceId"
	valueColumn = "value"
	labelMember = "workspaceIdentifier"
)

// sharedPlaces are those of all composers.
var sharedPlaces = [...]place{{lists.ItemTable, valueColumn, lists.HeadersKey}, {lists.ItemTable, valueColumn, lists.MembersKey}}

// ownPlaces returns the places of one composer.
func ownPlaces(id string) []place {
	return []place{{lists.HeadTable, spaceColumn, id}, {lists.HeadTable, valueColumn, id}, {lists.DiskTable, valueColumn, lists.ComposerRow + id}}
}

// keyOf returns the column by which a row of a table is found.
func keyOf(table string) string {
	if table == lists.HeadTable {
		return idColumn
	}
	return keyColumn
}

// change is a label that was replaced, or a row that was added.
type change struct {
	place
	ID     string `json:"id"` // of the composer
	Before []byte `json:"before,omitempty"`
	After  []byte `json:"after"`
	Added  []byte `json:"added,omitempty"` // the value of the row
}

// document returns the JSON value that a cell holds, without what surrounds it; nil if it
// is not valid. It is a view of the cell.
func document(cell []byte) []byte {
	if !json.Valid(cell) {
		return nil
	}
	return bytes.TrimSpace(cell)
}

// each calls f with each label in a cell, in their order, and the composer that it is of.
// It reports whether the cell can be read.
func (p *place) each(cell []byte, f func(id string, label []byte)) bool {
	if p.Column == spaceColumn {
		if len(cell) > 0 {
			f(p.Key, cell)
		}
		return true
	}
	doc := document(cell)
	switch {
	case doc == nil:
		return false
	case p.Key == lists.MembersKey:
		members(doc, 1, f)
	case p.Key == lists.HeadersKey:
		for head := range rawjson.Elements(rawjson.Last(doc, "allComposers")) {
			if label := rawjson.Last(head, labelMember); label != nil {
				f(rawjson.TextAt(head, idColumn), label)
			}
		}
	default:
		if label := rawjson.Last(doc, labelMember); label != nil {
			f(strings.TrimPrefix(p.Key, lists.ComposerRow), label)
		}
	}
	return true
}

// members calls f with the project of each composer in the sidebar.
func members(doc []byte, depth int, f func(id string, label []byte)) {
	for name, value := range rawjson.Members(doc) {
		switch {
		case lists.LooksLikeID(string(name)) && value[0] == '"':
			f(string(name), value)
		case depth > 0:
			members(value, depth-1, f)
		}
	}
}

// relabel returns a cell in which labels are replaced by what want returns, unless that is
// nil; and the changes, none if the cell stays as it is.
func (p *place) relabel(cell []byte, want func(id string, label []byte) []byte) (out []byte, changes []change, ok bool) {
	done := 0
	ok = p.each(cell, func(id string, label []byte) {
		from, to := lists.Offset(cell, label), want(id, label)
		if to == nil || bytes.Equal(to, label) || from < done {
			return
		}
		out = append(append(out, cell[done:from]...), to...)
		done = from + len(label)
		changes = append(changes, change{place: *p, ID: id, Before: bytes.Clone(label), After: to})
	})
	if len(changes) == 0 {
		return cell, nil, ok
	}
	return append(out, cell[done:]...), changes, ok
}

// labeled reports whether a label names the workspace that another one names.
func (p *place) labeled(label, as []byte) bool {
	if bytes.Equal(label, as) {
		return true
	}
	if p.Column == spaceColumn || p.Key == lists.MembersKey {
		return false
	}
	a, _ := lists.Identified(label)
	b, _ := lists.Identified(as)
	return a != "" && a == b
}
