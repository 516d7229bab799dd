package convert

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"rehome/convert/internal/filetx"
	"rehome/convert/internal/stage"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/fsx"
	"rehome/internal/scratch"
)

// MigrateOptions are the options of a migration. The zero value of all but To
// and Dir is what the command line does without flags.
type MigrateOptions struct {
	From, To     string              // format names; "" = detect
	Dir          string              // the client's config folder, see formats.Home.Config
	Cwd          string              // the folder to assign them to; "" = the one that each belongs to
	Folders      sessions.Candidates // for the folders of sessions
	Machine      formats.Machine     // where to look for what a client imported, see formats.Home.Import; the zero value = nowhere
	DropThinking bool                // omit reasoning that the client cannot use
	History      bool                // also include abandoned turns, if the client keeps its own
	FullHistory  bool                // also send compacted turns to the model
	UndoDir      string              // the folder of undo records, see Undo; "" = keep none, which stores of many sessions refuse
	Again        bool                // write another copy, beside the earlier one
	Update       bool                // overwrite an earlier migration, unless it was continued in the client
	DryRun       bool
	Live         bool // read a store in use in place
	Jobs         int  // workers; 0 = one per CPU
	OnProgress   func(Progress)
	OnNotice     func(string)
	Now          func() time.Time // for undo records; nil = time.Now
	Redact       *Redaction       // what to redact; nil = nothing
	Verbose      bool             // also report which stores are read from a copy

	imported func() map[string]place // see listImported
}

// MigrateSource is a store and the ids of its wanted sessions; none = all.
// Subagents are migrated with their parents.
type MigrateSource struct {
	Path     string
	Sessions []string
	Listing  *sessions.Listing // which has the wanted sessions; nil = list the store
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
	Same = "same" // unchanged since an earlier migration, or the client's own
	// Continued means that the session was migrated earlier, and has been continued there since: it was
	// not touched.
	Continued = "continued"
	Updated   = "updated" // an older state of it was overwritten
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
	Tokens    int64        `json:"tokens,omitempty"` // about how many its client sends to the model; 0 if unknown
	Imports   []string     `json:"-"`                // files that the client is to import, see formats.Home.Import; File is the last
	Undo      int          `json:"undo,omitempty"`   // the number of the undo record, see Undo; 0 if there is none
	Servers   []string     `json:"-"`                // MCP servers whose tools it or its subagents called
	Commands  []string     `json:"-"`                // first words of commands that they ran in a shell
	Losses    []loss.Group `json:"losses"`           // with those of its subagents
	Error     *ErrorReport `json:"error,omitempty"`

	Redacted []RedactedCount `json:"redacted,omitzero"` // with those of its subagents; nil if nothing was to be redacted

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
	return migrate(ctx, reg, from, o, renameFuncs{fsx.Move, fsx.Replace})
}

// renameFuncs rename files and folders to new names, and over existing ones as
// fsx.Replace does. Tests let one fail.
type renameFuncs struct{ create, replace func(from, to string) error }

func migrate(ctx context.Context, reg *formats.Registry, from []MigrateSource, o MigrateOptions, with renameFuncs) (*Migration, error) {
	out := &Migration{To: o.To, Dir: o.Dir, DryRun: o.DryRun, Migrated: []Migrated{}}
	to, err := reg.Find(o.To)
	switch {
	case err != nil:
		return out, Misuse{err}
	case to.Writer == nil || to.Home == nil || to.Home.Folder == "":
		return out, &formats.Error{At: to.Name, Err: errors.New("sessions cannot be migrated to this format"), Hint: "run `rehome convert` to write this format"}
	}
	scratch.Sweep()
	o.imported = sync.OnceValue(func() map[string]place { return listImported(ctx, reg, to, o) })
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
		var err error
		if wanted, err = withSubagents(ctx, reg, src, o.Live, o.Jobs); err != nil {
			return err
		}
	}
	in := newInput(reg, src.Path, o.Dir, Options{
		From: o.From, DryRun: o.DryRun, Live: o.Live, Jobs: o.Jobs, History: o.History, Sessions: wanted, OnProgress: o.OnProgress, OnNotice: o.OnNotice, Verbose: o.Verbose, Redact: o.Redact,
	}, o.Folders)
	in.inner = true
	m := &migration{input: in, o: o, to: reg.Lookup(o.To), rename: with, out: out}
	before := len(out.Migrated)
	err := m.run(ctx)
	if err == nil || len(out.Migrated) > before && ctx.Err() == nil {
		return nil // every session has its own result
	}
	return m.explain(err)
}

// withSubagents returns the ids of the wanted sessions of a store and of all
// sessions below them.
func withSubagents(ctx context.Context, reg *formats.Registry, of MigrateSource, live bool, jobs int) (_ []string, err error) {
	if of.Listing == nil {
		of.Listing, err = sessions.List(ctx, reg, sessions.Options{Paths: []string{of.Path}, Live: live, Jobs: jobs})
	}
	if err != nil {
		return nil, err
	}
	return of.Listing.WithSubagents(of.Sessions), nil
}

// migration migrates the sessions of one MigrateSource.
type migration struct {
	*input
	o      MigrateOptions
	to     *formats.Format
	rename renameFuncs
	stores []*migratedStore
	out    *Migration

	plans   []*plannedFamily // not placed yet
	planned map[string]bool  // the paths of their files
	synced  bool             // everything staged was synced to disk
}

func (m *migration) run(ctx context.Context) error {
	if err := m.checkFrom(); err != nil {
		return err
	}
	loc, err := formats.Locate(m.src)
	if err != nil {
		return err
	}
	at, err := m.stagingTarget()
	if err != nil {
		return err
	}
	for f, err := range Stores(ctx, m.reg, loc.Path, m.opts.From, m.notify.Say) {
		if err != nil && (f.Rel == "" || ctx.Err() != nil) {
			return err
		}
		m.found, m.stores = append(m.found, f), append(m.stores, &migratedStore{migration: m, at: f, err: err})
	}
	m.measureSizes()
	if err := m.newStage(at); err != nil {
		return err
	}
	defer m.removeStaging(m.stage)
	m.skipUnlisted(ctx)
	if err := m.learn(ctx, m.o.Cwd == ""); err != nil {
		return err
	}
	if err := m.each(ctx, m.convertStore, func(i int) { m.stores[i] = &migratedStore{migration: m, at: m.found[i]} }); err != nil {
		return err
	}
	return m.install(ctx)
}

// stagingTarget returns a path in the folder in which the client keeps the sessions
// of all projects. Nothing is created there: sessions are staged beside it, so that
// they are on the same disk.
func (m *migration) stagingTarget() (stage.Target, error) {
	path := filepath.Join(m.o.Dir, m.to.Home.Folder, "sessions")
	if err := filetx.CheckFolders(path); err != nil {
		return stage.Target{}, err
	}
	at, err := stage.Resolve(path)
	if err == nil && !m.opts.DryRun {
		stage.Sweep(m.notify.Say, at)
	}
	return at, err
}

// path returns the path where the client looks for a session.
func (m *migration) path(h *session.Head) string {
	if m.adds() {
		return m.storePath(h.Workspace)
	}
	return filepath.Join(m.o.Dir, filepath.FromSlash(m.to.Writer.Path(h)))
}
