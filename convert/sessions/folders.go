package sessions

import (
	"context"
	"iter"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// Folders finds the folder of sessions whose store does not name it: by the
// path of the store, as clients derive folder names from it, and by the
// session's first prompt. List, show, migrate and convert all use it.
type Folders struct {
	reg   *formats.Registry
	added map[string]bool   // the candidates
	known map[string]string // candidates by the names that clients derive from them; "" if a name is ambiguous
}

// NewFolders returns Folders that knows some candidates.
func NewFolders(reg *formats.Registry, dirs ...string) *Folders {
	f := &Folders{reg, map[string]bool{}, map[string]string{}}
	for _, dir := range dirs {
		f.add(dir)
	}
	return f
}

// add adds a candidate.
func (f *Folders) add(dir string) {
	if dir == "" || f.added[dir] {
		return
	}
	f.added[dir] = true
	for _, of := range f.reg.All() {
		if of.Home == nil {
			continue
		}
		if of.Home.Hash != nil {
			f.known[of.Home.Hash(dir)] = dir
		}
		if of.Home.Slug == nil {
			continue
		}
		name := of.Home.Slug(dir)
		if was, ok := f.known[name]; ok && filepath.Clean(was) != filepath.Clean(dir) {
			f.known[name] = "" // it is derived from both
			continue
		}
		f.known[name] = dir
	}
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
	if abs, err := filepath.Abs(at); err == nil {
		at = abs
	}
	for range maxFoldersAbove {
		if dir := f.known[filepath.Base(at)]; dir != "" {
			return dir
		}
		if dir := f.known[slugName(at)]; dir != "" {
			return dir
		}
		at = filepath.Dir(at)
	}
	return ""
}

// hashAbove returns the nearest element of a path that can be the hash of a folder.
func (f *Folders) hashAbove(at string) string {
	if abs, err := filepath.Abs(at); err == nil {
		at = abs
	}
	for range maxFoldersAbove {
		name := filepath.Base(at)
		if f.matches(func(h *formats.Home) bool { return h.IsHash != nil && h.IsHash(name) }) {
			return name
		}
		at = filepath.Dir(at)
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

// moved reports whether a store is where a client looks for sessions of a known
// folder other than the one that its session states.
func (f *Folders) moved(at, states string) bool {
	hash := f.hashAbove(at)
	return hash != "" && f.known[hash] != "" && !f.isHashOf(hash, states)
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
			if s != nil && err == nil && (s.Workspace == "" || f.moved(at, s.Workspace)) {
				dir, why := "", loss.Code("")
				if s.Workspace != "" {
					dir, why = f.known[f.hashAbove(at)], loss.FolderMoved
				} else if s.Parent != nil {
					dir = seen[s.Parent.Session]
				} else if dir = f.ofPath(at); dir != "" {
					why = loss.FolderFromStore
				} else if dir = promptFolder(ctx, of, l, v, s.ID); dir != "" {
					why = loss.FolderFromPrompt
				}
				if why != "" {
					v.OnLoss.Add(loss.Loss{Code: why, At: store.Addr{File: s.ID}})
				}
				if dir != "" {
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
