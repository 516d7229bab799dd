package convert

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/session"
)

// byClock says when sessions were last changed that do not say so themselves:
// a file that bears a session's name was changed when its session was, and a
// store of one session is that session's.
func byClock(loc *formats.Location, h headsOf) {
	wanting := slices.ContainsFunc(h.heads, func(s session.Head) bool { return !s.Updated.Known() })
	if !wanting {
		return
	}
	files := clocks(loc)
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

// fileClock is when a file was changed, and what it comes to.
type fileClock struct{ changed, bytes int64 }

// clockMost is how many files of one store are looked at for the sake of their
// times.
const clockMost = 200_000

// clocks are the times of a store's files by their names without an ending;
// under "" of the newest of those that lie directly in it.
func clocks(l *formats.Location) map[string]fileClock {
	out := map[string]fileClock{}
	if !l.IsDir() {
		for _, side := range []string{"", "-wal"} {
			if info, err := os.Stat(l.Path + side); err == nil {
				out[""] = fileClock{max(out[""].changed, info.ModTime().UnixMilli()), out[""].bytes + info.Size()}
			}
		}
		return out
	}
	seen := 0
	filepath.WalkDir(l.Path, func(path string, e os.DirEntry, err error) error {
		if seen++; seen > clockMost {
			return filepath.SkipAll
		}
		if err != nil || !e.Type().IsRegular() {
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return nil
		}
		c := fileClock{info.ModTime().UnixMilli(), info.Size()}
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
