package cursortools

import (
	"strings"

	"rehome/internal/udiff"
)

// FilePatch is the part of a patch that changes one file.
type FilePatch struct {
	Path string
	Gone bool       // the file is deleted or moved
	Hunk udiff.Hunk // the changed lines; the patch does not say where they are
}

// Patches reads a patch as models write it for a tool that applies one: files have
// headings of three stars, and changed lines have no numbers.
func Patches(text string) (out []FilePatch) {
	var body strings.Builder
	end := func() {
		if len(out) > 0 {
			out[len(out)-1].Hunk = udiff.Chunk(body.String(), 1, 1)
		}
		body.Reset()
	}
	for line := range strings.Lines(text) {
		head, stars := strings.CutPrefix(line, "*** ")
		action, path, _ := strings.Cut(strings.TrimSpace(head), ": ")
		switch {
		case !stars && strings.HasPrefix(line, "@@"):
		case !stars:
			body.WriteString(line)
		case action == "Update File", action == "Add File", action == "Delete File":
			end()
			out = append(out, FilePatch{Path: path, Gone: action == "Delete File"})
		case action == "Move to" && len(out) > 0:
			out[len(out)-1].Gone = true
		}
	}
	end()
	return out
}
