package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/scratch"
)

// MigrateOptions say how sessions become those of another client. The zero
// value of all but To and Dir is what the command line does without flags.
type MigrateOptions struct {
	From, To     string   // format names; "" = detect
	Dir          string   // the client's config folder, below which it looks for sessions
	Cwd          string   // the folder they are to belong to; "" = the one that each belongs to
	Folders      []string // that sessions may belong to, where a store keeps no more than a name made of that
	DropThinking bool     // leave reasoning out that the client could not use
	History      bool     // keep abandoned turns, too, where the client keeps its own
	FullHistory  bool     // show the model what was compacted, too
	Again        bool     // as a further session, beside what was migrated before
	Update       bool     // write a session again that was migrated before, where the client has not gone on with it
	DryRun       bool
	Live         bool // read a store in use in place
	Jobs         int  // workers; 0 = one a processor
	Progress     func(Progress)
	Say          func(string)
	Verbose      bool // also report which stores are read from a copy
}

// MigrateSource is a store and those of its sessions that are wanted; none =
// all. Subagents go with their parents.
type MigrateSource struct {
	Path     string
	Sessions []string
}

// Migration is what became of sessions. Its JSON is the result of
// `rehome migrate --json`.
type Migration struct {
	To       string     `json:"to"`
	Dir      string     `json:"dir"`
	DryRun   bool       `json:"dry_run"`
	Migrated []Migrated `json:"migrated"`

	// Sessions that were skipped: nothing was ever said in them, or they are
	// the client's list of prompts, see session.PromptHistory.
	Empty     int `json:"empty,omitempty"`
	Histories int `json:"prompt_histories,omitempty"`
}

// The states of a migrated session, beside Placed, Checked and Failed.
const (
	Same    = "same"    // it was there already, as it would be written now, or as the client's own
	Updated = "updated" // an older state of it was there
)

// Migrated is what became of one session.
type Migrated struct {
	Source    string       `json:"source"` // the store
	ID        string       `json:"id"`
	Agent     string       `json:"agent"`
	Title     string       `json:"title,omitempty"`
	Status    string       `json:"status"`
	Cwd       string       `json:"cwd,omitempty"`
	Session   string       `json:"session,omitempty"` // its id for the client
	File      string       `json:"file,omitempty"`
	Messages  int64        `json:"messages"`
	Turns     int64        `json:"turns"`
	Subagents int          `json:"subagents"`
	Losses    []loss.Group `json:"losses"` // those of its subagents included
	Error     *ErrorReport `json:"error,omitempty"`

	err error
}

// Err is why the session is not there, nil if it is.
func (m *Migrated) Err() error { return m.err }

// Count is how many sessions have one of these states.
func (m *Migration) Count(status ...string) (n int) {
	for i := range m.Migrated {
		for _, s := range status {
			if m.Migrated[i].Status == s {
				n++
			}
		}
	}
	return n
}

// Migrate writes sessions where another client looks for its own. Nothing that
// is there is overwritten, see MigrateOptions.Update; each session is there
// whole, its subagents before itself, or not at all. The error is that of a
// source that could not be read; what failed of single sessions is in the
// report alone, which is never nil.
func Migrate(ctx context.Context, reg *formats.Registry, from []MigrateSource, o MigrateOptions) (*Migration, error) {
	return migrate(ctx, reg, from, o, renames{moveNew, os.Rename})
}

// renames are what gives files their names, where nothing stands and over what
// stands there. Tests let one fail.
type renames struct{ fresh, over func(from, to string) error }

