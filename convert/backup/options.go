package backup

import (
	"path/filepath"
	"time"

	"rehome/convert"
	"rehome/convert/internal/notify"
	"rehome/formats"
)

// Options are the options of Run.
type Options struct {
	Machine        formats.Machine
	Program        string           // the version of this program, for the index
	Now            func() time.Time // nil: time.Now
	Keep           int              // remove the oldest snapshots beyond this number; 0 = keep all
	WithoutSecrets bool             // withhold keys and tokens that are recognized by their place
	Delete         bool             // drop what no longer exists on the machine
	DryRun         bool             // save and verify, but place nothing
	Live           bool             // read a store in use in place
	Jobs           int              // workers; 0 = one per CPU
	Folders        []string         // candidates for the folders of sessions, see sessions.Options

	OnProgress func(notify.Progress) // may be nil
	OnNotice   func(string)          // one-line remarks; may be nil

	rename func(from, to string) error // tests stop a run before and after each call
}

// Report is the result of Run. Its JSON is the output of `rehome backup --json`.
type Report struct {
	Dir      string        `json:"dir"`
	Snapshot string        `json:"snapshot,omitempty"` // the new snapshot; "" if nothing changed
	Previous string        `json:"previous,omitempty"` // the newest snapshot before this run
	DryRun   bool          `json:"dry_run"`
	Git      bool          `json:"git"` // updated in place, in a git work tree
	Stores   []StoreReport `json:"stores"`
	Removed  []string      `json:"removed"` // old snapshots, see Options.Keep
	Searched []string      `json:"searched"`
}

// The states of a store, and of what is restored.
const (
	Added     = "added"
	Updated   = "updated"
	Unchanged = "unchanged"
	Kept      = "kept" // no longer exists on the machine
	Failed    = "failed"
)

// StoreReport is the result for one store.
type StoreReport struct {
	Client   string   `json:"client"`
	Format   string   `json:"format"`
	Path     string   `json:"path"`
	Status   string   `json:"status"`
	Files    int64    `json:"files"`
	Bytes    int64    `json:"bytes"`
	Sessions int      `json:"sessions"`
	Gone     int      `json:"gone,omitempty"`     // files that no longer exist on the machine and stay in the backup
	LeftOut  []string `json:"left_out,omitempty"` // secrets of clients that no format reads, and what is not a file
	AsOf     string   `json:"as_of,omitempty"`    // of a store that failed: the snapshot that its copy is from

	Error *convert.ErrorReport `json:"error,omitempty"`
	err   error
}

// Err returns why the store failed, nil if it did not.
func (s *StoreReport) Err() error { return s.err }

func (s *StoreReport) fail(err error) {
	s.Status, s.err, s.Error = Failed, err, newErrorReport(err)
}

func newErrorReport(err error) *convert.ErrorReport {
	return &convert.ErrorReport{Message: err.Error(), Hint: formats.Hint(err)}
}

// Count returns the number of stores with a status.
func (r *Report) Count(status string) (n int) {
	for i := range r.Stores {
		if r.Stores[i].Status == status {
			n++
		}
	}
	return n
}

// Dir returns the folder of backups where none is named, "" if it is unknown.
func Dir(m formats.Machine) string {
	below := func(parts ...string) string {
		for _, p := range parts {
			if p == "" {
				return ""
			}
		}
		return filepath.Join(append(parts, "rehome", "backup")...)
	}
	switch m.OS {
	case "windows":
		if dir := m.Env("LOCALAPPDATA"); dir != "" {
			return below(dir)
		}
		return below(m.Home, "AppData", "Local")
	case "darwin":
		return below(m.Home, "Library", "Application Support")
	}
	if dir := m.Env("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return below(dir)
	}
	return below(m.Home, ".local", "share")
}
