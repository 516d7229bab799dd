package convert

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"iter"
	"path"
	"path/filepath"
	"strings"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// Folders finds out which folder a session works in whose store does not say:
// by where the store lies, for clients name folders of theirs after it, and by
// what the session's first prompt says. Listing, showing, migrating and
// converting all ask here.
type Folders struct {
	reg   *formats.Registry
	known map[string]string // folders by the names that clients make of them; "" for a name of several
}

// NewFolders knows some folders, to begin with.
func NewFolders(reg *formats.Registry, dirs ...string) *Folders {
	f := &Folders{reg, map[string]string{}}
	for _, dir := range dirs {
		f.enter(dir)
	}
	return f
}

// enter adds a folder to those that are known.
func (f *Folders) enter(dir string) {
	if dir == "" {
		return
	}
	sum := md5.Sum([]byte(dir))
	hash := hex.EncodeToString(sum[:])
	if f.known[hash] != "" {
		return
	}
	f.known[hash] = dir
	for _, of := range f.reg.All() {
		if of.ExternalDir == nil {
			continue
		}
		_, at := of.ExternalDir("", dir)
		name := slugName(filepath.Dir(at))
		if was, ok := f.known[name]; ok && filepath.Clean(was) != filepath.Clean(dir) {
			dir = "" // the name is that of both
		}
		f.known[name] = dir
	}
}

// slugName is a folder with the one that it lies in: projects/home-ann-app.
func slugName(at string) string {
	return path.Join(filepath.Base(filepath.Dir(at)), filepath.Base(at))
}

// around is how many folders above a store can be named after a workspace.
const around = 4

// lies is the folder that the place of a store stands for, "" if none is known.
func (f *Folders) lies(at string) string {
	if abs, err := filepath.Abs(at); err == nil {
		at = abs
	}
	for range around {
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

// hashAbove is the nearest part of a path that can be an MD5.
func hashAbove(at string) string {
	if abs, err := filepath.Abs(at); err == nil {
		at = abs
	}
	for range around {
		name := filepath.Base(at)
		if len(name) == 2*md5.Size && strings.Trim(name, "0123456789abcdef") == "" {
			return name
		}
		at = filepath.Dir(at)
	}
	return ""
}

// isHashOf reports whether a hash is that of a folder.
func isHashOf(hash, dir string) bool {
	sum := md5.Sum([]byte(dir))
	return dir != "" && hex.EncodeToString(sum[:]) == hash
}

// moved reports a store that lies where a client looks for sessions of a known
// folder other than the one that its session states.
func (f *Folders) moved(at, states string) bool {
	hash := hashAbove(at)
	return hash != "" && f.known[hash] != "" && !isHashOf(hash, states)
}

// Decode is of.Decode, with the folders of sessions that do not state theirs. A
// subagent works where its parent does.
func (f *Folders) Decode(ctx context.Context, of *formats.Format, l *formats.Location, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
	return f.decode(ctx, of, l, l.Path, v, sel)
}

// decode is Decode of a store that lies at a place of which this is a copy.
func (f *Folders) decode(ctx context.Context, of *formats.Format, l *formats.Location, at string, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
	return func(yield func(*session.Session, error) bool) {
		seen := map[string]string{}
		for s, err := range of.Decode(ctx, l, v, sel) {
			if s != nil && err == nil && (s.Workspace == "" || f.moved(at, s.Workspace)) {
				dir, why := "", loss.Code("")
				if s.Workspace != "" {
					dir, why = f.known[hashAbove(at)], loss.FolderMoved
				} else if s.Parent != nil {
					dir = seen[s.Parent.Session]
				} else if dir = f.lies(at); dir != "" {
					why = loss.FolderFromStore
				} else if dir = prompted(ctx, of, l, v, s.ID); dir != "" {
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

// prompted is the folder that a session names when it is read to its first
// prompt, "" if it names none.
func prompted(ctx context.Context, of *formats.Format, l *formats.Location, v formats.View, id string) string {
	quiet := wholeView(1)
	quiet.Live = v.Live
	for s, err := range of.Decode(ctx, l, quiet, session.Selection{IDs: []string{id}}) {
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

// mostLead is how many messages a client can put in front of the first prompt.
const mostLead = 16

// The tag in which clients tell the model about the user's machine, and the line
// in it that names the folder.
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
		if n++; err != nil || n > mostLead {
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

// absoluteFolder is a path that is absolute on some machine, "" for another.
func absoluteFolder(dir string) string {
	windows := len(dir) > 2 && dir[1] == ':' && (dir[2] == '\\' || dir[2] == '/')
	if !strings.HasPrefix(dir, "/") && !strings.HasPrefix(dir, `\\`) && !windows {
		return ""
	}
	return dir
}
