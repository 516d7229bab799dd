package claudecode

import (
	"bytes"
	"path"
	"strings"

	"rehome/formats"
	"rehome/formats/claudecode/internal/shape"
	"rehome/formats/internal/filename"
	"rehome/formats/internal/forks"
	"rehome/formats/internal/object"
	"rehome/internal/rawjson"
)

// merge says how two people's copies of a store unite: the file of a session, and those
// in the folder beside it, are one conversation, to whose end each of them appends.
func merge() *formats.Merge {
	return &formats.Merge{
		Owner: owner,
		Files: []formats.MergeFile{{Name: "history.jsonl", Key: func(line []byte) (string, string) { return string(line), "" }}, {Name: "*.jsonl"}, {Name: "*.json", State: true}},
		Fork: func(id, digest string) string {
			return filename.NamedUUID("rehome/claude-code/fork/1\x00", id, digest)
		},
		Rewrite: rewrite,
		Title:   titleLine,
	}
}

// owner returns the id in the path of a file: of projects/<folder>/<id>.jsonl, or of the
// folder <id> below projects, file-history or tasks.
func owner(p string) string {
	for _, name := range strings.Split(p, "/") {
		name = strings.TrimSuffix(name, path.Ext(name))
		if len(name) > 36 && name[36] == '-' { // todos/<id>-agent-<id>.json
			name = name[:36]
		}
		if formats.IsUUID(name) {
			return name
		}
	}
	return ""
}

// rewrite gives a line to a fork. Output that is too long for a line, and subagents, are
// in files that lines name by their paths: those of the fork are in its own folder.
func rewrite(dst, line []byte, _ string, ids map[string]string, _ string) (out []byte, titled bool) {
	if member := shape.Titles[rawjson.TextAt(line, "type")]; member != "" {
		line, titled = forks.Retitle(line, member, "")
	}
	for id, fork := range ids {
		for _, folder := range []string{"tool-results", "subagents"} {
			for _, sep := range []string{"/", `\\`} { // of paths, in JSON
				line = bytes.ReplaceAll(line, []byte(id+sep+folder+sep), []byte(fork+sep+folder+sep))
			}
		}
	}
	return forks.Rename(dst, line, ids), titled
}

// titleLine returns the line with which a user titles a session.
func titleLine(id, title string) []byte {
	w := object.New(nil)
	w.Text("type", "custom-title")
	w.Text("customTitle", forks.Title(title))
	w.Text("sessionId", id)
	return w.Done()
}
