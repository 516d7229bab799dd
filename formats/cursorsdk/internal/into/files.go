package into

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"rehome/formats"
	"rehome/formats/cursorsdk/internal/layout"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sdkstore"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/storedb"
	"rehome/internal/fsx"
)

// fileChange is a file that was written.
type fileChange struct {
	Path   string `json:"path"`
	Before string `json:"before,omitempty"` // the name of the old one in the undo record; "" if there was none
	After  string `json:"after"`            // SHA-256
	from   string
}

// storeOf returns the path of an agent's database.
func storeOf(root, id string) string {
	return filepath.Join(root, filepath.FromSlash(sdkstore.StorePath(id)))
}

// transcriptsOf returns the folder of transcripts that belongs to a state root: that of
// its project, or its own if it is in none.
func transcriptsOf(root string) string {
	if project := layout.Around(root).Project(""); project != "" {
		return filepath.Join(project, sdkdoc.Transcripts)
	}
	return filepath.Join(root, sdkdoc.Transcripts)
}

// planBlobs returns what will be added to the database of an agent, nil if it is new.
func (x *addition) planBlobs(ctx context.Context, id string) (*storedb.Added, error) {
	to, from := storeOf(x.To, id), storeOf(x.From, id)
	if _, err := os.Lstat(to); err != nil {
		return nil, missingIsFine(err)
	}
	if _, err := os.Lstat(from); err != nil {
		return nil, missingIsFine(err)
	}
	return editBlobs(ctx, to, from, false)
}

// missingIsFine drops the error of a file that does not exist.
func missingIsFine(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// editBlobs adds the blobs of a database to another one, if commit is set, and returns
// what was or would be added.
func editBlobs(ctx context.Context, to, from string, commit bool) (*storedb.Added, error) {
	e, err := sqlitefile.Edit(ctx, to, from)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	b, err := storedb.AddBlobs(ctx, e, to)
	if err != nil || !commit {
		return b, err
	}
	return b, e.Commit(ctx)
}

// planFiles lists the transcripts to write, and keeps those that they replace.
func (x *addition) planFiles() error {
	from, to := filepath.Join(x.From, sdkdoc.Transcripts), transcriptsOf(x.To)
	err := filepath.WalkDir(from, func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(from, p)
		if err != nil {
			return err
		}
		f := fileChange{from: p}
		if f.Path, err = written(filepath.Join(to, rel)); err != nil {
			return err
		}
		if f.After, err = fsx.Digest(p); err != nil {
			return err
		}
		was, err := fsx.Digest(f.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return &formats.Error{At: f.Path, Err: formats.Cause(err)}
		case was == f.After:
			return nil
		default:
			if err := x.keepFile(&f); err != nil {
				return err
			}
		}
		x.log.Files = append(x.log.Files, f)
		return nil
	})
	return missingIsFine(err)
}

// written returns the path of the file that is written for a transcript: what a link leads
// to, so that the link stays.
func written(path string) (string, error) {
	if _, err := os.Lstat(path); err != nil {
		return path, missingIsFine(err)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		// Not wrapped: to callers, a file that does not exist is something else.
		return "", &formats.Error{At: path, Err: errors.New("link without a target: " + formats.Cause(err).Error()), Hint: "remove this link"}
	}
	return real, nil
}

// keepFile copies a file that is replaced to the undo record.
func (x *addition) keepFile(f *fileChange) error {
	dir, err := x.Log.Dir()
	if err != nil {
		return err
	}
	f.Before = "file-" + strconv.Itoa(len(x.log.Files)+1)
	return copyAnew(f.Path, filepath.Join(dir, f.Before))
}

// place puts the databases of agents and the transcripts where the client looks for
// them. No row refers to them yet.
func (x *addition) place(ctx context.Context, ids []string) error {
	for i, id := range ids {
		from, to := storeOf(x.From, id), storeOf(x.To, id)
		if x.log.Agents[i].Blobs != nil {
			if _, err := editBlobs(ctx, to, from, true); err != nil {
				return err
			}
			continue
		}
		if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
			continue // an agent without a checkpoint
		}
		if err := moveTo(from, to, fsx.Move); err != nil {
			return err
		}
	}
	for _, f := range x.log.Files {
		if err := moveTo(f.from, f.Path, replace); err != nil {
			return err
		}
	}
	return nil
}

// replace renames a file over another one. What a link leads to can be on another disk:
// there the file is copied first.
func replace(from, to string) error {
	err := os.Rename(from, to)
	if _, e := os.Stat(from); err == nil || e != nil {
		return err
	}
	return copyOver(from, to)
}

// copyOver puts a copy of a file in place of another one.
func copyOver(from, to string) error {
	staged := to + ".rehome-new"
	if err := copyAnew(from, staged); err != nil {
		return err
	}
	return os.Rename(staged, to)
}

// moveTo renames a file, on disk when it returns. Missing folders are created, for the
// owner alone.
func moveTo(from, to string, rename func(from, to string) error) error {
	dir := filepath.Dir(to)
	var made []string
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(d); err == nil || filepath.Dir(d) == d {
			break
		}
		made = append(made, filepath.Dir(d))
	}
	err := fsx.SyncFile(from)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = rename(from, to)
	}
	for _, d := range append([]string{dir}, made...) {
		if err == nil {
			err = fsx.SyncFolder(d)
		}
	}
	if err != nil {
		return &formats.Error{At: to, Err: formats.Cause(err), Hint: "make this path writable, and try again"}
	}
	return nil
}

// copyAnew makes a private copy of a file, on disk when it returns, in place of an earlier one.
func copyAnew(from, to string) error {
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := fsx.Copy(from, to, 0o600); err != nil {
		return err
	}
	return fsx.SyncFile(to)
}
