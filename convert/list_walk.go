package convert

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
)

// walkAll visits every path of the options. A client's place may be missing; a
// path that the user gave may not.
func (l *lister) walkAll() error {
	l.clientPlaces = map[string]bool{}
	var homes []string
	for _, f := range l.reg.All() {
		if f.Home == nil || l.o.Machine.Getenv == nil {
			continue
		}
		for _, p := range f.Home.Roots(l.o.Machine) {
			real, err := realPath(p)
			if err != nil && !slices.Contains(l.out.Absent, p) {
				l.out.Absent = append(l.out.Absent, p)
			} else if err == nil && !l.clientPlaces[real] {
				l.clientPlaces[real] = true
				homes = append(homes, p)
			}
		}
	}
	if len(l.o.Paths) == 0 {
		for _, p := range homes {
			if loc, err := formats.Locate(p); err == nil {
				l.out.Places = append(l.out.Places, p)
				l.start(loc, true)
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
		if l.start(loc, l.inClientPlace(p)) && l.count == before && !loc.IsDir() {
			errs = append(errs, &formats.Error{At: p, Err: formats.ErrUnknown, Hint: "run `rehome formats` to list the supported formats"})
		}
	}
	return errors.Join(errs...)
}

// start visits a path, unless it is below one that was visited, and marks it as
// visited.
func (l *lister) start(loc *formats.Location, own bool) bool {
	real := resolvedPath(loc.Path)
	for up := real; ; up = filepath.Dir(up) {
		if l.visited[up] {
			return false
		}
		if up == filepath.Dir(up) {
			break
		}
	}
	l.visit(loc, real, own)
	l.visited[real] = true
	return true
}

// inClientPlace reports whether a path is in a client's own place.
func (l *lister) inClientPlace(path string) bool {
	real, err := realPath(path)
	for err == nil {
		if l.clientPlaces[real] {
			return true
		}
		up := filepath.Dir(real)
		if up == real {
			break
		}
		real = up
	}
	return false
}

// resolvedPath is realPath for paths that exist.
func resolvedPath(path string) string {
	real, err := realPath(path)
	if err != nil {
		return filepath.Clean(path)
	}
	return real
}

func realPath(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(real)
}

// visit passes a file or folder to a worker if it is a store; else it visits
// what is below. own says that it is in a client's own place, where other files
// are reported.
//
// real is the resolved path. Links to folders below it are not followed, so two
// walks meet only where one of them started.
func (l *lister) visit(loc *formats.Location, real string, own bool) {
	if l.ctx.Err() != nil || l.visited[real] {
		return
	}
	own = own || l.clientPlaces[real]
	if !loc.IsDir() && !loc.IsRegular() {
		if own {
			l.addForeign(l.next(), loc.Path, "", errors.New("not a regular file"))
		}
		return
	}
	d, err := l.reg.Detect(l.ctx, loc)
	switch {
	case err != nil:
		l.addUnlisted(loc.Path, err)
	case len(d) > 0 && !(loc.IsDir() && d[0].Score <= formats.Guess):
		beside := nestedFolder(loc, d[0].Format) // before another goroutine uses the location
		l.queue <- storeToRead{number: l.next(), loc: loc, format: d[0].Format, score: d[0].Score}
		if beside != nil {
			l.visit(beside, filepath.Join(real, beside.Name()), own)
		}
	case loc.IsDir():
		l.descend(loc, real, own)
	default:
		l.addUnknown(loc, own)
	}
}

// addUnknown adds a file that no format recognizes.
func (l *lister) addUnknown(loc *formats.Location, own bool) {
	switch why := classify(loc); {
	case why == sessionLike:
		l.out.Unrecognized = append(l.out.Unrecognized, loc.Path)
	case why == misnamed:
		l.addUnlisted(loc.Path, errors.New("named like a store, but not of a known format"))
	case own && !sideFile(loc.Path):
		l.addForeign(l.next(), loc.Path, "", errors.New("no known format"))
	}
}

func (l *lister) next() int {
	l.count++
	return l.count
}

// nestedFolder returns the folder that a client keeps outside of its stores, if
// it is inside of one: a project folder is a store, and its transcripts include
// other clients' sessions.
func nestedFolder(loc *formats.Location, f *formats.Format) *formats.Location {
	if f.Home == nil || f.Home.External == nil || !loc.IsDir() {
		return nil
	}
	name, _ := f.Home.External("", "")
	if !loc.Has(name) {
		return nil
	}
	next, err := formats.Locate(filepath.Join(loc.Path, name))
	if err != nil || !next.IsDir() {
		return nil
	}
	return next
}

func (l *lister) descend(loc *formats.Location, real string, own bool) {
	list, err := os.ReadDir(loc.Path)
	if err != nil {
		l.addUnlisted(loc.Path, formats.Cause(err))
		return
	}
	for s := range entries(l.reg, loc, list) {
		at := filepath.Join(loc.Path, s.name)
		switch {
		case s.why == entered:
			l.visit(s.loc, filepath.Join(real, s.name), own)
		case s.why == broken:
			l.addUnlisted(at, s.err)
		case s.why == folderLink && l.clientPlaces[real] && !isCircular(at, real):
			l.addUnlisted(at, &formats.Error{Err: errors.New("links to folders are not followed"), Hint: "pass the folder it points to"})
		case own && (s.why == folderLink || s.why == deadLink):
			l.addForeign(l.next(), at, "", errors.New("link not followed"))
		}
	}
}

// isCircular reports whether a link leads to a folder above it.
func isCircular(link, folder string) bool {
	rel, err := filepath.Rel(resolvedPath(link), folder)
	return err == nil && filepath.IsLocal(rel)
}

func (l *lister) addUnlisted(path string, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unread = append(l.unread, numberedUnread{Unread{path, "", why}, l.next()})
}

// sideFile reports whether a file belongs to a store beside it: logs of a
// database, and what clients write about a chat.
func sideFile(path string) bool {
	name := filepath.Base(path)
	for _, end := range []string{"-wal", "-shm", "-journal", ".json", ".options.json"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return strings.HasPrefix(name, ".") || formats.IsSidecar(name)
}
