// Package move copies the agents of a project folder that was moved to where the Cursor SDK
// looks for those of the new one, and the transcripts that Cursor's clients keep of it.
//
// The SDK goes by three names: the slug and the MD5 of the path, and workspace_ref of each
// agent. The databases are copied with their logs, which SQLite folds into them: without
// that, those of a client that has ended are all but empty.
package move

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/cursorsdk/internal/layout"
	"rehome/formats/internal/filename"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sdkstore"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/transcript"
	"rehome/internal/fsx"
)

// finder finds the pieces of one data folder of Cursor.
type finder struct {
	ctx   context.Context
	mv    *formats.Moved
	data  string
	yield func(formats.Piece, error) bool
}

// Find is formats.Mover.Find.
func Find(ctx context.Context, m formats.Machine, mv *formats.Moved) iter.Seq2[formats.Piece, error] {
	return func(yield func(formats.Piece, error) bool) {
		data := []string{filepath.Join(m.Home, ".cursor")}
		if other := m.Env("CURSOR_DATA_DIR"); other != "" && filepath.Clean(other) != data[0] {
			data = append(data, other) // it has transcripts
		}
		for _, dir := range data {
			f := &finder{ctx, mv, dir, yield}
			if !f.projects() || !f.newer() {
				return
			}
		}
	}
}

// list returns the entries of a folder, none if it does not exist.
func list(dir string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return entries, err
}

func (f *finder) fail(err error) bool { return f.yield(formats.Piece{}, err) }

// unread yields a store that cannot be read: the others can be moved. But nothing is,
// while a client uses one of them.
func (f *finder) unread(store string, err error) bool {
	if errors.Is(err, formats.ErrBusy) || f.ctx.Err() != nil {
		return f.fail(err)
	}
	return f.yield(unread(store, err), nil)
}

func unread(store string, err error) formats.Piece {
	return formats.Piece{From: store, Left: "whose agents it has cannot be read: " + formats.Cause(err).Error(), Hint: "run `rehome check` on it"}
}

func (f *finder) projects() bool {
	root := filepath.Join(f.data, layout.ProjectsName)
	entries, err := list(root)
	if err != nil {
		return f.fail(err)
	}
	for _, e := range entries {
		of := func(old string) bool { return strings.HasPrefix(e.Name()+"-", layout.Slug(old)+"-") }
		if slices.ContainsFunc(f.mv.Old, of) && !f.project(root, e.Name()) {
			return false
		}
	}
	return true
}

// project yields the stores of a project's folder, and its transcripts.
func (f *finder) project(root, slug string) bool {
	dir := filepath.Join(root, slug)
	own := f.mv.Named(func(old string) bool { return layout.Slug(old) == slug })
	shared, agents := false, map[string]string{} // the new folder of each; "" if it is of another folder
	stores, err := list(filepath.Join(dir, layout.RootsName))
	if err != nil {
		return f.fail(err)
	}
	for _, e := range stores {
		store := filepath.Join(dir, layout.RootsName, e.Name())
		if _, err := os.Lstat(filepath.Join(store, sdkstore.IndexName)); err != nil {
			continue
		}
		refs, err := refs(f.ctx, store)
		if err != nil {
			shared = true // some of the transcripts may be of its agents
			if !f.unread(store, err) {
				return false
			}
			continue
		}
		cwd := f.mv.Named(func(old string) bool { return filename.HashOf(old) == e.Name() })
		for _, ref := range refs {
			if to, in := f.mv.Path(ref); in && cwd == "" && filename.HashOf(ref) == e.Name() {
				cwd = to
			}
		}
		for id := range refs {
			if name := transcript.Spell(id); cwd != "" || agents[name] == "" {
				agents[name] = cwd
			}
		}
		if shared = shared || cwd == ""; cwd == "" {
			continue
		}
		if own == "" {
			own = cwd
		}
		to := filepath.Join(root, layout.Slug(cwd), layout.RootsName, filename.HashOf(cwd))
		if !f.yield(formats.Piece{ID: first(refs), From: store, To: to, Cwd: cwd, Root: root, Folder: true, Prompts: true, Agents: true}, nil) {
			return false
		}
	}
	return f.transcripts(root, dir, own, shared, agents)
}

// first returns one of the ids of agents, the same one every time.
func first(refs map[string]string) (id string) {
	for one := range refs {
		if id == "" || one < id {
			id = one
		}
	}
	return id
}

