package scratch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Sweep removes what this user's killed runs left where the system keeps
// temporary files. Nobody has to know: it was scratch.
func Sweep() {
	SweepAmong(os.TempDir(), func(name string) bool {
		purpose, ok := strings.CutPrefix(name, mark)
		return ok && len(purpose) > 1 && strings.Trim(purpose, "abcdefghijklmnopqrstuvwxyz-") == "" && purpose[len(purpose)-1] == '-'
	}, func(string, error) {})
}

// SweepBeside removes the folders in parent whose names begin with prefix and
// that this user's killed runs left. told is called for each that is gone, or
// could not be removed.
func SweepBeside(parent, prefix string, told func(root string, err error)) {
	SweepAmong(parent, func(name string) bool { return name == prefix }, told)
}

// SweepAmong is SweepBeside for all prefixes that ours accepts.
func SweepAmong(parent string, ours func(prefix string) bool, told func(root string, err error)) {
	dir, err := os.Open(parent)
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // what can be seen of it
	for _, name := range names {
		if len(name) <= digits || !ours(name[:len(name)-digits]) || strings.Trim(name[len(name)-digits:], "0123456789abcdef") != "" {
			continue
		}
		root := filepath.Join(parent, name)
		if swept, err := sweepOne(root); swept || err != nil {
			told(root, err)
		}
	}
}

func sweepOne(root string) (bool, error) {
	info, err := os.Lstat(root)
	if err != nil || !info.IsDir() || !mine(info) {
		return false, nil
	}
	lock, held, err := takeLock(filepath.Join(root, lockName), false)
	switch {
	case held:
		return false, nil
	case errors.Is(err, fs.ErrNotExist):
		// Killed between its first two steps, or just about to take the
		// second: an empty folder may go, its maker copes.
		return os.Remove(root) == nil, nil
	case err != nil:
		return false, err
	}
	d := &Dir{Root: root, Path: filepath.Join(root, treeName), lock: lock}
	return true, d.Remove()
}
