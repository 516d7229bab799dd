package sessions

import (
	"context"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// Candidates are the folders that a session can belong to whose store has only a name
// derived from its folder.
type Candidates struct {
	Dirs  []string        // folders: the current one, those of other sessions
	Moves []formats.Moved // folders that were moved: what is in one has another path now
	Home  string          // the folders in it are tried last; "" = none
}

// With returns the candidates with more folders.
func (c Candidates) With(dirs ...string) Candidates {
	c.Dirs = append(slices.Clone(c.Dirs), dirs...)
	return c
}

// Folders finds the folder of sessions: by the path of the store, as clients derive names
// from folders, whatever the session itself says; else by what it states, and last by its
// first prompt. List, show, migrate and convert all use it.
type Folders struct {
	reg   *formats.Registry
	moves []formats.Moved
	home  string

	mu     sync.Mutex
	added  map[string]bool   // the candidates
	hashed map[string]string // candidates by the hashes that clients derive from them
	slugs  map[string]string // by other such names; "" if a name is ambiguous
	walked bool              // those in home were added
}

// NewFolders returns Folders that knows some candidates.
func NewFolders(reg *formats.Registry, c Candidates) *Folders {
	f := &Folders{reg: reg, moves: c.Moves, home: c.Home, added: map[string]bool{}, hashed: map[string]string{}, slugs: map[string]string{}}
	for _, m := range c.Moves {
		f.add(m.New)
	}
	for _, dir := range c.Dirs {
		f.add(dir)
	}
	return f
}

// add adds a candidate, and the path that it has now if it was moved.
func (f *Folders) add(dir string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.put(dir)
	for _, m := range f.moves {
		if to, in := m.Path(dir); in {
			f.put(to)
		}
	}
}

func (f *Folders) put(dir string) {
	if dir == "" || f.added[dir] {
		return
	}
	f.added[dir] = true
	f.hash(dir)
	for _, of := range f.reg.All() {
		if of.Home == nil || of.Home.Slug == nil {
			continue
		}
		name := of.Home.Slug(dir)
		if was, ok := f.slugs[name]; ok && filepath.Clean(was) != filepath.Clean(dir) {
			f.slugs[name] = "" // it is derived from both
			continue
		}
		f.slugs[name] = dir
	}
}

// hash adds the hashes of a candidate.
func (f *Folders) hash(dir string) {
	for _, of := range f.reg.All() {
		if of.Home != nil && of.Home.Hash != nil {
			f.hashed[of.Home.Hash(dir)] = dir
		}
	}
}

// The folders in a home folder that are tried.
const (
	maxHomeFolders = 20_000
	maxHomeDepth   = 6
)

// ofHash returns the folder with a hash, "" if unknown. If no other candidate has it, it
// tries the folders in the home folder: their other names would be ambiguous.
func (f *Folders) ofHash(hash string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if hash != "" && f.hashed[hash] == "" && !f.walked && f.home != "" {
		f.walked = true
		for _, dir := range Subfolders(f.home, maxHomeFolders, maxHomeDepth) {
			if !f.added[dir] {
				f.hash(dir)
			}
		}
	}
	return f.hashed[hash]
}

// Subfolders returns a folder and those below it, the nearest first, but for hidden ones
// and those with packages.
func Subfolders(root string, limit, depth int) []string {
	out := []string{root}
	for from := 0; depth > 0 && from < len(out); depth-- {
		level := out[from:]
		from = len(out)
		for _, dir := range level {
			list, _ := os.ReadDir(dir) // what cannot be read has no candidates
			for _, e := range list {
				switch {
				case !e.IsDir() || strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules":
				case len(out) == limit:
					return out
				default:
					out = append(out, filepath.Join(dir, e.Name()))
				}
			}
		}
	}
	return out
}

// slugName returns the last two elements of a path: projects/home-ann-app.
func slugName(at string) string {
	return path.Join(filepath.Base(filepath.Dir(at)), filepath.Base(at))
}

// maxFoldersAbove is how many folders above a store can be named after its
// workspace.
const maxFoldersAbove = 4

// ofPath returns the folder that the path of a store is named after, "" if
// unknown.
func (f *Folders) ofPath(at string) string {
	hash := f.hashAbove(at)
	f.mu.Lock()
	defer f.mu.Unlock()
	if dir := f.hashed[hash]; dir != "" {
		return dir
	}
	for at := range above(at) {
		if dir := f.slugs[slugName(at)]; dir != "" {
			return dir
		}
	}
	return ""
}

// above yields a path and the nearest folders above it.
func above(at string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if abs, err := filepath.Abs(at); err == nil {
			at = abs
		}
		for range maxFoldersAbove {
			if !yield(at) {
				return
			}
			at = filepath.Dir(at)
		}
	}
}

// hashAbove returns the nearest element of a path that can be the hash of a folder.
func (f *Folders) hashAbove(at string) string {
	for at := range above(at) {
		name := filepath.Base(at)
		if f.matches(func(h *formats.Home) bool { return h.IsHash != nil && h.IsHash(name) }) {
			return name
		}
	}
	return ""
}

