package sessions

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"rehome/convert/internal/walk"
	"rehome/formats"
)

// walkAll yields the stores below every path of the options. A client's place may
// be missing; a path that the user gave may not.
func (l *lister) walkAll(yield func(storeToRead) bool) error {
	homes, absent := walk.Places(l.reg, l.o.Machine)
	l.clientPlaces, l.out.Absent = map[string]bool{}, absent
	for _, home := range homes {
		l.clientPlaces[home.Real] = true
	}
	if len(l.o.Paths) == 0 {
		for _, home := range homes {
			if loc, err := formats.Locate(home.Path); err == nil {
				l.out.Places = append(l.out.Places, home.Path)
				l.start(loc, yield)
			}
		}
		return nil
	}
	var errs []error
	for _, p := range l.o.Paths {
		loc, err := formats.Locate(p)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		l.out.Places = append(l.out.Places, p)
		before := l.count
		if l.start(loc, yield) && l.count == before && !loc.IsDir() {
			errs = append(errs, &formats.Error{At: p, Err: formats.ErrUnknown, Hint: "run `rehome formats` to list the supported formats"})
		}
	}
	return errors.Join(errs...)
}

// start visits a path, unless it is below one that was visited, and marks it as
// visited.
func (l *lister) start(loc *formats.Location, yield func(storeToRead) bool) bool {
	real := walk.ResolvedPath(loc.Path)
	if isAtOrBelow(real, l.visited) {
		return false
	}
	l.visit(loc, real, yield)
	l.visited[real] = true
	return true
}

// isAtOrBelow reports whether a path or a folder above it is in a set.
func isAtOrBelow(path string, set map[string]bool) bool {
	for ; !set[path]; path = filepath.Dir(path) {
		if path == filepath.Dir(path) {
			return false
		}
	}
	return true
}

// visit yields the stores at and below a path, and lists what cannot be read. It
// reports whether to go on.
//
// real is the resolved path. Links to folders below it are not followed, so two
// walks meet only where one of them started.
func (l *lister) visit(loc *formats.Location, real string, yield func(storeToRead) bool) bool {
	at := func(rel string) string { return filepath.Join(real, filepath.FromSlash(rel)) }
	for it := range walk.Items(l.ctx, l.reg, loc, func(rel string, _ bool) bool { return l.visited[at(rel)] }) {
		if it.Why != walk.Store && len(it.Detected) == 0 {
			l.addSkipped(it, filepath.Join(loc.Path, filepath.FromSlash(it.Rel)), at(it.Rel))
			continue
		}
		nested := walk.Nested(it.Found) // before another goroutine uses the location
		if !yield(storeToRead{number: l.next(), loc: it.Loc, format: it.Detected[0].Format, score: it.Detected[0].Score}) {
			return false
		}
		if nested != nil && !l.visit(nested, filepath.Join(at(it.Rel), nested.Name()), yield) {
			return false
		}
	}
	return true
}

// addSkipped lists what is no store, if users should know. In a client's own
// place, that is everything but what clients keep beside their stores.
func (l *lister) addSkipped(it walk.Item, path, real string) {
	switch {
	case it.Why == walk.Unreadable:
		l.addUnlisted(path, it.Err)
	case it.Why == walk.SessionLike:
		l.out.Unrecognized = append(l.out.Unrecognized, path)
	case it.Why == walk.Misnamed:
		l.addUnlisted(path, errors.New("named like a store, but not of a known format"))
	case it.Why == walk.FolderLink && l.clientPlaces[filepath.Dir(real)] && !isCircular(path, filepath.Dir(real)):
		l.addUnlisted(path, &formats.Error{Err: errors.New("links to folders are not followed"), Hint: "pass the folder it points to"})
	case !isAtOrBelow(real, l.clientPlaces):
	case it.Why == walk.FolderLink || it.Why == walk.DeadLink:
		l.addForeign(l.next(), path, "", errors.New("link not followed"))
	case it.Why == walk.SpecialFile:
		l.addForeign(l.next(), path, "", errors.New("not a regular file"))
	case it.Why == walk.Unclaimed && !isSideFile(l.reg, filepath.Base(path)):
		l.addForeign(l.next(), path, "", errors.New("no known format"))
	}
}

func (l *lister) next() int {
	l.count++
	return l.count
}

// isCircular reports whether a link leads to a folder above it.
func isCircular(link, folder string) bool {
	return walk.AtOrBelow(folder, walk.ResolvedPath(link))
}

func (l *lister) addUnlisted(path string, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unread = append(l.unread, numberedUnread{Unread{path, "", why}, l.next()})
}

// isSideFile reports whether a name is hidden, or one of a file that some client keeps
// next to its stores.
func isSideFile(reg *formats.Registry, name string) bool {
	return strings.HasPrefix(name, ".") || slices.ContainsFunc(reg.All(), func(f *formats.Format) bool {
		return f.Home != nil && slices.ContainsFunc(f.Home.SideFiles, func(end string) bool { return strings.HasSuffix(name, end) })
	})
}
