// Package documents splits the files of a flat cursor-ndjson store into documents, which
// servers keep as rows, and the rest, and joins both to the same bytes again.
//
// A line is a document if a row can hold it: a JSON object in valid UTF-8 with ids that no
// earlier line has. Its text is kept as it is, including whitespace. A line of
// checkpoints.ndjson is kept as its ids and its bytes; if JSON.stringify would spell them in
// another way, the line itself is kept, too. All other lines, such as blank or torn ones,
// duplicates and what follows a byte order mark, are kept as raw bytes with their place.
//
// # After clients changed documents
//
// Lines are joined in the order of ord. Raw lines keep their place between the documents that
// remain. A torn last line is left out once documents were appended, as the SDK's next write
// does. The spelling of a checkpoint is used only for the bytes that it spells, and a missing
// line feed at the end only for the document that was last.
package documents

import (
	"fmt"
	"io"
)

// Set is one of the four files of a store.
type Set int

// The sets, in the order in which they are written.
const (
	Agents Set = iota
	Runs
	Events
	Checkpoints
	Sets
)

// Table returns the name of a set's table, and of its file without .ndjson.
func (s Set) Table() string {
	return [...]string{"agents", "runs", "run_events", "checkpoints"}[s]
}

// File returns the name of a set's file.
func (s Set) File() string { return s.Table() + ".ndjson" }

// Kind is what an item is. Items with the same Ord are joined in the order of their kinds.
type Kind byte

const (
	Spelled Kind = iota // the line of the row with this Ord, as it was
	Document
	Raw  // lines that are no documents
	Bare // the row with this Ord is the last line, without a line feed
	Tail // what follows the last line feed
)

// Item is a document, or a part of what is none.
type Item struct {
	Kind Kind
	Ord  int64 // the number of its first line, from 1
	Part int   // of the bytes of one Ord and Kind, from 0
	Row  Row   // of a Document
	Raw  []byte
}

// Row is a document with the values that its table has in columns; nil is null.
type Row struct {
	Agent, Run, Blob  []byte
	Cwd, Status, Idem []byte
	Seq               int64
	Number            float64 // updatedAt of an agent, turnNumber of a run
	HasNumber         bool
	Doc               []byte // the text, for all sets but Checkpoints
	Data              []byte // the bytes, for Checkpoints
}

const (
	maxLine = 128 << 20 // longer lines are raw
	maxPart = 1 << 20   // of raw bytes
	maxID   = 1000      // two of them fit into a row of a PostgreSQL index
)

// LineName returns the name under which a server keeps an item that is no document. Names
// sort as the items of a set do.
func LineName(set Set, it *Item) string {
	return fmt.Sprintf("line/%s/%016d/%d/%08d", set.Table(), it.Ord, it.Kind, it.Part)
}

// Emit takes an item, which is valid until it returns.
type Emit func(*Item) error

// Split calls emit for the items of a file of a set, and returns the number of its lines.
func Split(set Set, r io.Reader, emit Emit) (lines int64, err error) {
	s := splitter{set: set, emit: emit, longest: maxLine, seen: map[[16]byte]struct{}{}, runs: map[string]*span{}}
	err = s.file(r)
	return s.ord, err
}
