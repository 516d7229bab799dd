package tools

import (
	"strings"

	"rehome/formats/internal/rawjson"
	"rehome/internal/udiff"
)

// patched reads a patch as models write it for a tool that applies one: files by
// headings of three stars, and changed lines without numbers. false if it is not
// a change to one file.
func patched(docs [][]byte) (path string, h udiff.Hunk, ok bool) {
	var body strings.Builder
	files := 0
	for line := range strings.Lines(patchText(docs)) {
		head, stars := strings.CutPrefix(line, "*** ")
		switch {
		case !stars && strings.HasPrefix(line, "@@"):
		case !stars:
			body.WriteString(line)
		case strings.HasPrefix(head, "Update File: "), strings.HasPrefix(head, "Add File: "):
			_, path, _ = strings.Cut(strings.TrimSpace(head), ": ")
			files++
		case strings.HasPrefix(head, "Delete File: "), strings.HasPrefix(head, "Move to: "):
			return "", h, false
		}
	}
	if files != 1 {
		return "", h, false
	}
	h = udiff.Chunk(body.String(), 1, 1)
	return path, h, len(h.Lines) > 0
}

// patchText is the text of a patch: all that the model wrote, or a member of it.
func patchText(docs [][]byte) string {
	if len(docs[0]) > 0 && docs[0][0] == '"' {
		return rawjson.Text(docs[0])
	}
	return rawjson.Text(find(docs, "patch", "patchContent", "patch_content", "input"))
}

// several are the texts that a model said to take out of a file, and what to put
// there, where it said so of more than one place.
func several(docs [][]byte) (older, newer string, ok bool) {
	list := find(docs, "edits")
	if len(list) == 0 || list[0] != '[' {
		return "", "", false
	}
	var a, b []string
	for e := range rawjson.Elements(list) {
		from, to := find([][]byte{e}, "old_string", "oldText", "oldString"), find([][]byte{e}, "new_string", "newText", "newString")
		if !isText(from) || !isText(to) || len(from) == 2 {
			return "", "", false
		}
		a, b = append(a, rawjson.Text(from)), append(b, rawjson.Text(to))
	}
	return strings.Join(a, "\n"), strings.Join(b, "\n"), len(a) > 0
}
