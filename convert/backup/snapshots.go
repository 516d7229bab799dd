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

// Newest returns the path of the newest snapshot in a folder of backups, "" if a path is
// none.
func Newest(dir string) string {
	names, err := Snapshots(dir)
	if err != nil || len(names) == 0 {
		return ""
	}
	return filepath.Join(dir, names[len(names)-1])
}

// SnapshotInfo says what is in a snapshot.
type SnapshotInfo struct {
	Name     string   `json:"name"` // below the folder of backups; "." if that is the snapshot, as in git
	Time     string   `json:"time,omitempty"`
	Clients  []string `json:"clients"`
	Stores   int      `json:"stores"`
	Failed   int      `json:"failed"` // stores that could not be read then
	Sessions int      `json:"sessions"`
	Files    int64    `json:"files"`
	Bytes    int64    `json:"bytes"`
	Secrets  bool     `json:"secrets"`         // false: withheld
	Error    string   `json:"error,omitempty"` // why its index cannot be read; then the rest is empty
}

// List returns what is in the snapshots of a folder of backups, oldest first.
func List(dir string) ([]SnapshotInfo, error) {
	names, err := Snapshots(dir)
	if err != nil {
		return nil, err
	}
	if exists(filepath.Join(dir, IndexName)) {
		names = append(names, ".")
	}
	if len(names) == 0 {
		return nil, noBackup(dir)
	}
	out := make([]SnapshotInfo, 0, len(names))
	for _, name := range names {
		out = append(out, snapshotInfo(dir, name))
	}
	return out, nil
}

func snapshotInfo(dir, name string) SnapshotInfo {
	info := SnapshotInfo{Name: name, Clients: []string{}}
	ix, err := readIndex(filepath.Join(dir, name))
	if err != nil {
		info.Error = err.Error()
		return info
	}
	info.Time, info.Stores, info.Secrets = ix.Time, len(ix.Stores), ix.Secrets
	for _, s := range ix.Stores {
		info.Sessions, info.Files, info.Bytes = info.Sessions+len(s.Sessions), info.Files+s.Files, info.Bytes+s.Bytes
		if s.Error != "" {
			info.Failed++
		}
		if !slices.Contains(info.Clients, s.Client) {
			info.Clients = append(info.Clients, s.Client)
		}
	}
	slices.Sort(info.Clients)
	return info
}

func noBackup(dir string) error {
	return &formats.Error{At: dir, Err: errors.New("no backup found"), Hint: "name the folder of a backup, or make one: `rehome backup`"}
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