// isHashOf reports whether some client names a folder hash for dir.
func (f *Folders) isHashOf(hash, dir string) bool {
	return dir != "" && f.matches(func(h *formats.Home) bool { return h.Hash != nil && h.Hash(dir) == hash })
}

// matches reports whether the home of some client satisfies a condition.
func (f *Folders) matches(is func(*formats.Home) bool) bool {
	return slices.ContainsFunc(f.reg.All(), func(of *formats.Format) bool { return of.Home != nil && is(of.Home) })
}

// movedTo returns the folder whose sessions a client looks for where a store is, if that is
// known and is not the one that its session names.
func (f *Folders) movedTo(at, named string) string {
	hash := f.hashAbove(at)
	if hash == "" || f.isHashOf(hash, named) {
		return ""
	}
	for _, m := range f.moves {
		if to, in := m.Path(named); in && f.isHashOf(hash, to) {
			return to
		}
	}
	return f.ofHash(hash)
}

// Decode is of.Decode with the folders of sessions that do not state theirs. A
// subagent has the folder of its parent.
func (f *Folders) Decode(ctx context.Context, of *formats.Format, l *formats.Location, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
	return f.DecodeAt(ctx, of, l, l.Path, v, sel)
}

// DecodeAt is Decode for a store at path at, of which l can be a copy.
func (f *Folders) DecodeAt(ctx context.Context, of *formats.Format, l *formats.Location, at string, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
	return func(yield func(*session.Session, error) bool) {
		seen := map[string]string{}
		for s, err := range of.Sessions.Decode(ctx, l, v, sel) {
			if s != nil && err == nil && v.Cwd == "" {
				dir, why := f.folderOf(s, at, seen, func() string { return promptFolder(ctx, of, l, v, s.ID) })
				if why != "" {
					v.OnLoss.Add(loss.Loss{Code: why, At: store.Addr{File: s.ID}})
				}
				if dir != s.Workspace {
					there := *s
					there.Workspace, s = dir, &there
				}
			}
			if s != nil {
				seen[s.ID] = s.Workspace
			}
			if !yield(s, err) {
				return
			}
		}
	}
}

// folderOf returns the folder of a session of the store at path at, and how it was found if
// the session does not state it. seen has the folders of sessions before it.
func (f *Folders) folderOf(s *session.Session, at string, seen map[string]string, prompt func() string) (string, loss.Code) {
	if s.Workspace != "" {
		if dir := f.movedTo(at, s.Workspace); dir != "" {
			return dir, loss.FolderMoved
		}
		return s.Workspace, ""
	}
	if s.Parent != nil {
		return seen[s.Parent.Session], ""
	}
	if dir := f.ofPath(at); dir != "" {
		return dir, loss.FolderFromStore
	}
	named := prompt()
	if dir := f.movedTo(at, named); dir != "" {
		return dir, loss.FolderFromStore
	}
	if named == "" {
		return "", ""
	}
	return named, loss.FolderFromPrompt
}

// promptFolder returns the folder that a session names up to its first prompt,
// "" if none.
func promptFolder(ctx context.Context, of *formats.Format, l *formats.Location, v formats.View, id string) string {
	quiet := formats.FullView(1)
	quiet.Live = v.Live
	for s, err := range of.Sessions.Decode(ctx, l, quiet, session.Selection{IDs: []string{id}}) {
		if err != nil || s == nil || s.ID != id {
			continue
		}
		if s.Workspace != "" {
			return s.Workspace
		}
		return firstFolder(s)
	}
	return ""
}

// maxLeadingMessages is how many messages a client can insert before the first
// prompt.
const maxLeadingMessages = 16

// The tag in which clients describe the user's machine, and the line in it that
// names the folder.
const (
	machineTag = "user_info"
	folderLine = "Workspace Path:"
)

func firstFolder(s *session.Session) string {
	if s.Messages == nil {
		return ""
	}
	n := 0
	for m, err := range s.Messages {
		if n++; err != nil || n > maxLeadingMessages {
			return ""
		}
		if m.Role != session.User {
			continue
		}
		for _, p := range m.Parts {
			in, ok := p.(*session.Injected)
			if !ok || in.Tag != machineTag {
				continue
			}
			for line := range strings.Lines(in.Text) {
				if dir, ok := strings.CutPrefix(strings.TrimSpace(line), folderLine); ok {
					return absoluteFolder(strings.TrimSpace(dir))
				}
			}
		}
		if m.Turn != nil && !m.Simulated {
			return ""
		}
	}
	return ""
}

// absoluteFolder returns dir if it is absolute on some system, else "".
func absoluteFolder(dir string) string {
	windows := len(dir) > 2 && dir[1] == ':' && (dir[2] == '\\' || dir[2] == '/')
	if !strings.HasPrefix(dir, "/") && !strings.HasPrefix(dir, `\\`) && !windows {
		return ""
	}
	return dir
}
