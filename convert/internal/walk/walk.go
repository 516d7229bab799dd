// Package walk finds the stores below a file or folder.
//
// It is the only walk: convert, check, the lists of sessions and detect differ in
// what they do with what it finds. [Items] yields everything, [Stores] only what
// can be read.
package walk

import (
	"context"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"

	"rehome/convert/internal/stage"
	"rehome/formats"
)

// Found is a store that a walk found.
type Found struct {
	Rel      string // slash path below the start of the walk; "." is the start itself
	Loc      *formats.Location
	Detected []formats.Detected // best first, never empty
	Stray    bool               // it is in the folder of another store, but not of that store
}

// Item is what a walk found at a path: a store if Why is Store.
type Item struct {
	Found        // Loc is nil for links; Detected of a file that is no store is a mere guess
	Why   Reason // that it is skipped
	Of    string // of a backup: name of the store
	Err   error  // of an unreadable path
}

// Reason is why a walk skips a path.
type Reason uint8

const (
	Store       Reason = iota // not skipped
	Unclaimed                 // a file that no format recognizes
	SessionLike               // such a file whose first line looks like a session
	Misnamed                  // such a file with the name of a store
	FolderLink                // a link to a folder
	DeadLink                  // a dangling or circular link
	SpecialFile               // a pipe, socket or device
	Unreadable                // it cannot be read
	Backup                    // a store's backup by --replace
	ClientCopy                // a copy that a client made for itself
)

// Items yields the stores at and below start, and what is not entered or read, in the
// order of the names. In the folder of a store it enters only what is not of that store,
// see formats.Format.Strays. It does not enter .git, node_modules, links to folders,
// rehome's own backups and paths for which skip, if not nil, returns true; it enters other
// hidden folders. skip is called once for each path. A mere guess (formats.Guess) counts
// only at the start. It ends early if the context does.
func Items(ctx context.Context, reg *formats.Registry, start *formats.Location, skip func(rel string, isFolder bool) bool) iter.Seq[Item] {
	return func(yield func(Item) bool) {
		w := &walker{ctx: ctx, reg: reg, skip: skip, yield: yield}
		if skip != nil && skip(".", start.IsDir()) {
			return
		}
		for at := filepath.Dir(ResolvedPath(start.Path)); at != filepath.Dir(at); at = filepath.Dir(at) {
			if err := stage.CheckSettled(at); err != nil { // the start is in the target of the update
				w.fail(Item{Found: Found{Rel: ".", Loc: start}, Err: err})
				return
			}
		}
		w.visit(start, ".")
	}
}

type walker struct {
	stray bool // the walk is in the folder of a store
	ctx   context.Context
	reg   *formats.Registry
	skip  func(rel string, isFolder bool) bool
	yield func(Item) bool
}

// visit reports whether to go on.
func (w *walker) visit(l *formats.Location, rel string) bool {
	it := Item{Found: Found{Rel: rel, Loc: l, Stray: w.stray}}
	switch {
	case w.ctx.Err() != nil:
		return false
	case !l.IsDir() && !l.IsRegular():
		it.Why = SpecialFile
		return w.yield(it) // a pipe or device: opening it could block forever
	}
	at := l.Path
	if rel == "." {
		at = ResolvedPath(at)
	}
	if it.Err = stage.CheckSettled(at); it.Err != nil {
		return w.fail(it)
	}
	if it.Detected, it.Err = w.reg.Detect(w.ctx, l); it.Err != nil {
		return w.fail(it)
	}
	switch {
	case len(it.Detected) > 0 && (rel == "." || it.Detected[0].Score > formats.Guess):
		beside := strays(it.Found) // before another goroutine uses the location
		return w.yield(it) && w.strays(l, rel, beside)
	case l.IsDir():
		return w.descend(l, rel)
	}
	if it.Why = classify(w.reg, l); w.stray && it.Why == Unclaimed {
		return true // clients keep many files next to their sessions
	}
	return w.yield(it)
}

// strays returns what is in the folder of a store, but not of the store.
func strays(f Found) []string {
	if of := f.Detected[0].Format; of.Strays != nil && f.Loc.IsDir() {
		return of.Strays(f.Loc)
	}
	return nil
}

// strays looks for other stores in the folder of a store.
func (w *walker) strays(folder *formats.Location, rel string, names []string) bool {
	was := w.stray
	defer func() { w.stray = was }()
	w.stray = true
	for _, name := range names {
		at := path.Join(rel, name)
		loc, err := formats.Locate(filepath.Join(folder.Path, filepath.FromSlash(name)))
		if err != nil || !loc.IsDir() && !loc.IsRegular() || w.skip != nil && w.skip(at, loc.IsDir()) {
			continue
		}
		if !w.visit(loc, at) {
			return false
		}
	}
	return true
}

func (w *walker) descend(l *formats.Location, rel string) bool {
	list, err := os.ReadDir(l.Path)
	if err != nil {
		return w.fail(Item{Found: Found{Rel: rel, Loc: l}, Err: &formats.Error{At: l.Path, Err: formats.Cause(err)}})
	}
	for _, e := range list {
		at := path.Join(rel, e.Name())
		if !isOthers(e) && (w.skip == nil || !w.skip(at, e.IsDir())) && !w.enter(l, e, at) {
			return false
		}
	}
	return true
}

// enter visits an entry of a folder, or yields why it does not.
func (w *walker) enter(folder *formats.Location, e fs.DirEntry, rel string) bool {
	it := Item{Found: Found{Rel: rel}, Of: stage.BackupOf(e.Name())}
	link := e.Type()&fs.ModeSymlink != 0
	switch {
	case it.Of != "" && folder.Has(it.Of):
		it.Why = Backup
		return w.yield(it)
	case isClientCopy(w.reg, e.Name()):
		it.Why = ClientCopy
		return w.yield(it)
	}
	loc, err := formats.Locate(filepath.Join(folder.Path, e.Name()))
	switch {
	case err != nil && link: // dangling: there is nothing to read
		it.Why = DeadLink
	case err != nil:
		it.Err = err
		return w.fail(it)
	case loc.IsDir() && link: // it could be circular, or lead out of the folder
		it.Why = FolderLink
	default:
		return w.visit(loc, rel)
	}
	return w.yield(it)
}

func (w *walker) fail(it Item) bool {
	it.Why = Unreadable
	return w.ctx.Err() == nil && w.yield(it)
}

// Nested returns the folder that a client keeps outside of its stores, if it is
// inside of one, else nil: a project folder is a store, and its transcripts
// include other clients' sessions.
func Nested(f Found) *formats.Location {
	home := f.Detected[0].Format.Home
	if home == nil || home.External == nil || !f.Loc.IsDir() {
		return nil
	}
	name, _ := home.External("", "")
	if !f.Loc.Has(name) {
		return nil
	}
	next, err := formats.Locate(filepath.Join(f.Loc.Path, name))
	if err != nil || !next.IsDir() {
		return nil
	}
	return next
}

// isClientCopy reports whether some client gives this name to copies of its stores.
func isClientCopy(reg *formats.Registry, name string) bool {
	return slices.ContainsFunc(reg.All(), func(f *formats.Format) bool { return f.Home != nil && f.Home.IsCopy != nil && f.Home.IsCopy(name) })
}

// isOthers reports whether an entry never holds a client's store: other tools'
// folders, and what rehome itself leaves beside its targets.
func isOthers(e fs.DirEntry) bool {
	if e.IsDir() {
		return e.Name() == ".git" || e.Name() == "node_modules" || formats.IsStaging(e.Name())
	}
	return formats.IsSidecar(e.Name())
}
