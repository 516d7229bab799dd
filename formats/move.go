package formats

import (
	"context"
	"iter"
	"slices"
	"strings"
)

// Mover is the ability to copy what a client keeps of the sessions of a folder to where it
// looks for those of another folder, to which the project moved. What people and models
// said stays as it is, byte for byte: only what the client finds sessions by is changed.
type Mover struct {
	// Find yields the pieces of the sessions of the folder that moved, and of folders in
	// it, from where the client keeps its stores.
	Find func(ctx context.Context, m Machine, mv *Moved) iter.Seq2[Piece, error]

	// File copies a file of a piece, unless all of its bytes are to be copied, or leaves it
	// out. It reports whether it did.
	File func(ctx context.Context, from, to string, mv *Moved) (done bool, err error)

	// Members are the members of lines, and of what a reader makes of them, whose value can be
	// the folder: all others of a copy are compared with the original.
	Members []string

	// InUse returns an ErrBusy if the client has a file open; nil: it cannot be known.
	InUse func(path string) error

	// Refiler does the same for a client that has one store for all folders. Find and File
	// are nil then.
	Refiler *Refiler
}

// Refiler is the ability to file sessions under another folder in the store that has them,
// in place. Nothing else of the store changes.
type Refiler struct {
	// Find yields the sessions of the folder that moved, and of folders in it, but not their
	// subagents. It writes nothing.
	Find func(ctx context.Context, m Machine, mv *Moved) iter.Seq2[*Refiled, error]

	// Refile files sessions of one store under their new folders, with their subagents: all
	// of them at once, after the log is on disk, or none. A store that its client has open
	// is ErrBusy.
	Refile func(ctx context.Context, list []*Refiled, log UndoLog) error

	// Undo files them as they were, each by itself, as far as they are still filed as Refile
	// left them. What was said since stays. If dryRun is true, it only reports.
	Undo func(ctx context.Context, u UndoRecord, dryRun bool) ([]Undone, error)
}

// Refiled is a session that is to be filed under another folder.
type Refiled struct {
	Store    string // path
	ID       string
	Title    string
	Cwd      string // its new folder, as the client spells it
	From, To string // the paths of what the client keeps of the two folders
	Bytes    int64  // size of the records that change, with what surrounds the change
	Plan     any    // the format's own
	Left     string // why it stays; "" if it does not. From and Hint are set then, too
	Hint     string
	Err      error // the client has the store open
}

// Piece is a file or folder that a client keeps of a session.
type Piece struct {
	ID       string // of the session; "" if it belongs to none
	From, To string // paths
	Cwd      string // the folder of the session, as it will be
	Root     string // a folder above To, on the same disk, in which To may be staged
	Folder   bool   // it is a folder, which is moved as a whole
	Of       string // To of the session's own file, if that is another piece
	Prompts  bool   // the session's own file, which a reader can decode
	Agents   bool   // a store of many sessions, which Into can add to the one at To
	InPlace  bool   // From is To: the file moved with its project, and only says where it was
	Left     string // why it is not moved; "" if it is
	Hint     string // what to do about that
}

// Family returns the path of the session's own file.
func (p *Piece) Family() string {
	if p.Of != "" {
		return p.Of
	}
	return p.To
}

// Moved is a folder that was moved.
type Moved struct {
	Old    []string // the paths that it had, without a separator at the end
	New    string
	Inside []string // folders in it, relative to it, as far as they are known
}

// Named returns the path that the folder, or one in it, has now, whose old path has a name
// that clients derive from paths; "" if none does.
func (m *Moved) Named(has func(old string) bool) string {
	for _, old := range m.Old {
		if has(old) || has(old+"/") {
			return m.New
		}
		for _, rel := range m.Inside {
			if to, in := m.Path(old + "/" + rel); in && has(old+"/"+rel) {
				return to
			}
		}
	}
	return ""
}

// Path returns the path that something has now, and whether it was in the folder.
func (m *Moved) Path(p string) (string, bool) {
	for _, old := range m.Old {
		rest, ok := below(p, old)
		if !ok {
			continue
		}
		if _, in := below(m.New, old); in {
			if _, there := below(p, m.New); there {
				return p, false // OLD is above NEW: it was moved already
			}
		}
		return m.New + strings.TrimRight(rest, `/\`), true
	}
	return p, false
}

// below reports whether a path is dir or in it, and returns what follows dir. One that
// leads up again is not.
func below(p, dir string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(p, dir)
	up := slices.Contains(strings.FieldsFunc(rest, func(r rune) bool { return r == '/' || r == '\\' }), "..")
	return rest, ok && !up && (rest == "" || rest[0] == '/' || rest[0] == '\\')
}
