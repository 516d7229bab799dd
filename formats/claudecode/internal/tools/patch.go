package tools

import (
	"slices"
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

// records reports whether the client's record of an edit says the same as a patch that the model
// wrote: the same lines go and come, in the same file.
func (e *edit) records(path string, h udiff.Hunk) bool {
	if e.path != "" && path != "" && e.path != path && !strings.HasSuffix(e.path, "/"+path) {
		return false
	}
	said := changed([]udiff.Hunk{h})
	if len(e.hunks) > 0 && !slices.Equal(said, changed(e.hunks)) {
		return false
	}
	return e.before == nil || e.after == nil || slices.Equal(said, changed(udiff.Between(*e.before, *e.after)))
}

// follow reports whether the client's record of an edit is what the model's own edits, if it
// wrote several, make of the text before.
func (e *edit) follow(docs [][]byte) bool {
	list := cursortools.Find(docs, "edits")
	if len(list) == 0 || list[0] != '[' {
		return true
	}
	older, newer := udiff.Sides(e.hunks)
	if e.before != nil && e.after != nil {
		older, newer = *e.before, *e.after
	}
	for one := range rawjson.Elements(list) {
		from, to := sides(one)
		n := 1
		if string(cursortools.Find([][]byte{one}, "replace_all", "replaceAll")) == "true" {
			n = -1
		}
		older = strings.Replace(older, rawjson.Text(from), rawjson.Text(to), n)
	}
	return older == newer
}

// changed returns the lines that go and come, sorted.
func changed(list []udiff.Hunk) (out []string) {
	for _, h := range list {
		for _, line := range h.Lines {
			if line[0] == '+' || line[0] == '-' {
				out = append(out, line)
			}
		}
	}
	slices.Sort(out)
	return out
}

// sides returns what an edit takes out, and what it puts there.
func sides(e []byte) (from, to []byte) {
	return cursortools.Find([][]byte{e}, "old_string", "oldText", "oldString"), cursortools.Find([][]byte{e}, "new_string", "newText", "newString")
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
		from, to := sides(e)
		if !rawjson.IsText(from) || !rawjson.IsText(to) || len(from) == 2 {
			return "", "", false
		}
		a, b = append(a, rawjson.Text(from)), append(b, rawjson.Text(to))
	}
	return strings.Join(a, "\n"), strings.Join(b, "\n"), len(a) > 0
}
