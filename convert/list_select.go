package convert

import (
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats/session"
)

// ListFilter says which sessions of a listing are wanted.
type ListFilter struct {
	Project string // the folder they belong to, or one above it; "" = any
	Agent   string // the client, or the family of clients: cursor-cli, cursor; "" = any
	Since   int64  // not older than this moment, in milliseconds of Unix time; 0 = any
	Limit   int    // the newest so many; 0 = all
	Empty   bool   // sessions in which nothing was ever said, too
}

// Hidden counts what a filter left out.
type Hidden struct {
	Empty int // nothing was ever said in them
	Other int // of other projects, clients or times
	Older int // beyond the limit
}

// Select is the wanted part of a listing, in its order. Subagents come and go
// with their parents.
func (l *Listing) Select(f ListFilter) ([]Listed, Hidden) {
	var out []Listed
	var hidden Hidden
	project := folders(f.Project)
	for _, s := range l.Sessions {
		switch {
		case !f.Empty && s.Empty && len(s.Children) == 0:
			hidden.Empty++
		case !f.matches(&s, project):
			hidden.Other++
		case f.Limit > 0 && len(out) == f.Limit:
			hidden.Older++
		default:
			out = append(out, s)
		}
	}
	return out, hidden
}

// matches reports whether a session or one of its subagents is wanted.
func (f *ListFilter) matches(s *Listed, project []string) bool {
	here := len(project) == 0
	for _, dir := range project {
		here = here || below(s.Workspace, dir)
	}
	if here && (f.Agent == "" || s.Agent == f.Agent || family(s.Agent) == f.Agent) && when(s) >= f.Since {
		return true
	}
	for _, c := range s.Children {
		if f.matches(c, project) {
			return true
		}
	}
	return false
}

// folders are the names that a folder has: as it is called, and without links.
func folders(dir string) []string {
	if dir == "" {
		return nil
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return []string{dir}
	}
	out := []string{abs}
	if real, err := filepath.EvalSymlinks(abs); err == nil && real != abs {
		out = append(out, real)
	}
	return out
}

func below(path, dir string) bool {
	if path == "" {
		return false
	}
	rel, err := filepath.Rel(dir, filepath.Clean(path))
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

// ShortestName is how many characters of an id name it to Named at least.
const ShortestName = 4

// Named are the sessions that a name means, newest first: the one of that id,
// else those whose id begins so, else those with all of its words in their
// titles. More than one is a question to ask back.
func (l *Listing) Named(name string) []*Listed {
	var exact, begins, titled []*Listed
	words := strings.Fields(strings.ToLower(name))
	for _, s := range l.All() {
		switch {
		case s.ID == name:
			exact = append(exact, s)
		case len(name) >= ShortestName && beginsWith(s.ID, name):
			begins = append(begins, s)
		case len(words) > 0 && hasWords(strings.ToLower(s.Title), words):
			titled = append(titled, s)
		}
	}
	for _, list := range [][]*Listed{exact, begins} {
		if len(list) > 0 {
			return list
		}
	}
	return titled
}

// Agents are the names that ListFilter.Agent takes: those of the clients that
// are known and of the sessions of the listing, and of their families.
func (l *Listing) Agents() []string {
	out := []string{session.CursorCLI, session.CursorSDK, session.CursorIDE, session.ClaudeCode, session.Codex}
	for _, s := range l.All() {
		if s.Agent != "" {
			out = append(out, s.Agent)
		}
	}
	for _, agent := range out {
		out = append(out, family(agent))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// All are the sessions of a listing, subagents behind their parents.
func (l *Listing) All() []*Listed {
	var out []*Listed
	var enter func(s *Listed)
	enter = func(s *Listed) {
		out = append(out, s)
		for _, c := range s.Children {
			enter(c)
		}
	}
	for i := range l.Sessions {
		enter(&l.Sessions[i])
	}
	return out
}

// Alone reports whether the best store of a session holds no other one that is
// listed.
func (l *Listing) Alone(s *Listed) bool {
	for _, other := range l.All() {
		for _, src := range other.Sources {
			if src.Path == s.Sources[0].Path && (other.ID != s.ID || other.Workspace != s.Workspace) {
				return false
			}
		}
	}
	return true
}

// beginsWith compares the beginning of an id, or of what follows its word.
func beginsWith(id, name string) bool {
	id, name = strings.ToLower(id), strings.ToLower(name)
	return strings.HasPrefix(id, name) || strings.HasPrefix(afterWord(id), name)
}

// afterWord is an id without the word that all ids of its kind begin with:
// agent-01234567-….
func afterWord(id string) string {
	const uuid = 36
	word, rest, ok := strings.Cut(id, "-")
	if ok && len(rest) == uuid && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == "" {
		return rest
	}
	return id
}

func hasWords(title string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(title, w) {
			return false
		}
	}
	return true
}

// lengths of short ids, of which the first that tells one from the others is
// taken.
var lengths = [...]int{8, 16}

// count remembers the beginnings of all ids.
func (l *Listing) count() {
	l.begin = map[string]int{}
	seen := map[string]bool{}
	for _, s := range l.All() {
		for _, n := range lengths {
			if id := afterWord(s.ID); len(id) > n && !seen[s.ID] {
				l.begin[id[:n]]++
			}
		}
		seen[s.ID] = true
	}
}

// Short is the beginning of an id that tells it from all other ids of a
// listing. It is a name that Named takes.
func (l *Listing) Short(id string) string {
	rest := afterWord(id)
	for _, n := range lengths {
		if len(rest) > n && l.begin[rest[:n]] < 2 {
			return rest[:n]
		}
	}
	return id
}
