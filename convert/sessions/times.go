package sessions

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/session"
)

// fillTimes fills in the times of sessions that do not state when they were
// changed: from a file with the session's name or, if it is the only session,
// from its store.
func fillTimes(loc *formats.Location, h storeHeads) {
	wanting := slices.ContainsFunc(h.heads, func(s session.Head) bool { return !s.Updated.Known() })
	if !wanting {
		return
	}
	files := fileTimes(loc)
	for i := range h.heads {
		s := &h.heads[i]
		if s.Updated.Known() {
			continue
		}
		c, ok := files[s.ID]
		if !ok && len(h.heads) == 1 {
			c, ok = files[""]
		}
		if ok {
			s.Updated = session.Inferred(c.changed)
		}
		if ok && s.Bytes < 0 && !strings.EqualFold(filepath.Ext(h.Path), ".db") {
			s.Bytes = c.bytes
		}
	}
}

// fileTime is the modification time and the size of a file.
type fileTime struct{ changed, bytes int64 }

// maxTimedFiles is how many files of a store are inspected for their times.
const maxTimedFiles = 200_000

// fileTimes returns the times of a store's files by name without extension, and
// the newest of those directly in it under "".
func fileTimes(l *formats.Location) map[string]fileTime {
	out := map[string]fileTime{}
	if !l.IsDir() {
		for _, side := range []string{"", "-wal"} {
			if info, err := os.Stat(l.Path + side); err == nil {
				out[""] = fileTime{max(out[""].changed, info.ModTime().UnixMilli()), out[""].bytes + info.Size()}
			}
		}
		return out
	}
	seen := 0
	filepath.WalkDir(l.Path, func(path string, e os.DirEntry, err error) error {
		if seen++; seen > maxTimedFiles {
			return filepath.SkipAll
		}
		if err != nil || !e.Type().IsRegular() {
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return nil
		}
		c := fileTime{info.ModTime().UnixMilli(), info.Size()}
		names := []string{strings.TrimSuffix(e.Name(), filepath.Ext(e.Name()))}
		if filepath.Dir(path) == filepath.Clean(l.Path) {
			names = append(names, "")
		}
		for _, n := range names {
			if old, ok := out[n]; !ok || old.changed < c.changed {
				out[n] = c
			}
		}
		return nil
	})
	return out
}
