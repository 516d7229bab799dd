package walk

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
)

// classify returns why a file that no format recognizes is skipped. It may be
// of an unknown client or version, and is reported then. With a client's own
// name, but without a line that looks like a session, it is a corrupt store.
func classify(reg *formats.Registry, l *formats.Location) Reason {
	named, lines := IsStoreName(reg, l.Path), slices.Contains([]string{".jsonl", ".ndjson"}, strings.ToLower(filepath.Ext(l.Path)))
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

// IsStoreName reports whether only clients' stores have this name in this
// place.
func IsStoreName(reg *formats.Registry, path string) bool {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return slices.ContainsFunc(reg.All(), func(f *formats.Format) bool { return f.IsStoreName != nil && f.IsStoreName(path) })
}
