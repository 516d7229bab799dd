package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"rehome/cmd/internal/console"
	"rehome/convert"
	"rehome/convert/backup"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/internal/shell"
)

// source is what SRC stands for: a store or a folder of stores, and optionally
// one of its sessions.
type source struct {
	path    string
	file    string            // what holds the session and as little else as possible: path or something in it
	session string            // its id; "" for all sessions
	folder  string            // the session's folder, if the session was found by name
	listing *sessions.Listing // that it was found in, if any
}

// resolve finds what SRC stands for: a path, PATH#NAME for a session below a
// path, or, if there is no such path, a session on this machine. A session is
// named by its id, an id prefix, or words of its title. If live is set, stores
// in use are read in place to find it.
func resolve(a *console.App, src string, live bool) (source, error) {
	if src == "-" || console.Exists(src) {
		src = newestSnapshot(a, src)
		return source{path: src, file: src}, nil
	}
	for at := strings.LastIndex(src, "#"); at > 0; at = strings.LastIndex(src[:at], "#") {
		if console.Exists(src[:at]) {
			return resolveIn(a, src[:at], src[at+1:], live)
		}
	}
	_, missing := formats.Locate(src)
	if missing == nil || strings.HasPrefix(src, ".") || strings.ContainsAny(src, `/\`) {
		return source{}, missing
	}
	listing, err := listAll(a, live)
	if err != nil {
		return source{}, missing // no home folder to search
	}
	found := listing.Find(src)
	if len(found) == 0 {
		return source{}, newUnknown(a, listing, src, "no such file or session"+shortPrefix(src), "run `rehome ls` to list sessions", nil)
	}
	return pick(a, listing, src, found)
}

// resolveSource returns the newest session if last is set, else what src stands for.
func resolveSource(a *console.App, src string, last, live bool) (source, error) {
	if last {
		return newest(a, live)
	}
	return resolve(a, src, live)
}

// typedName returns how a user names a session on the command line: by its short id or,
// if it is not among those of this machine or its id looks like a flag, by its store
// and id.
func typedName(l *sessions.Listing, here bool, store, id string) string {
	name := l.ShortID(id)
	if !here || strings.HasPrefix(name, "-") {
		name = store + "#" + id
	}
	return name
}

// resolveIn finds a session below a path by name.
func resolveIn(a *console.App, path, name string, live bool) (source, error) {
	path = newestSnapshot(a, path)
	listing, err := sessions.List(a.Ctx, a.Reg, sessions.Options{Paths: []string{path}, Live: live, Folders: candidates(a)})
	if err != nil {
		return source{}, err
	}
	found := listing.Find(name)
	innerPath := ""
	if len(found) == 0 && name != "" && !strings.Contains(name, " ") { // an id has no spaces
		innerPath, err = listing.FindInside(a.Ctx, name, live)
	}
	switch {
	case err != nil:
		return source{}, err
	case innerPath != "":
		return source{path: innerPath, file: innerPath, session: name}, nil
	case len(found) > 0:
		return pick(a, listing, name, found)
	case name != "" && len(listing.Sessions) == 0 && len(listing.Unread) > 0:
		return source{path: path, file: path, session: name}, nil // decoding reports whether the session exists
	}
	hint := "run `" + shell.Command("rehome", "ls", path) + "` to list its sessions"
	return source{}, newUnknown(a, listing, path+"#"+name, "no such session"+shortPrefix(name), hint, listing.All())
}

// shortPrefix returns a note for names that are too short to match as an id
// prefix, else "".
func shortPrefix(name string) string {
	if name == "" || len(name) >= sessions.MinPrefix {
		return ""
	}
	return fmt.Sprintf(" (id prefixes need at least %d characters)", sessions.MinPrefix)
}

// newest returns the newest session of the working directory, or of the nearest
// parent folder that has any.
func newest(a *console.App, live bool) (source, error) {
	wd, err := os.Getwd()
	if err != nil {
		return source{}, err
	}
	listing, err := listAll(a, live)
	if err != nil {
		return source{}, err
	}
	for dir := wd; ; dir = filepath.Dir(dir) {
		found, _ := listing.Select(sessions.Filter{Project: dir})
		for i := range found {
			if s := &found[i]; dir == wd || sessions.SameFolder(s.Workspace, dir) {
				return pick(a, listing, s.ID, []*sessions.Listed{s})
			}
		}
		if dir == filepath.Dir(dir) {
			return source{}, &formats.Error{At: wd, Err: errors.New("no session belongs to this folder or its parents"),
				Hint: "run `rehome ls` to list all sessions"}
		}
	}
}

// candidates returns the folders that sessions can belong to: the working directory,
// others, those that were moved, and those in the home folder.
func candidates(a *console.App, dirs ...string) sessions.Candidates {
	m := console.Machine(a.Out.Getenv)
	return sessions.Candidates{Dirs: append(console.WorkingDirs(), dirs...), Moves: convert.Moves(convert.UndoDir(m)), Home: m.Home}
}

// listAll lists every session on this machine.
func listAll(a *console.App, live bool) (*sessions.Listing, error) {
	return (&lsCmd{ReadFlags: console.ReadFlags{Live: live}}).list(a)
}

// newestSnapshot returns the newest snapshot in a folder of backups, and any other path as
// it is.
func newestSnapshot(a *console.App, at string) string {
	newest := backup.Newest(at)
	if newest == "" {
		return at
	}
	a.Out.Remark(at + ": reading its newest snapshot, " + filepath.Base(newest))
	return newest
}
