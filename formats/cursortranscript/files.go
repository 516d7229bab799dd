package cursortranscript

import (
	"cmp"
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/transcript"
	"rehome/formats/session"
)

// layout finds the transcripts of a folder, parents before their children, which are
// where their parent would be if it is not there.
func layout(l *formats.Location) jsonl.Layout {
	within := within(l)
	return jsonl.Layout{
		Format: name,
		Enter:  func(dir string) bool { return strings.Count(path.Join(within, dir), "/") <= 2 },
		Match: func(p string, _ bool) (jsonl.File, bool) {
			t, ok := transcript.Named(path.Join(within, p))
			if !ok && !strings.Contains(p, "/") && strings.Count(within, "/") > 2 { // it needs no place of its own
				t, ok = transcript.Named(path.Join(transcript.Folder, p))
			}
			return jsonl.File{ID: t.Name, Link: session.Link{Session: t.Parent}}, ok
		},
		Compare: func(a, b *jsonl.File) int { return slices.Compare(key(a), key(b)) },
		Better:  func(_ *jsonl.Store, a, b *jsonl.File) bool { return rank(a) < rank(b) },
	}
}

// within returns the path of a store from the folder of transcripts on.
func within(l *formats.Location) string {
	dir := l.Path
	if !l.IsDir() {
		dir = filepath.Dir(dir)
	}
	rel, _ := inside(dir)
	return cmp.Or(rel, transcript.Folder)
}

func key(f *jsonl.File) []string {
	if f.Link.Session != "" {
		return []string{f.Link.Session, f.ID}
	}
	return []string{f.ID}
}

// rank orders the files of one session, the best first.
func rank(f *jsonl.File) int {
	n := 0
	if isText(f) {
		n = 2
	}
	if dir := path.Dir(f.Path); dir == "." || path.Base(dir) == transcript.Folder {
		n++
	}
	return n
}

// isText reports whether a file is in the old form, which is not lines of JSON.
func isText(f *jsonl.File) bool { return path.Ext(f.Path) == ".txt" }

// agent returns the client whose session this is, as far as its name states it.
func agent(f *jsonl.File) string {
	if strings.HasPrefix(f.ID, "agent-") || strings.HasPrefix(f.Link.Session, "agent-") {
		return session.CursorSDK
	}
	return session.CursorCLI
}

// scan searches the transcripts.
func scan(ctx context.Context, l *formats.Location, _ formats.View, s *formats.Scan) error {
	return jsonl.Scan(ctx, l, layout(l), s, nil)
}
