package gemini

import (
	"context"
	"path"
	"strings"

	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/lineclient"
	"rehome/internal/rawjson"
)

const (
	deleted   = "RH499"
	maxSearch = 8 << 20 // of a file, for something that is said
)

// doomed reports a session that the next start of the client deletes: a file beside it, whose
// name ends with the same eight characters, says nothing. Resuming a session leaves such a file.
func doomed(a *lineclient.Audit, _ *lineclient.Record) {
	name := path.Base(a.File.Path)
	i := strings.LastIndexByte(name, '-')
	if i < 0 || !strings.HasPrefix(name, "session-") || !speaks(a.Store, a.File) {
		return
	}
	for _, f := range a.Store.Files {
		for _, f := range append(f.Older[:len(f.Older):len(f.Older)], f) {
			same := f.Path != a.File.Path && path.Dir(f.Path) == path.Dir(a.File.Path) && strings.HasSuffix(f.Path, name[i:])
			if same && !speaks(a.Store, f) {
				a.Say(deleted, 0, "", "because of %q", path.Base(f.Path))
				return
			}
		}
	}
}

// speaks reports whether somebody says something in a file.
func speaks(s *jsonl.Store, f *jsonl.File) bool {
	for l, err := range s.Lines(context.Background(), f, maxSearch) {
		if err != nil {
			return true
		}
		if says(l.Object) {
			return true
		}
		for _, list := range [][]byte{rawjson.At(l.Object, "$set", "messages"), rawjson.Last(l.Object, "messages")} {
			for b := range rawjson.Elements(list) {
				if says(b) {
					return true
				}
			}
		}
		if l.Offset+int64(len(l.Bytes)) >= maxSearch-1 {
			return true
		}
	}
	return false
}

// says reports whether a message is one by which the client lists a session.
func says(line []byte) bool {
	content := rawjson.Last(line, "content")
	switch rawjson.TextAt(line, "type") {
	case "user":
		kind := userKind(content)
		return kind != "user context" && kind != "user aside"
	case "gemini":
		return words(content) != "" || rawjson.Last(line, "toolCalls") != nil || rawjson.Last(line, "thoughts") != nil
	}
	return false
}
