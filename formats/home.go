package formats

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Home is where a client keeps its stores, and what it does with them there.
type Home struct {
	// Title is the name of the client for people, such as "Claude Code". It is set if
	// Resume, Code or Folder is.
	Title string

	// Resume is the command that continues a session, without the id of the session at
	// its end. The client runs it in the session's folder. nil: there is none.
	Resume []string

	// Import is how the client takes in what was written for it. nil: it reads the files where
	// they are.
	Import *Import

	// Code returns the code that continues a session, where a program does it with the
	// client's library. nil: no program can.
	Code func(id, cwd string) string

	// Summarizes is from about how many tokens on the client replaces a session by a
	// summary before it continues it. 0: it never does, or it is not known.
	Summarizes int64

	// Variable is the environment variable that names the folder in which the client
	// keeps everything, instead of the one in the home folder. "": there is none.
	Variable string

	// Roots returns where the client keeps its stores on a machine. The paths need
	// not exist; stores are at them or below.
	Roots func(m Machine) []string

	// IsCopy reports whether a file name is one that the client gives to its own
	// backup of a store. Such a file is read if it is named, and skipped when a
	// folder is searched. nil: the client makes no backups.
	IsCopy func(name string) bool

	// SideFiles are the endings of names of files that the client keeps next to its
	// stores. A listing does not mention them.
	SideFiles []string

	// Parts are the entries of a root that hold the client's sessions, where it keeps
	// settings, keys and caches next to them. nil: everything does.
	Parts []string

	// Kept reports that a backup keeps the client's files by package clients, as those of a client
	// that no format reads: there are other files than stores, and secrets.
	Kept bool

	// SessionFiles are patterns of slash paths, from the name of a root on, of the files
	// that hold sessions: "**" stands for any folders, "*" for any part of a name. What
	// Parts has besides can tell a client what to do, such as its memory of a project.
	SessionFiles []string

	// MCP is how the client is told of MCP servers. nil: it has none, or it is not known.
	MCP *MCP

	// Allowed is how it is told of commands that it may run without asking. nil: not known.
	Allowed *Allowed

	// Keep is how long after its last modification the client deletes the file of
	// a session. 0: it keeps all, or it is not known to delete any.
	Keep time.Duration

	// Folder is the name of the folder, below Config, that holds the sessions of all
	// projects; "." if that is Config itself. It is set if sessions can be migrated to the
	// client.
	Folder string

	// Config returns the folder to which Writer.Path is relative. nil: the first of Roots.
	Config func(m Machine) string

	// Store returns where a client that runs in the folder cwd looks for its
	// store, below the home folder of the user. nil: the path does not depend on
	// cwd.
	Store func(home, cwd string) string

	// External is for a client that keeps one folder of its stores outside of
	// Store. It returns the name of that folder inside a store, and its path for a
	// client that runs in cwd. nil: everything is in the store.
	External func(home, cwd string) (name, path string)

	// Hash returns the name of the folder for the stores of a client that runs in cwd.
	// No other cwd has this name. nil: the client has no such folders.
	Hash func(cwd string) string

	// IsHash reports whether Hash can return a name. It is set if Hash is.
	IsHash func(name string) bool

	// Slug returns the slash path of the project folder of a client that runs in
	// cwd, relative to the folder in which the client keeps its files. Several cwds
	// can have the same one. nil: the client has no such folders.
	Slug func(cwd string) string

	// StoreInside returns the path of the store that l stands for, where l is not
	// that store itself: the only store in a client's project folder, or the folder
	// of a store that is named by its main file. "" if l is neither. nil: not
	// needed.
	StoreInside func(l *Location) string
}

// Import is how a client takes sessions into a store that only it writes. What is written for
// it waits in a folder that is none of its Roots, so that no session is listed twice.
type Import struct {
	// Take is the command that takes in a file, without its path at the end. It is run in the
	// folder of the session.
	Take []string

	// Delete is the command that deletes a session again, without its id at the end.
	Delete []string
}

// ConfigDir returns the folder below which a client keeps the sessions that are migrated to
// it.
func (h *Home) ConfigDir(m Machine) string {
	if h.Config != nil {
		return h.Config(m)
	}
	return h.Roots(m)[0]
}

// IsSessionFile reports whether a slash path below a root is one of the SessionFiles.
func (h *Home) IsSessionFile(root, rel string) bool {
	name := path.Join(filepath.Base(root), rel)
	return slices.ContainsFunc(h.SessionFiles, func(pattern string) bool { return Matches(pattern, name, false) })
}

// Matches reports whether a slash path matches a pattern, in which "**" stands for any
// folders and "*" for any part of a name. The path of a folder does if one of a file in
// it can.
func Matches(pattern, name string, folder bool) bool {
	return matches(strings.Split(pattern, "/"), strings.Split(name, "/"), folder)
}

func matches(pattern, name []string, folder bool) bool {
	switch {
	case len(name) == 0:
		return folder == (len(pattern) > 0)
	case len(pattern) == 0:
		return false
	case pattern[0] == "**":
		return matches(pattern[1:], name, folder) || (folder || len(name) > 1) && matches(pattern, name[1:], folder)
	}
	ok, err := path.Match(pattern[0], name[0])
	return ok && err == nil && matches(pattern[1:], name[1:], folder)
}

// maxAge is the max age that a file shows if its client deletes old files. It is
// well below the Keep of every client.
const maxAge = 7 * 24 * time.Hour

// ShownTime returns the modification time that a file gets. A client that keeps files
// for some time only would delete an old session before it can be continued. It
// looks a week old, or up to a day older, in the order of the true times.
func (h *Home) ShownTime(last, now time.Time) time.Time {
	age := now.Sub(last)
	if h == nil || h.Keep == 0 || age <= maxAge {
		return last
	}
	return now.Add(-maxAge + time.Duration(float64(24*time.Hour)*float64(maxAge)/float64(age)) - 24*time.Hour)
}
