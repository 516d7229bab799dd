package walk

import (
	"bytes"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"rehome/formats"
)

// classify returns why a file that no format recognizes is skipped. It may be
// of an unknown client or version, and is reported then. With a client's own
// name, but without a line that looks like a session, it is a corrupt store.
func classify(l *formats.Location) Reason {
	named, lines := IsStoreName(l.Path), slices.Contains([]string{".jsonl", ".ndjson"}, strings.ToLower(filepath.Ext(l.Path)))
	switch {
	case lines && looksLikeSession(l, named):
		return SessionLike
	case named && len(l.Head()) > 0: // an empty file may not have been written yet
		return Misnamed
	}
	return Unclaimed
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

// IsStoreName reports whether only clients' stores have this name in this
// place.
func IsStoreName(place string) bool {
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
