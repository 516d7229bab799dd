package tools

import (
	"strings"

	"rehome/formats/internal/cursortools"
	"rehome/internal/rawjson"
	"rehome/internal/udiff"
)

// patched returns the change of a patch, see cursortools.Patches; false if it is not a
// change to one file.
func patched(docs [][]byte) (path string, h udiff.Hunk, ok bool) {
	files := cursortools.Patches(patchText(docs))
	if len(files) != 1 || files[0].Gone {
		return "", h, false
	}
	return files[0].Path, files[0].Hunk, len(files[0].Hunk.Lines) > 0
}

// patchText is the text of a patch: all that the model wrote, or a member of it.
func patchText(docs [][]byte) string {
	if len(docs[0]) > 0 && docs[0][0] == '"' {
		return rawjson.Text(docs[0])
	}
	return rawjson.Text(cursortools.Find(docs, "patch", "patchContent", "patch_content", "input"))
}

// several are the texts that a model said to take out of a file, and what to put
// there, where it said so of more than one place.
func several(docs [][]byte) (older, newer string, ok bool) {
	list := cursortools.Find(docs, "edits")
	if len(list) == 0 || list[0] != '[' {
		return "", "", false
	}
	var a, b []string
	for e := range rawjson.Elements(list) {
		from, to := cursortools.Find([][]byte{e}, "old_string", "oldText", "oldString"), cursortools.Find([][]byte{e}, "new_string", "newText", "newString")
		if !isText(from) || !isText(to) || len(from) == 2 {
			return "", "", false
		}
		a, b = append(a, rawjson.Text(from)), append(b, rawjson.Text(to))
	}
	return strings.Join(a, "\n"), strings.Join(b, "\n"), len(a) > 0
}
