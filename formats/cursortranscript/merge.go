package cursortranscript

import (
	"path"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/filename"
)

// merge says how two people's copies of a transcript unite: the client appends to it. Its
// lines have neither the id nor the title of the session: a fork has another name.
func merge() *formats.Merge {
	return &formats.Merge{
		Owner: owner,
		Files: []formats.MergeFile{{Name: "*.jsonl"}, {Name: "*.txt", Text: true}},
		Fork: func(id, digest string) string {
			return strings.TrimSuffix(id, bare(id)) + filename.NamedUUID("rehome/cursor-transcript/fork/1\x00", id, digest)
		},
		Rewrite: func(dst, line []byte, _ string, _ map[string]string, _ string) ([]byte, bool) {
			return append(dst, line...), false // an id in it is what somebody said
		},
	}
}

// owner returns the id of the session in the path of a transcript or of one of its
// subagents'; "" if it has none.
func owner(p string) string {
	for _, name := range strings.Split(p, "/") {
		if name = strings.TrimSuffix(name, path.Ext(name)); formats.IsUUID(bare(name)) {
			return name
		}
	}
	return ""
}

// bare returns an id without what the Cursor SDK puts before it.
func bare(id string) string { return strings.TrimPrefix(id, "agent-") }
