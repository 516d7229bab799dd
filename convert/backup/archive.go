package backup

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"rehome/convert"
	"rehome/convert/internal/mark"
	"rehome/convert/internal/stage"
	"rehome/formats"
	"rehome/internal/shell"
)

// currentName is the name of the folder with the archives as of the last run, and what
// it takes to bring them up to date. Snapshots have links to their files: an update
// replaces files and never changes one. It is a cache: without it, stores are converted
// as a whole.
const currentName = ".current" + formats.StagingMark + "update"

// archive is the text of a store.
type archive struct {
	path  string
	state string // folder of the marks of updates, "" if unknown
}

// convert brings the archive of a unit up to date. A dry run makes a new one.
func (r *run) convert(ctx context.Context, u *unit) (*archive, error) {
	a := &archive{path: filepath.Join(r.tree, filepath.FromSlash(u.text))}
	o := convert.Options{
		From: u.format.Name, To: "archive", WithSecrets: !r.o.WithoutSecrets, Live: r.o.Live, Jobs: r.o.Jobs, OnNotice: r.notify.Say,
	}
	switch {
	case r.inPlace():
		a.path = filepath.Join(r.dir, filepath.FromSlash(u.text))
		o.Update, o.Delete = true, r.o.Delete
		if err := checkFolders(r.dir, u.text); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	case !r.o.DryRun:
		a.path, a.state = r.current(u.text), filepath.Join(r.dir, currentName, ".updates")
		o.Update, o.Delete, o.State = true, true, a.state
		if mark.Read(a.state, a.path) == nil {
			if err := r.forget(u.text); err != nil {
				return nil, err
			}
		}
	}
	if err := os.MkdirAll(filepath.Dir(a.path), 0o700); err != nil {
		return nil, err
	}
	err := r.convertTo(ctx, u, a.path, o)
	if err != nil && a.state != "" && ctx.Err() == nil && !stage.DiskFull(err) && exists(a.path) {
		// Somebody changed what the last run left, or the store cannot be read.
		if err = r.forget(u.text); err == nil {
			err = r.convertTo(ctx, u, a.path, o)
		}
	}
	return a, err
}

func (r *run) convertTo(ctx context.Context, u *unit, dst string, o convert.Options) error {
	reg := r.reg
	if u.kept != nil {
		reg = formats.NewRegistry(u.format, reg.Lookup("archive"))
	}
	rep, err := convert.Convert(ctx, reg, u.real, dst, o)
	switch {
	case err != nil:
		return formats.ReplacePath(err, r.tree, r.dir)
	case len(rep.Stores) != 1:
		return &formats.Error{At: u.path, Err: errors.New("no longer a single store"), Hint: "run it again"}
	case rep.Stores[0].Err() != nil:
		return rep.Stores[0].Err()
	case rep.Skipped() > 0:
		return &formats.Error{At: u.path, Err: errors.New("some records cannot be saved as text"), Hint: "run `" + shell.Command("rehome", "convert", u.path, "DST", "--to", "archive", "--dry-run") + "` for details"}
	}
	return nil
}

// current returns the path of the current archive of a store.
func (r *run) current(text string) string {
	return filepath.Join(r.dir, currentName, filepath.FromSlash(text))
}

// forget removes the current archive of a store.
func (r *run) forget(text string) error {
	at := r.current(text)
	return errors.Join(os.RemoveAll(at), os.RemoveAll(at+formats.SidecarSuffix))
}

// forgetVanished removes the current archives of stores that the machine no longer has:
// snapshots keep what they had.
func (r *run) forgetVanished() (err error) {
	if r.prev == nil {
		return nil
	}
	for _, old := range r.prev.Stores {
		if old.Kind == archiveKind && old.Text != "" && !slices.ContainsFunc(r.units, func(u *unit) bool { return u.text == old.Text }) {
			err = errors.Join(err, r.forget(old.Text))
		}
	}
	return err
}

// digest returns the digest, number and size of the files of an archive, without
// reading those that are as an update wrote them.
func (a *archive) digest() (digest string, files, bytes int64, err error) {
	var m *mark.Mark
	if a.state != "" {
		m = mark.Read(a.state, a.path)
	}
	return treeDigest(a.path, func(rel string, info fs.FileInfo) string {
		if m == nil {
			return ""
		}
		if f := m.Files[rel]; f.Digest != "" && f.Stat == mark.StatOf(info) {
			return digestPrefix + f.Digest
		}
		return ""
	})
}

// link puts the files of an archive into a snapshot.
func (a *archive) link(to string) error {
	list, err := textFiles(a.path)
	for _, rel := range list {
		if err == nil {
			err = linkFile(filepath.Join(a.path, filepath.FromSlash(rel)), filepath.Join(to, filepath.FromSlash(rel)))
		}
	}
	return err
}
