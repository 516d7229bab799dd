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
	"strings"

	"rehome/convert/internal/stage"
	"rehome/formats"
)

// skipReason is why a walk skips a path.
type skipReason uint8

const (
	entered     skipReason = iota // not skipped
	unclaimed                     // a file that no format recognizes
	sessionLike                   // such a file whose first line looks like a session
	misnamed                      // such a file with the name of a store
	folderLink                    // a link to a folder
	deadLink                      // a dangling or circular link
	specialFile                   // a pipe, socket or device
	broken                        // it cannot be read
	backup                        // a store's backup by --replace
	clientCopy                    // a copy that a client made for itself
)

// walkEntry is an entry of a folder that is walked.
type walkEntry struct {
	name string
	loc  *formats.Location // nil if skipped or unreadable
	why  skipReason
	of   string // of a backup: name of the store
	err  error  // of an unreadable entry
}

// entries yields what a walk visits in a folder, and what it skips, sorted by
// name. It omits names that never hold a client's store.
func entries(reg *formats.Registry, l *formats.Location, list []fs.DirEntry) iter.Seq[walkEntry] {
	return func(yield func(walkEntry) bool) {
		for _, e := range list {
			if isIgnored(e) {
				continue
			}
			s := walkEntry{name: e.Name(), of: stage.BackupOf(e.Name())}
			link := e.Type()&fs.ModeSymlink != 0
			switch {
			case s.of != "" && l.Has(s.of):
				s.why = backup
			case isClientCopy(reg, s.name):
				s.why = clientCopy
			default:
				s.loc, s.err = formats.Locate(filepath.Join(l.Path, s.name))
				switch {
				case s.err != nil && link: // dangling: there is nothing to read
					s.why = deadLink
				case s.err != nil:
					s.why = broken
				case s.loc.IsDir() && link: // it could be circular, or lead out of the folder
					s.why = folderLink
				}
			}
			if !yield(s) {
				return
			}
		}
	}
}

// isClientCopy reports whether some client gives this name to copies of its stores.
func isClientCopy(reg *formats.Registry, name string) bool {
	return slices.ContainsFunc(reg.All(), func(f *formats.Format) bool { return f.Home != nil && f.Home.IsCopy != nil && f.Home.IsCopy(name) })
}

// isIgnored reports whether an entry never holds a client's store: other tools'
// folders, and what rehome itself leaves beside its targets.
func isIgnored(e fs.DirEntry) bool {
	if e.IsDir() {
		return e.Name() == ".git" || e.Name() == "node_modules" || formats.IsStaging(e.Name())
	}
	return formats.IsSidecar(e.Name())
}

// classify returns why a file that no format recognizes is skipped. It may be
// of an unknown client or version, and is reported then. With a client's own
// name, but without a line that looks like a session, it is a corrupt store.
func classify(l *formats.Location) skipReason {
	named, lines := isStoreName(l.Path), slices.Contains([]string{".jsonl", ".ndjson"}, strings.ToLower(filepath.Ext(l.Path)))
	switch {
	case lines && looksLikeSession(l, named):
		return sessionLike
	case named && len(l.Head()) > 0: // an empty file may not have been written yet
		return misnamed
	}
	return unclaimed
}

// looksLikeSession reports whether the first line of a file is an object with a
// session's id, or says that a session begins. In a file named like a store,
// any object counts.
func looksLikeSession(l *formats.Location, named bool) bool {
	line := l.FirstLine()
	if !bytes.HasPrefix(line, []byte("{")) {
		return false
	}
	var first map[string]json.RawMessage
	if json.Unmarshal(line, &first) != nil {
		text, whole := l.Text()
		return named && !whole && bytes.IndexByte(text, '\n') < 0 // too long to check
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

// isStoreName reports whether only clients' stores have this name in this
// place.
func isStoreName(place string) bool {
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