// transcripts yields the transcripts of a project's folder, which several folders can have.
func (f *finder) transcripts(root, dir, own string, shared bool, agents map[string]string) bool {
	entries, err := list(filepath.Join(dir, sdkdoc.Transcripts))
	if err != nil {
		return f.fail(err)
	}
	for _, e := range entries {
		id := strings.TrimSuffix(strings.TrimSuffix(e.Name(), ".jsonl"), ".txt")
		cwd, known := agents[id]
		p := formats.Piece{From: filepath.Join(dir, sdkdoc.Transcripts, e.Name()), Root: root, Folder: e.IsDir()}
		switch {
		case known && cwd == "", !known && own == "":
			continue
		case !known && shared:
			p.Left, p.Hint = "other folders have the same name in Cursor, so it may be theirs", "copy it yourself if it belongs to "+f.mv.New
		case !known:
			cwd = own
		}
		p.Cwd = cwd
		p.To = filepath.Join(root, layout.Slug(cwd), sdkdoc.Transcripts, e.Name())
		if !f.yield(p, nil) {
			return false
		}
	}
	return true
}

// newer yields the stores of newer versions of the SDK, which are not filed by folders.
func (f *finder) newer() bool {
	entries, err := list(filepath.Join(f.data, layout.RootsName))
	if err != nil {
		return f.fail(err)
	}
	for _, e := range entries {
		store := filepath.Join(f.data, layout.RootsName, e.Name())
		if _, err := os.Lstat(filepath.Join(store, sdkstore.IndexName)); err != nil {
			continue
		}
		all, err := refs(f.ctx, store)
		if err != nil {
			if !f.yield(unread(store, err), nil) {
				return false
			}
			continue
		}
		n := 0
		for _, ref := range all {
			if _, in := f.mv.Path(ref); in {
				n++
			}
		}
		if n > 0 && !f.yield(formats.Piece{From: store, Left: fmt.Sprintf("agents in the store of a newer SDK, which is not filed by its folder: %d", n),
			Hint: "convert it with --cwd to make a copy for the new folder"}, nil) {
			return false
		}
	}
	return true
}

// refs returns the workspace of each agent of a store.
func refs(ctx context.Context, store string) (out map[string]string, err error) {
	path := filepath.Join(store, sdkstore.IndexName)
	if err := InUse(path); err != nil {
		return nil, err
	}
	db, err := sqlitefile.Open(ctx, path, sqlitefile.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	out = map[string]string{}
	for b, err := range db.Scan(ctx, 0, sqlitefile.Table{Name: "agents", Columns: []string{"agent_id", "workspace_ref"}}) {
		if err != nil {
			return nil, err
		}
		for i := range b.Rows() {
			out[string(b.Cell(i, 0).Bytes())] = string(b.Cell(i, 1).Bytes())
		}
		b.Release()
	}
	return out, nil
}

// InUse is formats.Mover.InUse.
func InUse(path string) error {
	if !isDatabase(filepath.Base(path)) || !sqlitefile.HasOpen(path) {
		return nil
	}
	return &formats.Error{At: path, Err: fmt.Errorf("%w: its client has it open", formats.ErrBusy), Hint: "quit the client and try again"}
}

// File is formats.Mover.File: databases are copied with their logs, and agents of the
// folder get its new path.
func File(ctx context.Context, from, to string, mv *formats.Moved) (done bool, err error) {
	base := filepath.Base(from)
	for _, side := range sqlitefile.SideFiles() {
		if db, ok := strings.CutSuffix(base, side); ok && isDatabase(db) {
			return true, nil // copied with its database
		}
	}
	if !isDatabase(base) {
		return false, nil
	}
	if err := InUse(from); err != nil {
		return true, err
	}
	for _, side := range []string{"", "-wal", "-journal"} {
		if err := fsx.Copy(from+side, to+side, 0o600); err != nil && (side == "" || !errors.Is(err, fs.ErrNotExist)) {
			return true, err
		}
	}
	return true, rename(ctx, to, base == sdkstore.IndexName, mv)
}

func isDatabase(base string) bool { return base == sdkstore.IndexName || base == sdkstore.StoreName }

// rename gives the agents of an index the new path. Closing the database folds its log.
func rename(ctx context.Context, path string, index bool, mv *formats.Moved) error {
	e, err := sqlitefile.Edit(ctx, path, "")
	if err != nil {
		return err
	}
	defer e.Close()
	if !index {
		return e.Close()
	}
	var all []string
	for row, err := range e.Rows(ctx, "SELECT DISTINCT +workspace_ref FROM agents") {
		if err != nil {
			return err
		}
		all = append(all, string(row[0].Bytes()))
	}
	for _, ref := range all {
		if to, in := mv.Path(ref); in {
			if _, err := e.Exec(ctx, "UPDATE agents SET workspace_ref=?2 WHERE workspace_ref=?1", ref, to); err != nil {
				return err
			}
		}
	}
	return errors.Join(e.Commit(ctx), e.Close())
}
