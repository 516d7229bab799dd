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

	"rehome/convert/internal/sidecar"
	"rehome/convert/internal/stage"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/scratch"
)

// MigrateOptions are the options of a migration. The zero value of all but To
// and Dir is what the command line does without flags.
type MigrateOptions struct {
	From, To     string   // format names; "" = detect
	Dir          string   // the client's config folder, in which it looks for sessions
	Cwd          string   // the folder to assign them to; "" = the one that each belongs to
	Folders      []string // candidates for the folders of sessions whose store has only a name derived from it
	DropThinking bool     // omit reasoning that the client cannot use
	History      bool     // also include abandoned turns, if the client keeps its own
	FullHistory  bool     // also send compacted turns to the model
	Again        bool     // write another copy, beside the earlier one
	Update       bool     // overwrite an earlier migration, unless it was continued in the client
	DryRun       bool
	Live         bool // read a store in use in place
	Jobs         int  // workers; 0 = one per CPU
	OnProgress   func(Progress)
	OnNotice     func(string)
	Verbose      bool // also report which stores are read from a copy
}

// MigrateSource is a store and the ids of its wanted sessions; none = all.
// Subagents are migrated with their parents.
type MigrateSource struct {
	Path     string
	Sessions []string
}

// Migration is the result of Migrate. Its JSON is the output of
// `rehome migrate --json`.
type Migration struct {
	To       string     `json:"to"`
	Dir      string     `json:"dir"`
	DryRun   bool       `json:"dry_run"`
	Migrated []Migrated `json:"migrated"`

	// Sessions that were skipped: those without content, and the client's lists
	// of prompts, see session.PromptHistory.
	Empty     int `json:"empty,omitempty"`
	Histories int `json:"prompt_histories,omitempty"`
}

// The states of a migrated session, besides Placed, Checked and Failed.
const (
	Same    = "same"    // unchanged since an earlier migration, or the client's own
	Updated = "updated" // an older state of it was overwritten
)

// Migrated is the result for one session.
type Migrated struct {
	Source    string       `json:"source"` // path of the store
	ID        string       `json:"id"`
	Agent     string       `json:"agent"`
	Title     string       `json:"title,omitempty"`
	Status    string       `json:"status"`
	Cwd       string       `json:"cwd,omitempty"`
	Session   string       `json:"session,omitempty"` // its id in the client
	File      string       `json:"file,omitempty"`
	Messages  int64        `json:"messages"`
	Turns     int64        `json:"turns"`
	Subagents int          `json:"subagents"`
	Losses    []loss.Group `json:"losses"` // with those of its subagents
	Error     *ErrorReport `json:"error,omitempty"`

	err error
}

// Err returns why the session was not migrated, nil if it was.
func (m *Migrated) Err() error { return m.err }

// Count returns the number of sessions with one of these states.
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

// Migrate writes sessions where another client looks for its own. It overwrites
// nothing, except with MigrateOptions.Update. Each session is complete, its
// subagents before itself, or absent. The error is that of a source that could
// not be read; sessions that failed are only in the report, which is never nil.
func Migrate(ctx context.Context, reg *formats.Registry, from []MigrateSource, o MigrateOptions) (*Migration, error) {
	return migrate(ctx, reg, from, o, renameFuncs{stage.Move, os.Rename})
}

// renameFuncs rename files to new names, and over existing files. Tests let one
// fail.
type renameFuncs struct{ create, replace func(from, to string) error }