func migrate(ctx context.Context, reg *formats.Registry, from []MigrateSource, o MigrateOptions, with renames) (*Migration, error) {
	out := &Migration{To: o.To, Dir: o.Dir, DryRun: o.DryRun, Migrated: []Migrated{}}
	to := reg.Lookup(o.To)
	switch {
	case to == nil:
		return out, unknownFormat(reg, o.To)
	case to.Encode == nil || to.SessionPath == nil || !to.OneSessionPerFile:
		return out, &formats.Error{At: to.Name, Err: errors.New("sessions cannot be migrated to this format"), Hint: "run `rehome convert` to write this format"}
	}
	scratch.Sweep()
	var errs []error
	for _, src := range from {
		if err := migrateOne(ctx, reg, src, o, out, with); err != nil {
			errs = append(errs, err)
		}
		if err := ctx.Err(); err != nil {
			return out, err
		}
	}
	return out, errors.Join(errs...)
}

func migrateOne(ctx context.Context, reg *formats.Registry, src MigrateSource, o MigrateOptions, out *Migration, with renames) error {
	wanted := src.Sessions
	if len(wanted) > 0 {
		family, err := withSubagents(ctx, reg, src, o)
		if err != nil {
			return err
		}
		wanted = family
	}
	rep := &Report{Lane: sessionLane, Source: src.Path, Target: o.Dir, DryRun: o.DryRun, Stores: []StoreReport{}}
	j := &job{reg: reg, src: src.Path, dst: o.Dir, rep: rep, rename: moveNew, folders: NewFolders(reg, o.Folders...), talk: talker{progress: o.Progress, say: o.Say},
		o:      Options{From: o.From, To: o.To, DryRun: o.DryRun, Allow: loss.Unreadable, Sidecar: "none", Live: o.Live, Jobs: o.Jobs, History: o.History, Sessions: wanted, Progress: o.Progress, Say: o.Say, Verbose: o.Verbose},
		moving: &moving{o: o, rename: with}}
	err := j.run(ctx)
	if err != nil {
		err = j.explain(err)
	}
	out.Migrated = append(out.Migrated, j.moving.done...)
	out.Empty, out.Histories = out.Empty+j.moving.empty, out.Histories+j.moving.histories
	if len(j.moving.done) > 0 && ctx.Err() == nil {
		return nil // every session has its own word
	}
	return err
}

// withSubagents are the wanted sessions of a store and all below them.
func withSubagents(ctx context.Context, reg *formats.Registry, src MigrateSource, o MigrateOptions) ([]string, error) {
	listing, err := List(ctx, reg, ListOptions{Paths: []string{src.Path}, Live: o.Live, Jobs: o.Jobs})
	if err != nil {
		return nil, err
	}
	out := slices.Sorted(slices.Values(src.Sessions))
	wanted := session.Selection{IDs: slices.Clone(out), Sorted: true}
	var enter func(list []*Listed)
	enter = func(list []*Listed) {
		for _, s := range list {
			out = append(out, s.ID)
			enter(s.Children)
		}
	}
	for _, s := range listing.All() {
		if wanted.Includes(s.ID) {
			enter(s.Children)
		}
	}
	return out, nil
}

// moving is the part of a job that makes its sessions those of a client.
type moving struct {
	o                MigrateOptions
	rename           renames
	done             []Migrated
	empty, histories int             // sessions that were skipped
	synced           bool            // all that is staged is on the disk
	folders          map[string]bool // with names that are not on it yet
}

// nearby is where sessions wait for their names: on the same disk as the folder
// in which the client keeps those of all its projects.
func (j *job) nearby(context.Context) (err error) {
	j.sidecar = &sidecar{off: true}
	shelf, _, _ := strings.Cut(j.reg.Lookup(j.o.To).SessionPath(&session.Head{}), "/")
	if j.goal, err = resolve(filepath.Join(j.dst, shelf, "sessions")); err == nil && !j.o.DryRun {
		sweep(j.goal, j.talk.Say)
	}
	return err
}

// path is where the client looks for a session.
func (m *moving) path(to *formats.Format, h *session.Head) string {
	return filepath.Join(m.o.Dir, filepath.FromSlash(to.SessionPath(h)))
}

