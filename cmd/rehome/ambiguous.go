package main

import (
	"cmp"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rehome/cmd/rehome/internal/screen"
	"rehome/convert"
	"rehome/formats"
	"rehome/formats/session"
)

// only is the one session that a name means, or the question which one does. A
// copy that rehome made gives way to its origin, and what lies elsewhere to what
// belongs to the working directory; of several with one id that is the newest.
func (h *house) only(l *convert.Listing, name string, found []*convert.Listed) (chosen, error) {
	found = h.originals(found)
	slices.SortStableFunc(found, func(a, b *convert.Listed) int { return cmp.Compare(distance(a), distance(b)) })
	switch {
	case len(found) == 1:
	case oneID(found):
		h.out.say(name + ": of " + string(many(int64(len(found)), "session")) + " with this id, using the one in " + fileOf(h.reg, found[0]))
	case distance(found[0]) > 0 || distance(found[1]) == 0:
		return chosen{}, h.question(l, name, "matches "+string(many(int64(len(found)), "session")), found)
	}
	s := found[0]
	c := chosen{path: s.Sources[0].Path, session: s.ID, folder: s.Workspace}
	switch {
	case l.Alone(s):
		c.session = "" // the store is the session
	case clashes(l, s):
		c.path = fileOf(h.reg, s)
	}
	return c, nil
}

// distance is 0 for a session of the working directory, else 1.
func distance(s *convert.Listed) int {
	if wd, err := os.Getwd(); err == nil && s.Workspace != "" && sameFolder(s.Workspace, wd) {
		return 0
	}
	return 1
}

func oneID(list []*convert.Listed) bool {
	return !slices.ContainsFunc(list, func(s *convert.Listed) bool { return s.ID != list[0].ID })
}

// clashes reports whether the store of a session holds another one of its id.
func clashes(l *convert.Listing, s *convert.Listed) bool {
	n := 0
	for _, other := range l.All() {
		if other.ID == s.ID && other.Sources[0].Path == s.Sources[0].Path {
			n++
		}
	}
	return n > 1
}

// mostCopies is how many further sessions of one, as migrate --again makes them,
// are known by their ids.
const mostCopies = 9

// originals leaves out what is there for another client because it was migrated.
func (h *house) originals(found []*convert.Listed) []*convert.Listed {
	copies := map[string]bool{}
	for _, s := range found {
		for _, f := range h.reg.All() {
			if f.SessionPath == nil || !f.OneSessionPerFile || f.Name == s.Sources[0].Format {
				continue
			}
			head := session.Head{ID: s.ID, Agent: s.Agent}
			for n := 1; n <= mostCopies; n++ {
				if n > 1 {
					head.ID = s.ID + "#" + strconv.Itoa(n)
				}
				at := path.Base(f.SessionPath(&head))
				copies[f.Name+"/"+strings.TrimSuffix(at, path.Ext(at))] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(found), func(s *convert.Listed) bool { return copies[s.Sources[0].Format+"/"+s.ID] })
}

// fileOf is the nearest place that holds a session: its own file, where its
// store is a folder of such.
func fileOf(reg *formats.Registry, s *convert.Listed) string {
	store := s.Sources[0].Path
	f := reg.Lookup(s.Sources[0].Format)
	if f == nil || f.SessionPath == nil {
		return store
	}
	for rel := f.SessionPath(&s.Head); rel != ""; {
		if at := filepath.Join(store, filepath.FromSlash(rel)); there(at) {
			return at
		}
		_, rel, _ = strings.Cut(rel, "/")
	}
	return store
}

// candidate is a session that could be meant, as --json tells it.
type candidate struct {
	Name    string `json:"name"` // that means this one alone
	ID      string `json:"id"`
	Agent   string `json:"agent"`
	Title   string `json:"title,omitempty"`
	Project string `json:"project,omitempty"`
	Path    string `json:"path"`
}

// ambiguous is the error of a name that means no session or several.
type ambiguous struct {
	error
	candidates []candidate
	more       int // that are not among the candidates
}

func (a *ambiguous) Unwrap() error { return a.error }

// mostAsked is how many sessions a question names.
const mostAsked = 10

// question asks which session is meant.
func (h *house) question(l *convert.Listing, at, what string, among []*convert.Listed) error {
	count := map[string]int{}
	for _, s := range among {
		count[s.ID]++
	}
	a := &ambiguous{more: max(0, len(among)-mostAsked)}
	hint := "use an id, or its first characters"
	for _, s := range among[:len(among)-a.more] {
		c := candidate{Name: l.Short(s.ID), ID: s.ID, Agent: s.Agent, Title: s.Title, Project: s.Workspace, Path: fileOf(h.reg, s)}
		if count[s.ID] > 1 { // only its place tells it from another
			c.Name, hint = c.Path+"#"+c.Name, "use PATH#ID"
		}
		a.candidates = append(a.candidates, c)
	}
	if len(among) == 0 {
		hint = "run `rehome ls " + at[:max(0, strings.LastIndex(at, "#"))] + "` to list its sessions"
	}
	a.error = usageError{&formats.Error{At: at, Err: errors.New(what), Hint: hint}}
	return a
}

// Each is the question with a line for each candidate.
func (a *ambiguous) Each() []error {
	out := []error{a.error}
	for _, c := range a.candidates {
		line := "  " + visible(c.Name)
		for _, part := range []string{c.Title, c.Project} {
			if part != "" {
				line += "  " + screen.Cut(visible(part), screen.PageWidth/2)
			}
		}
		out = append(out, errors.New(string(line)))
	}
	if a.more > 0 {
		out = append(out, errors.New("  and "+string(grouped(int64(a.more)))+" more"))
	}
	return out
}
