package formats

import "context"

// Into is the ability to add sessions, or turns, to a store that its client keeps using,
// and to take them out again.
//
// Only the sessions that are added, or added to, change. They become visible to the client all at
// once, when everything they refer to is on disk, and after an UndoLog has what it
// takes to undo the change. Two processes that add to the same store exclude each
// other, and a store that its client is writing to is ErrBusy.
type Into struct {
	// Add adds the sessions of a store to another one. It does nothing unless what was
	// there allows it: nothing, or, with Addition.Update, an Older state. nil: the client
	// has a store for each session, which is created as a file.
	Add func(ctx context.Context, a Addition) (Added, error)

	// Extend adds the turns of a draft to the session that a store has with its id, see
	// Continuation. It refuses a session that has changed since the draft was begun.
	Extend func(ctx context.Context, a Addition) error

	// Undo undoes what Add or Extend did to a store, each session by itself, as far as it is
	// still as Add left it. If dryRun is true, it only reports.
	Undo func(ctx context.Context, u UndoRecord, dryRun bool) ([]Undone, error)

	// Has reports whether a store has a session with this id. A missing store has none.
	// nil: see Add.
	Has func(ctx context.Context, store, id string) (bool, error)
}

// Addition says what to add where.
type Addition struct {
	From   string // a store that nobody uses, on the same disk: its files are moved
	To     string // the client's store, or where the client would create it
	Update bool   // replace an Older state of a session
	Root   string // for Extend: the root of the state that the draft continues; "" if there was none
	DryRun bool   // change nothing
	Exact  bool   // the sessions are the client's own: do not mark them as written here
	Log    UndoLog
}

// Added is what Add found and did.
type Added struct {
	Was  Standing // of the session for which Add did nothing, otherwise of the first one
	Left []string // columns with values that the store lacks: an older client created it
}

// Standing is what a store has of a session before it is added.
type Standing string

// The states of a session in a store.
const (
	Absent    Standing = "absent"
	Same      Standing = "same"      // the very session
	Older     Standing = "older"     // another state of it, as Add wrote it
	Continued Standing = "continued" // a state of it that the client continued
	Foreign   Standing = "foreign"   // a session that rehome did not write
)

// UndoLog receives what it takes to undo a change.
type UndoLog interface {
	// Dir returns a folder for files that are kept with the record.
	Dir() (string, error)
	// Save writes the record to disk. Nothing may change before it returns.
	Save(changes []byte) error
}

// UndoRecord is a record that an UndoLog saved.
type UndoRecord struct {
	Store   string // Addition.To
	Dir     string // UndoLog.Dir
	Changes []byte
}

// Undone is what became of a session, or of a file, when a change was undone.
type Undone struct {
	Key  string // the id of a session, or the path of a file
	Kept string // why it was left as it is; "" if it was restored
}
