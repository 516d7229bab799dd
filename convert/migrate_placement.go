package convert

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"rehome/convert/internal/stage"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/session"
)

// placement is where a session goes: its folder, and the outermost session
// above it.
type placement struct {
	cwd        string
	root       *session.Head
	id         string        // the session's own id, if it gets another
	alone      bool          // it is a subagent's, and its parent is not migrated
	lastMoment session.Stamp // time of the last message
	hasContent bool          // it has a prompt, an answer or a call
	complete   bool          // the session was read to its end
	err        error         // why the outermost session cannot be placed, nor any below it

	inPlace bool // the source is the client's own file, in the right place
}

// placementOf returns where a session goes. A subagent goes with its parent.
func (c *migratedStore) placementOf(s *session.Session) (*placement, error) {
	if c.placements == nil {
		c.placements = map[string]*placement{}
	}
	if s.Parent != nil && s.Parent.Session != s.ID {
		if up := c.placements[s.Parent.Session]; up != nil {
			c.placements[s.ID] = &placement{cwd: up.cwd, root: up.root, id: s.ID, err: up.err, inPlace: up.inPlace}
			return c.placements[s.ID], up.err
		}
	}
	g := &placement{cwd: c.o.Cwd, id: s.ID, alone: s.Parent != nil && s.Parent.Session != s.ID}
	if g.alone {
		s.Parent = nil // selected without its parent, it is a session like others
	}
	root := s.Head
	g.root = &root
	c.placements[s.ID] = g
	if g.cwd == "" {
		if g.cwd, g.err = workspaceOf(&s.Head); g.err != nil {
			return g, g.err
		}
	}
	own := sessions.SameFolder(root.Workspace, g.cwd)
	root.Workspace = g.cwd
	if g.inPlace = own && c.readFrom(c.path(&root)); g.inPlace {
		return g, nil
	}
	taken := c.taken
	if !c.o.Again {
		taken = nil
	}
	if root.ID = c.ids.give(c.to, root, taken); root.ID != s.ID {
		s.ID = root.ID
		c.placements[s.ID] = g // some decoders read the session's id for its subagents
	}
	return g, nil
}

// readFrom reports whether a file or folder is the store being read, is in it, or holds
// it.
func (c *migratedStore) readFrom(path string) bool {
	if c.at.Detected[0].Format != c.to {
		return false
	}
	store, err := os.Stat(c.at.Loc.Path)
	if err != nil {
		return false
	}
	file, err := os.Stat(path)
	return err == nil && (os.SameFile(file, store) || stage.IsInside(path, store) || stage.IsInside(c.at.Loc.Path, file))
}

// givenIDs are the ids that sessions of one store get in a client: a store can hold an id
// twice. The zero value has none.
type givenIDs struct {
	given map[string]bool
	last  map[string]int // number of the last copy of each
}

// give returns the id for a session: its own, or that of the first copy which no earlier
// session of the store has in the same place. If taken is set, it is the id of a copy for
// which nothing is taken.
func (g *givenIDs) give(to *formats.Format, h session.Head, taken func(*session.Head) bool) string {
	if to.Writer.ID == nil {
		return h.ID // not a client
	}
	if g.given == nil {
		g.given, g.last = map[string]bool{}, map[string]int{}
	}
	key := func() string { return h.Workspace + "\x00" + to.Writer.ID(&h) }
	id, first := h.ID, key()
	for n := max(g.last[first], 1) + 1; n <= sessions.MaxCopies && (g.given[key()] || taken != nil && (h.ID == id || taken(&h))); n++ {
		h.ID = sessions.CopyID(id, n)
		g.last[first] = n
	}
	g.given[key()] = true
	return h.ID
}

// ErrNoFolder means that nothing says to which folder a session belongs.
var ErrNoFolder = errors.New("its store does not name its folder")

// workspaceOf returns the folder that a session belongs to, under the name that
// a program running there has for it.
func workspaceOf(h *session.Head) (string, error) {
	if h.Workspace == "" {
		return "", &formats.Error{At: h.ID, Err: ErrNoFolder, Hint: "pass --cwd DIR, the folder to continue in"}
	}
	real, err := filepath.EvalSymlinks(h.Workspace)
	if err == nil && !filepath.IsAbs(real) {
		err = errors.New("not a path of this machine")
	}
	var info os.FileInfo
	if err == nil {
		info, err = os.Stat(real)
	}
	if err == nil && !info.IsDir() {
		err = stage.ErrNotFolder
	}
	if err != nil {
		return "", &formats.Error{At: h.Workspace, Err: fmt.Errorf("the folder of this session is unavailable: %w", formats.Cause(err)), Hint: "pass --cwd DIR, the folder to continue in"}
	}
	return real, nil
}