// goal is where a session goes: the folder that it is to belong to, and the
// outermost session above it.
type goal struct {
	cwd  string
	root *session.Head
	id   string        // the session's own, where it goes by another
	last session.Stamp // the last moment in it
	said bool          // something was said in it
	read bool          // to its end
	err  error         // why the outermost session has no place: nothing below it has one

	there bool // the client has it in that folder already: it is where it was read from
}

// aim finds out where a session goes. A subagent goes where its parent went.
func (c *climb) aim(s *session.Session) (*goal, error) {
	if c.goals == nil {
		c.goals = map[string]*goal{}
	}
	if s.Parent != nil && s.Parent.Session != s.ID {
		if up := c.goals[s.Parent.Session]; up != nil {
			c.goals[s.ID] = &goal{cwd: up.cwd, root: up.root, id: s.ID, err: up.err, there: up.there}
			return c.goals[s.ID], up.err
		}
		s.Parent = nil // wanted without its parent, it is a session like others
	}
	root := s.Head
	g := &goal{root: &root, cwd: c.moving.o.Cwd, id: s.ID}
	c.goals[s.ID] = g
	if g.cwd == "" {
		if g.cwd, g.err = workspaceOf(&s.Head); g.err != nil {
			return g, g.err
		}
	}
	own := root.Workspace == g.cwd || sameFolder(root.Workspace, g.cwd)
	root.Workspace = g.cwd
	if g.there = own && c.readFrom(c.moving.path(c.to, &root)); g.there {
		return g, nil
	}
	if c.moving.o.Again {
		root.ID = c.free(root)
		s.ID = root.ID
		c.goals[s.ID] = g
	}
	return g, nil
}

// readFrom reports whether a file is the store at hand, or lies in it.
func (c *climb) readFrom(path string) bool {
	if c.found.Detected[0].Format != c.to {
		return false
	}
	store, err := os.Stat(c.found.Loc.Path)
	if err != nil {
		return false
	}
	file, err := os.Stat(path)
	return err == nil && (os.SameFile(file, store) || above(path, store))
}

// sameFolder compares two folders by what they lead to.
func sameFolder(a, b string) bool {
	x, errx := os.Stat(a)
	y, erry := os.Stat(b)
	return errx == nil && erry == nil && os.SameFile(x, y)
}

// free is the name of the first further session that is not there yet.
func (c *climb) free(h session.Head) string {
	id := h.ID
	for n := 2; ; n++ {
		h.ID = id + "#" + strconv.Itoa(n)
		if _, err := os.Lstat(c.moving.path(c.to, &h)); errors.Is(err, fs.ErrNotExist) || n == mostAgain {
			return h.ID
		}
	}
}

// mostAgain bounds the search for a name.
const mostAgain = 9999

// workspaceOf is the folder that a session belongs to, by the name that a
// program has for it that works there.
func workspaceOf(h *session.Head) (string, error) {
	if h.Workspace == "" {
		return "", &formats.Error{At: h.ID, Err: errors.New("its store does not name its folder"), Hint: "pass --cwd DIR, the folder to continue in"}
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
		err = errNotFolder
	}
	if err != nil {
		return "", &formats.Error{At: h.Workspace, Err: fmt.Errorf("the folder of this session is unavailable: %w", bare(err)), Hint: "pass --cwd DIR, the folder to continue in"}
	}
	return real, nil
}

// watched is a session of which is kept when its last moment was, and whether
// anything was said.
func (g *goal) watched(s *session.Session) *session.Session {
	out := *s
	out.Messages = func(yield func(*session.Message, error) bool) {
		g.read = true
		each(s.Messages, func(m *session.Message, err error) bool {
			g.read = err == nil && yield(m, err)
			return g.read
		}, func(m *session.Message) error {
			for _, at := range []session.Stamp{m.At, m.End} {
				if at.Known() && (!g.last.Known() || at.Millis() > g.last.Millis()) {
					g.last = at
				}
			}
			g.said = g.said || says(m)
			return nil
		})
	}
	return &out
}
