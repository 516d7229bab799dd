package codex

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/rawjson"
	"rehome/formats/session"
)

const name = "codex"

// Format is the codec.
func Format() *formats.Format {
	return &formats.Format{
		Name:    name,
		Title:   "sessions of the Codex CLI (rollouts), read only",
		Clients: []string{session.Codex},
		Probe:   probe,
		Sessions: &formats.Sessions{
			Decode: decode,
			Heads:  heads,
		},
		Home: &formats.Home{
			Roots: home,
		},
		Check: check,
	}
}

// home is CODEX_HOME, which holds the client's settings and databases, too.
func home(m formats.Machine) []string {
	return []string{cmp.Or(m.Env("CODEX_HOME"), filepath.Join(m.Home, ".codex"))}
}

func probe(_ context.Context, l *formats.Location) (formats.Match, error) {
	if l.IsDir() {
		if f, err := open(l); err == nil {
			defer f.root.Close()
			if len(f.entries) > 0 {
				return formats.Match{Score: 90, Evidence: []string{"a folder with rollouts"}}, nil
			}
		}
		return formats.Match{}, nil
	}
	_, named := rolloutID(l.Name())
	first := l.FirstLine()
	switch meta := payload(first, "session_meta"); {
	case rawjson.Last(meta, "id") != nil:
		return formats.Match{Score: 90, Evidence: []string{"a first line of type session_meta with an id"}}, nil
	case named && rawjson.Last(first, "id") != nil && rawjson.Last(first, "timestamp") != nil:
		return formats.Match{Score: 85, Evidence: []string{"named like a rollout", "a first line with an id and a timestamp"}}, nil
	case named && strings.HasPrefix(string(l.Head()), "\x28\xb5\x2f\xfd"):
		return formats.Match{Score: 85, Evidence: []string{"named like a rollout", "compressed with zstd"}}, nil
	}
	return formats.Match{}, nil
}

// payload returns what a line of the given type holds, nil for any other line.
func payload(line []byte, kind string) []byte {
	if rawjson.Text(rawjson.Last(line, "type")) != kind {
		return nil
	}
	return rawjson.Last(line, "payload")
}

// rolloutID returns the session's id from a file name such as
// rollout-2026-11-22T10-31-27-01a202cf-91d2-7502-9981-377fadfd9546.jsonl.
func rolloutID(file string) (string, bool) {
	const stamp, uuid = len("2006-01-02T15-04-05-"), 36
	rest, ok := strings.CutPrefix(file, "rollout-")
	rest, plain := strings.CutSuffix(strings.TrimSuffix(rest, ".zst"), ".jsonl")
	if !ok || !plain || len(rest) != stamp+uuid {
		return "", false
	}
	return rest[stamp:], true
}

// folder is an open store.
type folder struct {
	root    *os.Root
	entries []*entry // in the order in which the sessions began
	only    string   // the one file that was asked for
	older   []*entry // files of sessions that have a better one
}

// entry is a file with one session. shown is its path in notes and findings.
type entry struct{ id, path, shown string }

// open lists the rollouts of a store. For a single file the store around it is
// opened, because the beginning of a forked session is in another file.
func open(l *formats.Location) (*folder, error) {
	dir, only := l.Path, ""
	if !l.IsDir() {
		dir, only = around(l.Path)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	f := &folder{root: root, only: only}
	if err := f.list(".", 0); err != nil {
		root.Close()
		return nil, err
	}
	if only != "" && !slices.ContainsFunc(slices.Concat(f.entries, f.older), func(e *entry) bool { return e.path == only }) {
		id := strings.TrimSuffix(path.Base(only), path.Ext(only))
		f.entries = append(f.entries, &entry{id, only, only})
	}
	f.order()
	for _, e := range f.wanted() {
		if only != "" {
			e.shown = path.Base(only)
		}
	}
	return f, nil
}

// around returns the store that a file lies in, and the file's path inside it.
func around(file string) (dir, rel string) {
	abs, err := filepath.Abs(file)
	if err != nil {
		abs = file
	}
	dir = filepath.Dir(abs)
	for top := dir; ; top = filepath.Dir(top) {
		switch base := filepath.Base(top); {
		case base == "sessions" || base == "archived_sessions":
			dir = filepath.Dir(top)
		case number(base):
			continue
		}
		break
	}
	rel, _ = filepath.Rel(dir, abs)
	return dir, filepath.ToSlash(rel)
}

// number reports the name of a folder for a year, a month or a day.
func number(s string) bool {
	return (len(s) == 2 || len(s) == 4) && strings.Trim(s, "0123456789") == ""
}

// list enters the rollouts in and below a folder, down to sessions/2026/11/22.
func (f *folder) list(dir string, depth int) error {
	list, err := fs.ReadDir(f.root.FS(), dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		at := path.Join(dir, e.Name())
		id, ok := rolloutID(e.Name())
		switch {
		case ok && e.Type().IsRegular():
			f.entries = append(f.entries, &entry{id, at, at})
		case e.IsDir() && depth < 4 && (number(e.Name()) || depth == 0 && (e.Name() == "sessions" || e.Name() == "archived_sessions")):
			if err := f.list(at, depth+1); err != nil && !errors.Is(err, fs.ErrPermission) {
				return err
			}
		}
	}
	return nil
}

// order sorts the files by when their sessions began, so that parents come
// before subagents, and sets aside the older ones of files with the same id.
func (f *folder) order() {
	slices.SortFunc(f.entries, func(a, b *entry) int {
		return cmp.Or(strings.Compare(path.Base(a.path), path.Base(b.path)), strings.Compare(a.path, b.path))
	})
	best := map[string]*entry{}
	for _, e := range f.entries {
		if was := best[e.id]; was == nil || was.path != f.only && (e.path == f.only || !strings.HasSuffix(e.path, ".zst")) {
			best[e.id] = e
		}
	}
	all := f.entries
	f.entries = nil
	for _, e := range all {
		if best[e.id] == e {
			f.entries = append(f.entries, e)
		} else {
			f.older = append(f.older, e)
		}
	}
}

// wanted returns the files whose sessions are to be read.
func (f *folder) wanted() (out []*entry) {
	for _, e := range f.entries {
		if f.only == "" || e.path == f.only {
			out = append(out, e)
		}
	}
	return out
}

// named returns the file of a session, nil if it is not in the store.
func (f *folder) named(id string) *entry {
	if i := slices.IndexFunc(f.entries, func(e *entry) bool { return e.id == id }); i >= 0 {
		return f.entries[i]
	}
	return nil
}

func failure(ctx context.Context, at string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &formats.Error{Format: name, At: at, Err: formats.Cause(err)}
}
