package cli

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/convert/sessions"
	"rehome/formats"
)

// pick returns the one session that a name stands for, or the error that lists
// the candidates. Copies that rehome made lose to their originals, and sessions
// elsewhere lose to those of the working directory. If all matches have the
// same id, the newest one wins.
func pick(a *console.App, l *sessions.Listing, name string, found []*sessions.Listed) (source, error) {
	found = withoutCopies(found)
	slices.SortStableFunc(found, func(a, b *sessions.Listed) int { return cmp.Compare(distance(a), distance(b)) })
	switch {
	case len(found) == 1:
	case sameID(found):
		a.Out.Remark(name + ": " + string(screen.Plural(int64(len(found)), "session")) + " have this id; using the one in " + fileOf(a.Reg,
			found[0]))
	case distance(found[0]) > 0 || distance(found[1]) == 0:
		return source{}, newAmbiguous(a, l, name, "matches "+string(screen.Plural(int64(len(found)), "session")), found)
	}
	s := found[0]
	c := source{path: s.Sources[0].Path, file: fileOf(a.Reg, s), session: s.ID, folder: s.Workspace, listing: l}
	switch {
	case l.OnlyInStore(s):
		c.session = "" // the store holds nothing else
	case sharesID(l, s):
		c.path = fileOf(a.Reg, s)
	}
	return c, nil
}

// distance returns 0 for a session of the working directory and 1 for any other.
func distance(s *sessions.Listed) int {
	if wd, err := os.Getwd(); err == nil && s.Workspace != "" && sessions.SameFolder(s.Workspace, wd) {
		return 0
	}
	return 1
}

func sameID(list []*sessions.Listed) bool {
	return !slices.ContainsFunc(list, func(s *sessions.Listed) bool { return s.ID != list[0].ID })
}

// sharesID reports whether the store of s holds another session with its id.
func sharesID(l *sessions.Listing, s *sessions.Listed) bool {
	n := 0
	for _, other := range l.All() {
		if other.ID == s.ID && other.Sources[0].Path == s.Sources[0].Path {
			n++
		}
	}
	return n > 1
}

// withoutCopies removes the copies that rehome made of other matches, except for
// those in the working directory whose originals are elsewhere.
func withoutCopies(found []*sessions.Listed) []*sessions.Listed {
	originals := map[string]int{}
	for _, s := range found {
		originals[s.ID] = distance(s)
	}
	return slices.DeleteFunc(slices.Clone(found), func(s *sessions.Listed) bool {
		d, ok := originals[s.Origin]
		return ok && d <= distance(s)
	})
}

// fileOf returns the most specific path that holds a session: its own file if
// its store is a folder of session files, else the store.
func fileOf(reg *formats.Registry, s *sessions.Listed) string {
	store := s.Sources[0].Path
	f := reg.Lookup(s.Sources[0].Format)
	if f == nil || f.Writer == nil {
		return store
	}
	for rel := f.Writer.Path(&s.Head); rel != ""; {
		if at := filepath.Join(store, filepath.FromSlash(rel)); console.Exists(at) {
			return at
		}
		_, rel, _ = strings.Cut(rel, "/")
	}
	return store
}

// maxCandidates is how many sessions an ambiguousError lists.
const maxCandidates = 10

// newAmbiguous returns the error for a name that matches several sessions.
func newAmbiguous(a *console.App, l *sessions.Listing, name, problem string, matches []*sessions.Listed) error {
	err, hint := newCandidates(a, l, matches), "use one of these ids"
	if slices.ContainsFunc(err.Candidates, func(c console.Candidate) bool { return strings.Contains(c.Name, "#") }) {
		hint = "use one of these paths"
	}
	err.Err = console.Usage(&formats.Error{At: name, Err: errors.New(problem), Hint: hint})
	return err
}

// newUnknown returns the error for a name that matches no session, with those
// that have a similar name. If none has, all of the sessions stand for it.
func newUnknown(a *console.App, l *sessions.Listing, name, problem, hint string, all []*sessions.Listed) *console.AmbiguousError {
	similar := l.Similar(name[strings.LastIndex(name, "#")+1:])
	if len(similar) > 0 {
		all, hint = similar, "did you mean "+l.ShortID(similar[0].ID)+"?"
		if len(similar) > 1 {
			hint = "did you mean one of these?"
		}
	}
	err := newCandidates(a, l, all)
	if len(similar) == 0 && len(all) > 0 && err.More == 0 {
		hint = "use one of these ids"
	}
	err.Err = console.Usage(&formats.Error{At: name, Err: unknownName(problem), Hint: hint})
	return err
}

// unknownName is the problem of a name that matches no session.
type unknownName string

func (u unknownName) Error() string { return string(u) }

func newCandidates(a *console.App, l *sessions.Listing, matches []*sessions.Listed) *console.AmbiguousError {
	count := map[string]int{}
	for _, s := range matches {
		count[s.ID]++
	}
	err := &console.AmbiguousError{More: max(0, len(matches)-maxCandidates)}
	for _, s := range matches[:len(matches)-err.More] {
		c := console.Candidate{Name: l.UniqueID(s.ID), ID: s.ID, Agent: s.Agent, Title: s.Title, Project: s.Workspace, Path: fileOf(a.Reg, s)}
		if count[s.ID] > 1 { // only its path is unique
			c.Name = c.Path + "#" + c.Name
		}
		err.Candidates = append(err.Candidates, c)
	}
	return err
}
