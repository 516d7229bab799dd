package backup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rehome/convert/internal/stage"
	"rehome/formats"
	"rehome/internal/scratch"
)

// layout is the form of the names of snapshots. It sorts by time, and is a valid name
// on every system.
const layout = "2006-01-02T150405Z"

// Snapshots returns the names of the snapshots in a folder of backups, oldest first.
func Snapshots(dir string) ([]string, error) {
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &formats.Error{At: dir, Err: formats.Cause(err)}
	}
	var out []string
	for _, e := range list {
		if _, err := time.Parse(layout, e.Name()); err == nil && e.IsDir() {
			out = append(out, e.Name())
		}
	}
	slices.Sort(out)
	return out, nil
}

// placeAs renames the snapshot to the time of this run. If that is not after the
// newest snapshot, because a clock was set back or another run was faster, it is
// named a second later than that.
func (r *run) placeAs(tree string) (string, error) {
	at := r.now.UTC()
	for {
		names, err := Snapshots(r.dir)
		if err != nil {
			return "", err
		}
		if len(names) > 0 {
			if newest, err := time.Parse(layout, names[len(names)-1]); err == nil && !at.Truncate(time.Second).After(newest) {
				at = newest.Add(time.Second)
			}
		}
		name := at.Format(layout)
		err = r.o.rename(tree, filepath.Join(r.dir, name))
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", &formats.Error{At: filepath.Join(r.rep.Dir, name), Err: formats.Cause(err)}
		}
		return name, nil
	}
}

// prune removes the oldest snapshots beyond Options.Keep. Each first loses its name,
// so that a killed run leaves no half of it.
func (r *run) prune() error {
	if r.o.Keep <= 0 {
		return nil
	}
	names, err := Snapshots(r.dir)
	if err != nil {
		return err
	}
	for _, name := range names[:max(0, len(names)-r.o.Keep)] {
		d, err := scratch.Make(r.dir, stagingPrefix)
		if err != nil {
			return err
		}
		err = r.o.rename(filepath.Join(r.dir, name), filepath.Join(d.Path, name))
		if err = errors.Join(err, stage.SyncFolder(r.dir), d.Remove()); err != nil {
			return &formats.Error{At: filepath.Join(r.rep.Dir, name), Op: "remove", Err: formats.Cause(err)}
		}
		r.rep.Removed = append(r.rep.Removed, name)
	}
	return nil
}
