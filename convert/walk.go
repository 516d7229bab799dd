package convert

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rehome/formats"
)

// passing is why a walk goes past a place.
type passing uint8

const (
	entered    passing = iota // it does not
	unclaimed                 // a file that no format recognizes
	sessionish                // such a file, whose first line speaks of a session
	misfit                    // such a file, named like a store, which it is not
	folderLink                // a link to a folder
	deadLink                  // a link that leads nowhere, or in a circle
	noFile                    // a pipe, socket or device
	broken                    // it could not be looked at
	backup                    // what a store was before --replace
	ownCopy                   // what a client copied for itself
)

// step is an entry of a folder that is being walked.
type step struct {
	name string
	loc  *formats.Location // nil if it could not be looked at
	why  passing
	of   string // of a backup: the store
	err  error  // of what is broken
}

// entries yields what a walk visits below a folder, and what it passes by, in
// the order of their names. Names that never hold a store of anybody's are left
// out.
func entries(reg *formats.Registry, l *formats.Location, list []fs.DirEntry) iter.Seq[step] {
	return func(yield func(step) bool) {
		for _, e := range list {
			if passedOver(e) {
				continue
			}
			s := step{name: e.Name(), of: backupOf(e.Name())}
			link := e.Type()&fs.ModeSymlink != 0
			switch {
			case s.of != "" && l.Has(s.of):
				s.why = backup
			case copied(reg, s.name):
				s.why = ownCopy
			default:
				s.loc, s.err = formats.Locate(filepath.Join(l.Path, s.name))
				switch {
				case s.err != nil && link: // it leads nowhere: there is nothing to read
					s.why = deadLink
				case s.err != nil:
					s.why = broken
				case s.loc.IsDir() && link: // it could lead in a circle, or out of the folder
					s.why = folderLink
				}
			}
			if !yield(s) {
				return
			}
		}
	}
}

// copied reports a name that some client gives to copies of its stores.
func copied(reg *formats.Registry, name string) bool {
	return slices.ContainsFunc(reg.All(), func(f *formats.Format) bool { return f.IsCopy != nil && f.IsCopy(name) })
}

// passedOver are names that never hold a store of anybody's: other tools'
// folders, and what rehome itself leaves beside its targets.
func passedOver(e fs.DirEntry) bool {
	if e.IsDir() {
		return e.Name() == ".git" || e.Name() == "node_modules" || isStaging(e.Name())
	}
	return formats.IsSidecar(e.Name())
}

// backupOf is the name of which this one is a backup of rehome's, "" if of none.
// A backup beside nothing is all that is left, and a store like any other.
func backupOf(name string) string {
	at := strings.LastIndex(name, backupMark)
	if at < 1 {
		return ""
	}
	if n, err := strconv.Atoi(name[at+len(backupMark):]); err != nil || n < 1 || n > mostBackups {
		return ""
	}
	return name[:at]
}

// judged is what a file is that no format recognizes. It may be of a client or
// a version that is not known, and is named to people then; a client's own
// name without a line that could be a session's is a broken store.
func judged(l *formats.Location) passing {
	named, lines := storeName(l.Path), slices.Contains([]string{".jsonl", ".ndjson"}, strings.ToLower(filepath.Ext(l.Path)))
	switch {
	case lines && speaks(l, named):
		return sessionish
	case named && len(l.Head()) > 0: // else nothing has been written to it yet
		return misfit
	}
	return unclaimed
}

// speaks reports whether the first line of a file is an object that has a
// session's id, or says that a session begins. Of a store's name any object
// will do.
func speaks(l *formats.Location, named bool) bool {
	line := l.FirstLine()
	if !bytes.HasPrefix(line, []byte("{")) {
		return false
	}
	var first map[string]json.RawMessage
	if json.Unmarshal(line, &first) != nil {
		text, whole := l.Text()
		return named && !whole && bytes.IndexByte(text, '\n') < 0 // too long to be judged
	}
	for name, value := range first {
		var kind string
		switch strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name)) {
		case "sessionid", "conversationid", "threadid", "chatid", "composerid", "agentid", "parentuuid":
			return true
		case "type":
			if json.Unmarshal(value, &kind) == nil && (strings.HasPrefix(kind, "session") || strings.HasPrefix(kind, "thread.")) {
				return true
			}
		}
	}
	return named
}

var uuidLines = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\.jsonl$`)

// storeName reports a name that only clients' stores have, where it lies.
func storeName(place string) bool {
	if abs, err := filepath.Abs(place); err == nil {
		place = abs
	}
	place = filepath.ToSlash(place)
	name := path.Base(place)
	switch {
	case slices.Contains([]string{"store.db", "state.vscdb", "agents.ndjson", "runs.ndjson", "run_events.ndjson", "checkpoints.ndjson"}, name):
		return true
	case name == "index.db":
		_, err := os.Lstat(filepath.Join(filepath.FromSlash(path.Dir(place)), "agents"))
		return err == nil
	case uuidLines.MatchString(name):
		above := strings.Split(path.Dir(place), "/")
		return slices.Contains(above, "agent-transcripts") || len(above) > 1 && above[len(above)-2] == "projects"
	}
	return false
}
