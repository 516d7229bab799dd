package mv

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"rehome/convert/sessions"
	"rehome/formats"
)

// left reports the sessions of the folder that no mover found: their client can be read only.
func (o *Options) left(ctx context.Context, reg *formats.Registry, mv *formats.Moved, out *Report) error {
	listing, err := sessions.List(ctx, reg, sessions.Options{Machine: o.Machine, Folders: sessions.Candidates{Dirs: mv.Old}, OnNotice: o.OnNotice})
	if err != nil {
		return err
	}
	found := func(s sessions.Source) bool {
		f := reg.Lookup(s.Format)
		in := func(path string) bool { // a piece is in the store, or the store in a piece
			sep := string(filepath.Separator)
			return path == s.Path || strings.HasPrefix(s.Path, path+sep) || strings.HasPrefix(path, s.Path+sep)
		}
		return f == nil || f.Mover != nil || !o.wants(f) || slices.ContainsFunc(out.Left, func(l Left) bool { return in(l.Path) }) ||
			slices.ContainsFunc(out.Sessions, func(s Session) bool { return in(s.From) })
	}
	count := map[Left]int{}
	var order []Left
	for _, s := range listing.All() {
		if _, in := mv.Path(s.Workspace); !in || s.Parent != nil || slices.ContainsFunc(s.Sources, found) {
			continue
		}
		l := Left{Client: s.Agent, Path: s.Sources[0].Path}
		if count[l]++; count[l] == 1 {
			order = append(order, l)
		}
	}
	for _, l := range order {
		n := count[l]
		l.Why = fmt.Sprintf("rehome does not write into this store; sessions of the folder: %d", n)
		l.Hint = "`rehome migrate SESSION --cwd NEW` continues one of them in another client"
		out.Left = append(out.Left, l)
	}
	return nil
}
