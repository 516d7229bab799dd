package sessions

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"rehome/convert/internal/walk"
	"rehome/formats"
	"rehome/formats/session"
	"rehome/internal/closest"
)

// Filter selects sessions of a listing.
type Filter struct {
	Project string // their folder, or one above it; "" = any
	Agent   string // the client or family of clients: cursor-cli, cursor; "" = any
	Since   int64  // changed since, in milliseconds of Unix time; 0 = any
	Limit   int    // max number, newest first; 0 = all
	Empty   bool   // include sessions without turns
}

// Hidden counts what a filter omitted.
type Hidden struct {
	Empty int // without turns
	Other int // of other folders, clients or times
	Older int // beyond the limit
}

// Select returns the sessions that match a filter, in their order, and how many
// do not. Subagents stay with their parents.
func (l *Listing) Select(f Filter) ([]Listed, Hidden) {
	var out []Listed
	var hidden Hidden
	project := NewProject(f.Project)
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

// matches reports whether a session or one of its subagents matches.
func (f *Filter) matches(s *Listed, project Project) bool {
	if project.Contains(s.Workspace) && (f.Agent == "" || s.Agent == f.Agent || clientFamily(s.Agent) == f.Agent) && when(s) >= f.Since {
		return true
	}
	return slices.ContainsFunc(s.Children, func(c *Listed) bool { return f.matches(c, project) })
}

// Project is a folder by which sessions are selected, under each of its names: as
// written, absolute, and without links. Without a name, it is any folder.
type Project []string

// NewProject returns the Project of a folder, "" for any.
func NewProject(dir string) Project {
	if dir == "" {
		return nil
	}
	out := Project{dir}
	if abs, err := filepath.Abs(dir); err == nil {
		out = append(out, abs)
		if real, err := filepath.EvalSymlinks(abs); err == nil {
			out = append(out, real)
		}
	}
	return out
}

// Contains reports whether a session's folder is the project or in it.
func (p Project) Contains(workspace string) bool {
	return len(p) == 0 || workspace != "" && slices.ContainsFunc(p, func(dir string) bool {
		return walk.AtOrBelow(workspace, dir)
	})
}

// SameFolder reports whether two paths name the same folder.
func SameFolder(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	ia, erra := os.Stat(a)
	ib, errb := os.Stat(b)
	return erra == nil && errb == nil && os.SameFile(ia, ib)
}

// MinPrefix is the min number of characters with which Find looks for an id.
const MinPrefix = 4

// Find returns the sessions that a name refers to, newest first: those with
// that id, else those whose id begins so, else those with all of its words in
// their titles.
func (l *Listing) Find(name string) []*Listed {
	var exact, begins, titled []*Listed
	words := strings.Fields(strings.ToLower(name))
	for _, s := range l.All() {
		switch {
		case s.ID == name:
			exact = append(exact, s)
		case len(name) >= MinPrefix && hasIDPrefix(s.ID, name):
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

// maxSimilar is how many sessions Similar returns.
const maxSimilar = 3

// Similar returns the sessions whose ids begin almost like a mistyped name, or
// that have words in their titles that are almost those of the name.
func (l *Listing) Similar(name string) (out []*Listed) {
	all := l.All()
	if len(name) >= MinPrefix && !strings.Contains(name, " ") && strings.ContainsAny(name, "0123456789") { // not a word
		var ids []string
		begins := map[string]*Listed{}
		for _, s := range all {
			for _, id := range []string{s.ID, TrimKind(s.ID)} {
				if id = id[:min(len(id), len(name))]; begins[id] == nil {
					begins[id], ids = s, append(ids, id)
				}
			}
		}
		if id := closest.Of(name, ids); id != "" {
			return []*Listed{begins[id]}
		}
	}
	words := strings.Fields(strings.ToLower(name))
	if len(words) == 0 || len(words) > maxWords {
		return nil
	}
	for _, s := range all {
		title := strings.Fields(s.Title)
		if title = title[:min(len(title), maxWords)]; len(title) == 0 {
			continue
		}
		if !slices.ContainsFunc(words, func(w string) bool { return closest.Of(w, title) == "" }) {
			if out = append(out, s); len(out) == maxSimilar {
				break
			}
		}
	}
	return out
}

// maxWords is how many words of a title Similar compares.
const maxWords = 16

// Agents returns the names that Filter.Agent takes: the known clients,
// those of the listed sessions, and their families.
func (l *Listing) Agents() []string {
	out := slices.Clone(l.clients)
	for _, s := range l.All() {
		if s.Agent != "" {
			out = append(out, s.Agent)
		}
	}
	for _, agent := range out {
		out = append(out, clientFamily(agent))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// All returns all sessions of a listing, subagents after their parents.
func (l *Listing) All() []*Listed {
	return Families(l.Sessions)
}

// Families returns sessions and all below them, subagents after their parents.
func Families(list []Listed) (out []*Listed) {
	for i := range list {
		out = list[i].appendFamily(out)
	}
	return out
}

func (s *Listed) appendFamily(out []*Listed) []*Listed {
	out = append(out, s)
	for _, c := range s.Children {
		out = c.appendFamily(out)
	}
	return out
}

// WithSubagents returns the ids of some sessions and of all below them. Without any, all
// are wanted.
func (l *Listing) WithSubagents(ids []string) []string {
	out := slices.Sorted(slices.Values(ids))
	wanted := session.Selection{IDs: slices.Clone(out), Sorted: true}
	for _, s := range l.All() {
		if wanted.Includes(s.ID) {
			for _, one := range s.appendFamily(nil) {
				out = append(out, one.ID)
			}
		}
	}
	return out
}

// Count returns how many sessions a list has, and how many subagents below them.
func Count(list []Listed) (count, subagents int) {
	return len(list), len((&Listing{Sessions: list}).All()) - len(list)
}

// OnlyInStore reports whether the best store of a session holds no other listed
// one.
func (l *Listing) OnlyInStore(s *Listed) bool {
	for _, other := range l.All() {
		for _, src := range other.Sources {
			if src.Path == s.Sources[0].Path && (other.ID != s.ID || other.Workspace != s.Workspace) {
				return false
			}
		}
	}
	return true
}

// hasIDPrefix reports whether an id has a prefix, with or without its kind. A
// name with an ellipsis, as lists have it, also has the end of the id.
func hasIDPrefix(id, name string) bool {
	id = strings.ToLower(id)
	head, tail, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(name, "...", "…")), "…")
	return (strings.HasPrefix(id, head) || strings.HasPrefix(TrimKind(id), head)) && strings.HasSuffix(id, tail)
}

// TrimKind returns an id without the word that all ids of its kind begin with,
// as in agent-01234567-….
func TrimKind(id string) string {
	word, rest, ok := strings.Cut(id, "-")
	if ok && formats.IsUUID(rest) && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == "" {
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

// shortLengths are the lengths of short ids. The first that is unique is used.
var shortLengths = [...]int{8, 16}

// countPrefixes counts the prefixes of all ids.
func (l *Listing) countPrefixes() {
	l.prefixes = map[string]int{}
	seen := map[string]bool{}
	for _, s := range l.All() {
		for _, n := range shortLengths {
			if short := idPrefix(s.ID, n); short != "" && !seen[s.ID] {
				l.prefixes[short]++
			}
		}
		seen[s.ID] = true
	}
}

// maxShownID is the max length of an id in a table.
const maxShownID = 16

// ShownID returns a short form of an id for a table: ShortID or, if that is long,
// its first and last characters. Find accepts it, but it need not be unique.
func (l *Listing) ShownID(id string) string {
	short := []rune(l.ShortID(id))
	if len(short) <= maxShownID {
		return string(short)
	}
	all := []rune(TrimKind(id))
	return string(all[:8]) + "…" + string(all[len(all)-4:])
}

// ShortID returns a prefix of an id that is unique in the listing. Find accepts
// it.
func (l *Listing) ShortID(id string) string {
	for _, n := range shortLengths {
		if short := idPrefix(id, n); short != "" && l.prefixes[short] < 2 {
			return short
		}
	}
	return id
}

// UniqueID is ShortID, but for ids that begin alike: those are as short as they differ. It looks at all
// sessions, so it is for a few.
func (l *Listing) UniqueID(id string) string {
	if short := l.ShortID(id); short != id {
		return short
	}
	own, n := TrimKind(id), 0
	for _, s := range l.All() {
		if other := TrimKind(s.ID); other != own {
			k := 0
			for k < min(len(own), len(other)) && own[k] == other[k] {
				k++
			}
			n = max(n, k+1)
		}
	}
	return cmp.Or(idPrefix(id, max(n, shortLengths[0])), id)
}

// idPrefix returns the first n bytes of an id without its kind, and what is left of the
// character there; "" if that is all of it.
func idPrefix(id string, n int) string {
	id = TrimKind(id)
	for n < len(id) && !utf8.RuneStart(id[n]) {
		n++
	}
	if n >= len(id) {
		return ""
	}
	return id[:n]
}