func migrate(ctx context.Context, reg *formats.Registry, from []MigrateSource, o MigrateOptions, with renameFuncs) (*Migration, error) {
	out := &Migration{To: o.To, Dir: o.Dir, DryRun: o.DryRun, Migrated: []Migrated{}}
	to := reg.Lookup(o.To)
	switch {
	case to == nil:
		return out, unknownFormat(reg, o.To)
	case to.Writer == nil || !to.Writer.Single:
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

func migrateOne(ctx context.Context, reg *formats.Registry, src MigrateSource, o MigrateOptions, out *Migration, with renameFuncs) error {
	wanted := src.Sessions
	if len(wanted) > 0 {
		family, err := withSubagents(ctx, reg, src, o)
		if err != nil {
			return err
		}
		wanted = family
	}
	rep := &Report{Lane: SessionConversion, Source: src.Path, Target: o.Dir, DryRun: o.DryRun, Stores: []StoreReport{}}
	j := &job{reg: reg, src: src.Path, dst: o.Dir, rep: rep, rename: stage.Move, folders: sessions.NewFolders(reg, o.Folders...), notify: notifier{progress: o.OnProgress, say: o.OnNotice},
		opts:      Options{From: o.From, To: o.To, DryRun: o.DryRun, Allow: loss.Unreadable, Sidecar: "none", Live: o.Live, Jobs: o.Jobs, History: o.History, Sessions: wanted, OnProgress: o.OnProgress, OnNotice: o.OnNotice, Verbose: o.Verbose},
		migration: &migrateJob{o: o, rename: with}}
	err := j.run(ctx)
	if err != nil {
		err = j.explain(err)
	}
	out.Migrated = append(out.Migrated, j.migration.results...)
	out.Empty, out.Histories = out.Empty+j.migration.empty, out.Histories+j.migration.histories
	if len(j.migration.results) > 0 && ctx.Err() == nil {
		return nil // every session has its own result
	}
	return err
}

// withSubagents returns the ids of the wanted sessions of a store and of all
// sessions below them.
func withSubagents(ctx context.Context, reg *formats.Registry, src MigrateSource, o MigrateOptions) ([]string, error) {
	listing, err := sessions.List(ctx, reg, sessions.Options{Paths: []string{src.Path}, Live: o.Live, Jobs: o.Jobs})
	if err != nil {
		return nil, err
	}
	out := slices.Sorted(slices.Values(src.Sessions))
	wanted := session.Selection{IDs: slices.Clone(out), Sorted: true}
	var enter func(list []*sessions.Listed)
	enter = func(list []*sessions.Listed) {
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

// migrateJob is the part of a job that is specific to a migration.
type migrateJob struct {
	o                MigrateOptions
	rename           renameFuncs
	results          []Migrated
	empty, histories int             // numbers of skipped sessions
	synced           bool            // everything staged was synced to disk
	folders          map[string]bool // folders with new names that were not synced to disk
}

// resolveMigrationTarget sets the place where sessions are staged: on the same
// disk as the folder in which the client keeps the sessions of all projects.
func (j *job) resolveMigrationTarget(context.Context) (err error) {
	j.sidecar = &sidecar.Files{Off: true}
	shelf, _, _ := strings.Cut(j.reg.Lookup(j.opts.To).Writer.Path(&session.Head{}), "/")
	if j.dest, err = stage.Resolve(filepath.Join(j.dst, shelf, "sessions")); err == nil && !j.opts.DryRun {
		stage.Sweep(j.dest, j.notify.Say)
	}
	return err
}

// path returns the path where the client looks for a session.
func (m *migrateJob) path(to *formats.Format, h *session.Head) string {
	return filepath.Join(m.o.Dir, filepath.FromSlash(to.Writer.Path(h)))
}

// placement is where a session goes: its folder, and the outermost session
// above it.
type placement struct {
	cwd        string
	root       *session.Head
	id         string        // the session's own id, if it gets another
	lastMoment session.Stamp // time of the last message
	hasContent bool          // it has a prompt, an answer or a call
	complete   bool          // the session was read to its end
	err        error         // why the outermost session cannot be placed, nor any below it

	inPlace bool // the source is the client's own file, in the right place
}

// placementOf returns where a session goes. A subagent goes with its parent.
func (c *sessionConversion) placementOf(s *session.Session) (*placement, error) {
	if c.placements == nil {
		c.placements = map[string]*placement{}
	}
	if s.Parent != nil && s.Parent.Session != s.ID {
		if up := c.placements[s.Parent.Session]; up != nil {
			c.placements[s.ID] = &placement{cwd: up.cwd, root: up.root, id: s.ID, err: up.err, inPlace: up.inPlace}
			return c.placements[s.ID], up.err
		}
		s.Parent = nil // selected without its parent, it is a session like others
	}
	root := s.Head
	g := &placement{root: &root, cwd: c.migration.o.Cwd, id: s.ID}
	c.placements[s.ID] = g
	if g.cwd == "" {
		if g.cwd, g.err = workspaceOf(&s.Head); g.err != nil {
			return g, g.err
		}
	}
	own := root.Workspace == g.cwd || sameFolder(root.Workspace, g.cwd)
	root.Workspace = g.cwd
	if g.inPlace = own && c.readFrom(c.migration.path(c.to, &root)); g.inPlace {
		return g, nil
	}
	if c.migration.o.Again {
		root.ID = c.freeID(root)
		s.ID = root.ID
		c.placements[s.ID] = g
	}
	return g, nil
}

// readFrom reports whether a file is the store being read, or is in it.
func (c *sessionConversion) readFrom(path string) bool {
	if c.found.Detected[0].Format != c.to {
		return false
	}
	store, err := os.Stat(c.found.Loc.Path)
	if err != nil {
		return false
	}
	file, err := os.Stat(path)
	return err == nil && (os.SameFile(file, store) || stage.IsInside(path, store))
}

// sameFolder reports whether two paths lead to the same folder.
func sameFolder(a, b string) bool {
	x, errx := os.Stat(a)
	y, erry := os.Stat(b)
	return errx == nil && erry == nil && os.SameFile(x, y)
}

// freeID returns the id of the first copy that does not exist yet.
func (c *sessionConversion) freeID(h session.Head) string {
	id := h.ID
	for n := 2; ; n++ {
		h.ID = id + "#" + strconv.Itoa(n)
		if _, err := os.Lstat(c.migration.path(c.to, &h)); errors.Is(err, fs.ErrNotExist) || n == maxCopies {
			return h.ID
		}
	}
}

// maxCopies bounds the search for a free id.
const maxCopies = 9999

// workspaceOf returns the folder that a session belongs to, under the name that
// a program running there has for it.
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
		err = stage.ErrNotFolder
	}
	if err != nil {
		return "", &formats.Error{At: h.Workspace, Err: fmt.Errorf("the folder of this session is unavailable: %w", formats.Cause(err)), Hint: "pass --cwd DIR, the folder to continue in"}
	}
	return real, nil
}

// observe returns the session with a stream that records the time of its last
// message, and whether it has content.
func (g *placement) observe(s *session.Session) *session.Session {
	out := *s
	out.Messages = func(yield func(*session.Message, error) bool) {
		g.complete = true
		forEach(s.Messages, func(m *session.Message, err error) bool {
			g.complete = err == nil && yield(m, err)
			return g.complete
		}, func(m *session.Message) error {
			for _, at := range []session.Stamp{m.At, m.End} {
				if at.Known() && (!g.lastMoment.Known() || at.Millis() > g.lastMoment.Millis()) {
					g.lastMoment = at
				}
			}
			g.hasContent = g.hasContent || isContent(m)
			return nil
		})
	}
	return &out
}
