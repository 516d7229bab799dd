package convert

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
)

// walkAll visits every path that was asked for. A client's own place that is
// not there is nothing to speak of; a path that somebody named is.
func (l *lister) walkAll() error {
	l.homes = map[string]bool{}
	var homes []string
	for _, f := range l.reg.All() {
		if f.DefaultPaths == nil || l.o.Machine.Getenv == nil {
			continue
		}
		for _, p := range f.DefaultPaths(l.o.Machine) {
			real, err := realPath(p)
			if err != nil && !slices.Contains(l.out.Absent, p) {
				l.out.Absent = append(l.out.Absent, p)
			} else if err == nil && !l.homes[real] {
				l.homes[real] = true
				homes = append(homes, p)
			}
		}
	}
	if len(l.o.Paths) == 0 {
		for _, p := range homes {
			if loc, err := formats.Locate(p); err == nil {
				l.out.Places = append(l.out.Places, p)
				l.begin(loc, true)
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
		if l.begin(loc, l.within(p)) && l.count == before && !loc.IsDir() {
			errs = append(errs, &formats.Error{At: p, Err: fmt.Errorf("%w (tried %s)", formats.ErrUnknown, names(l.reg.All())), Hint: "pass the store itself"})
		}
	}
	return errors.Join(errs...)
}

// begin visits a path unless it lies below another one, and remembers that what
// is there has been seen.
func (l *lister) begin(loc *formats.Location, own bool) bool {
	real := cleaned(loc.Path)
	for up := real; ; up = filepath.Dir(up) {
		if l.begun[up] {
			return false
		}
		if up == filepath.Dir(up) {
			break
		}
	}
	l.visit(loc, real, own)
	l.begun[real] = true
	return true
}

// within reports whether a path lies in a client's own place.
func (l *lister) within(path string) bool {
	real, err := realPath(path)
	for err == nil {
		if l.homes[real] {
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

// cleaned is realPath of what is there.
func cleaned(path string) string {
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

// visit looks at a file or folder and hands it to a worker if it is a store;
// else it looks below. own says that it lies in a client's own place, where
// what is no store deserves a word.
//
// real is the place without links. Below it none to a folder is followed, so
// that two walks meet only where one of them began.
func (l *lister) visit(loc *formats.Location, real string, own bool) {
	if l.ctx.Err() != nil || l.begun[real] {
		return
	}
	own = own || l.homes[real]
	if !loc.IsDir() && !loc.IsRegular() {
		if own {
			l.alien(l.next(), loc.Path, "", errors.New("not a regular file"))
		}
		return
	}
	d, err := l.reg.Detect(l.ctx, loc)
	switch {
	case err != nil:
		l.unlisted(loc.Path, err)
	case len(d) > 0 && !(loc.IsDir() && d[0].Score <= formats.Guess):
		beside := besideStore(loc, d[0].Format) // before another goroutine has the location
		l.queue <- listStore{number: l.next(), loc: loc, format: d[0].Format, score: d[0].Score}
		if beside != nil {
			l.visit(beside, filepath.Join(real, beside.Name()), own)
		}
	case loc.IsDir():
		l.descend(loc, real, own)
	default:
		l.strange(loc, own)
	}
}

// strange enters a file that no format recognizes.
func (l *lister) strange(loc *formats.Location, own bool) {
	switch why := judged(loc); {
	case why == sessionish:
		l.out.Unrecognized = append(l.out.Unrecognized, loc.Path)
	case why == misfit:
		l.unlisted(loc.Path, errors.New("named like a store, but not of a known format"))
	case own && !sideFile(loc.Path):
		l.alien(l.next(), loc.Path, "", errors.New("no known format"))
	}
}

func (l *lister) next() int {
	l.count++
	return l.count
}

// besideStore is a folder that a client keeps outside of its stores, where it lies
// inside of one: a project folder is a store, and its transcripts are of other
// clients' sessions, too.
func besideStore(loc *formats.Location, f *formats.Format) *formats.Location {
	if f.ExternalDir == nil || !loc.IsDir() {
		return nil
	}
	name, _ := f.ExternalDir("", "")
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
		l.unlisted(loc.Path, bare(err))
		return
	}
	for s := range entries(l.reg, loc, list) {
		at := filepath.Join(loc.Path, s.name)
		switch {
		case s.why == entered:
			l.visit(s.loc, filepath.Join(real, s.name), own)
		case s.why == broken:
			l.unlisted(at, s.err)
		case s.why == folderLink && l.homes[real] && !circular(at, real):
			l.unlisted(at, &formats.Error{Err: errors.New("links to folders are not followed"), Hint: "pass the folder it points to"})
		case own && (s.why == folderLink || s.why == deadLink):
			l.alien(l.next(), at, "", errors.New("link not followed"))
		}
	}
}

// circular reports a link that leads to a folder above it.
func circular(link, folder string) bool {
	rel, err := filepath.Rel(cleaned(link), folder)
	return err == nil && filepath.IsLocal(rel)
}

func (l *lister) unlisted(path string, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unread = append(l.unread, numbered{Unread{path, "", why}, l.next()})
}

// sideFile reports what belongs to a store that lies beside it: logs of a
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
