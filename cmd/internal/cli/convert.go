package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
	"unicode/utf8"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/convert"
	"rehome/formats"
	"rehome/formats/loss"
)

type convertCmd struct {
	Src string `arg:"" optional:"" help:"Store, folder of stores, STORE#ID, session on this machine (its id, an id prefix, or words from its title), or - for stdin. Never modified."`
	Dst string `arg:"" optional:"" help:"Target to create, or to --replace or --update. Optional with --cwd."`

	From string `group:"Formats:" placeholder:"FORMAT" help:"Format of SRC (detected by default)"`
	To   string `group:"Formats:" placeholder:"FORMAT" help:"Format to write (default for text: the format of its store)"`

	BySession bool `group:"Formats:" rare:"" help:"Convert session by session even if an exact conversion exists"`

	Last    bool     `group:"Which sessions:" help:"Use the newest session of the current directory as SRC"`
	Session []string `group:"Which sessions:" rare:"" sep:"none" placeholder:"ID" help:"Include only the session with this id (repeatable)"`
	Project string   `group:"Which sessions:" aliases:"workspace" placeholder:"DIR" help:"Include only sessions of this folder and its subfolders"`
	Since   string   `group:"Which sessions:" placeholder:"WHEN" help:"Include only sessions changed since WHEN: 2026-11-01, yesterday, \"3 days\", 12h, ..."`
	History bool     `group:"Which sessions:" rare:"" aliases:"branches" help:"Also include abandoned turns, as branches"`

	Compacted  bool `group:"What to include:" rare:"" aliases:"full-history" help:"Also send compacted turns, not only their summary"`
	NoThinking bool `group:"What to include:" rare:"" help:"Leave out the model's reasoning (by default, kept as text if another model cannot use it)"`

	DryRun      bool    `group:"Output:" help:"Convert and verify, but do not write DST"`
	Replace     bool    `group:"Output:" help:"Replace DST, keeping the old one as DST.bak-1 (-2, ...)"`
	Update      bool    `group:"Output:" help:"Update DST: write only what changed, delete nothing"`
	Delete      bool    `group:"Output:" rare:"" help:"With --update, also remove what is no longer in SRC"`
	Force       bool    `group:"Output:" rare:"" help:"With --update, overwrite edited files that are not committed, keeping them in DST.bak-1 (-2, ...)"`
	Cwd         *string `group:"Output:" placeholder:"DIR" help:"Assign the sessions to this folder; without DST, write them where their client looks for them"`
	Home        *string `group:"Output:" rare:"" placeholder:"DIR" help:"Home folder to write to when --cwd is used without DST (default: yours)"`
	Flat        bool    `group:"Output:" rare:"" help:"Write the four files of the Cursor SDK, not a folder for each agent (cursor-ndjson)"`
	Compress    string  `group:"Output:" rare:"" enum:"none,gzip,zstd" default:"none" placeholder:"HOW" help:"Compress text, one file per store: none, gzip or zstd"`
	WithSecrets bool    `group:"Output:" help:"Include keys and tokens in text (left out by default)"`

	Allow   loss.Kind `group:"Losses:" xor:"line" placeholder:"KIND" help:"Accept losses up to this kind: reshaped, inferred, missing, dropped (default) or unreadable"`
	Losses  bool      `group:"Losses:" rare:"" help:"List every loss of sessions with its code and the first places (implied by -v)"`
	Strict  bool      `group:"Losses:" rare:"" xor:"line" help:"Same as --allow reshaped"`
	Sidecar string    `group:"Losses:" rare:"" aliases:"residue" default:"beside" placeholder:"WHERE" help:"Where to save what DST cannot hold: beside (DST.sidecar.ndjson, default), none, or a path"`

	console.RedactFlags
	console.ReadFlags

	Verify string `group:"Advanced:" enum:"fast,full" default:"fast" placeholder:"HOW" help:"How to verify canonical text: compare its bytes with what was written (fast, default), or also decode it again (full)"`
}

func (convertCmd) Help() string {
	return `Formats that store the same kind of records convert exactly: every record is copied and compared. All other pairs
convert session by session through a common model, and losses are reported. "rehome formats" lists which is which.

The result is written to a temporary location, read back and verified, and only then renamed to DST: DST is complete
or absent. In a folder of stores, one bad store does not stop the others.

--to canonical writes one JSON line per message: one file per session, DST/<client>/<id>.jsonl, or a single file if
DST ends in .jsonl.

--update compares the result with an existing DST and writes only the files that differ: all of them, or none if it
is interrupted or fails. What is no longer in SRC stays in DST and is listed. A file of DST that somebody edited is not
overwritten, unless it is committed to git. Stores that have not changed since the last update are not read.

Clients look up sessions by working directory, exactly as it is spelled, so --cwd /work and --cwd /work/ are different
folders. A relative DIR is made absolute first.

Examples:

    # a chat as text for git, and back
    rehome convert store.db chat --to archive
    rehome convert chat store.db

    # agents of the Cursor SDK as text for git, and restored in a checkout
    rehome convert ~/.cursor/projects/home-ann-app agents --to cursor-ndjson
    rehome convert agents --cwd .

    # all chats on this machine, one archive each; again after a day of work
    rehome convert ~/.cursor/chats chats --to archive --update

    # the conversations of all chats, one file per session
    rehome convert ~/.cursor/chats sessions --to canonical

    # what would happen, as JSON
    rehome convert state.vscdb ide --to archive --dry-run --json

    # a backup: one compressed file per database, keys and tokens included
    rehome convert store.db backup --to archive --compress zstd --with-secrets`
}

// convertResult is the report of a conversion: schema convert-result-1.
type convertResult struct {
	*convert.Report
	losses bool // list the losses of sessions
}

// Validate rejects combinations of flags that the grammar allows.
func (c *convertCmd) Validate() error {
	if c.Last && c.Dst == "" { // the only argument is DST
		c.Src, c.Dst = "", c.Src
	}
	refuse := func(what, hint string) error { return &formats.Error{Err: errors.New(what), Hint: hint} }
	switch {
	case c.Cwd != nil && *c.Cwd == "":
		return refuse("--cwd: empty", "name a folder; . is the working directory")
	case c.Home != nil && *c.Home == "":
		return refuse("--home: empty", "name a home folder, or omit the flag to use yours")
	case c.Last && c.Src != "":
		return refuse("--last cannot be combined with SRC", "omit one of them")
	case c.Src == "" && !c.Last:
		return refuse("SRC is missing", "name a store, a folder of stores or a session, or pass --last for the newest session of this directory")
	case c.Dst == "" && c.Cwd == nil:
		return refuse("DST is missing", "name the target, or pass --cwd DIR to write where clients look for sessions of DIR")
	case c.Dst == console.StdinName:
		return refuse("DST cannot be stdout", "name a file or folder; ./- for one of that name")
	case c.To == "markdown":
		return refuse("--to markdown: not a format of stores", "run `rehome show SRC --format markdown`, with --out DIR for several sessions")
	case c.Home != nil && c.Cwd == nil:
		return refuse("--home has no effect without --cwd", "pass --cwd DIR too")
	case c.Home != nil && c.Dst != "":
		return refuse("--home cannot be combined with DST", "omit one of them")
	}
	_, err := parseTime(c.Since, time.Now())
	return err
}

// cwdAndHome returns the folder to assign the sessions to, and the home folder
// below which its client looks for them.
func (c *convertCmd) cwdAndHome(getenv func(string) string) (cwd, home string, err error) {
	if c.Cwd == nil {
		return "", "", nil
	}
	if c.Home != nil {
		home = *c.Home
	}
	if cwd, err = absFolder(*c.Cwd); err == nil {
		err = checkUTF8(cwd)
	}
	if err != nil || c.Dst != "" || home != "" {
		return cwd, home, err
	}
	if home = getenv(console.HomeVariable()); home == "" {
		return "", "", console.NoHomeError("pass --home DIR")
	}
	return cwd, home, nil
}

// checkUTF8 rejects a folder that no session can name, as session records are UTF-8.
func checkUTF8(dir string) error {
	if utf8.ValidString(dir) {
		return nil
	}
	return &formats.Error{At: dir, Err: errors.New("folder name is not valid UTF-8, so no session can record it"), Hint: "rename the folder"}
}

// absFolder returns a folder as a program that works in it names it. An
// absolute path is returned unchanged, including trailing slashes, because
// clients compare folders as strings. A relative path is joined to the working
// directory without symbolic links, as the system reports it.
func absFolder(dir string) (string, error) {
	if filepath.IsAbs(dir) {
		return dir, nil
	}
	wd, err := os.Getwd()
	if err == nil {
		wd, err = filepath.EvalSymlinks(wd)
	}
	if err != nil {
		return "", &formats.Error{At: dir, Err: err, Hint: "pass an absolute path to --cwd"}
	}
	return filepath.Join(wd, dir), nil
}

func (c *convertCmd) options() convert.Options {
	o := convert.Options{
		From: c.From, To: c.To, DryRun: c.DryRun, Replace: c.Replace, Update: c.Update, Delete: c.Delete, Force: c.Force, Allow: c.Allow,
		Sidecar:     c.Sidecar,
		WithSecrets: c.WithSecrets, Compress: c.Compress, Flat: c.Flat, History: c.History, Live: c.Live, Jobs: c.Jobs, Verify: c.Verify,
		Workspace: c.Project,
		BySession: c.BySession, DropThinking: c.NoThinking, FullHistory: c.Compacted, Redact: c.Redaction(),
	}
	if c.Compress == "none" {
		o.Compress = ""
	}
	if c.Strict {
		o.Allow = loss.Reshaped
	}
	return o
}

// stateDir returns the folder for what updates remember.
func stateDir(a *console.App) string {
	return cmp.Or(convert.StateDir(console.Machine(a.Out.Getenv)), convert.NoState)
}

// Run converts SRC to DST and prints the report, even if stores failed.
func (c *convertCmd) Run(a *console.App, self Program) error {
	o := c.options()
	if err := accept(o.Allow)(self.Read); err != nil {
		return err
	}
	src, err := resolveSource(a, c.Src, c.Last, c.Live)
	if err != nil {
		return err
	}
	if o.Sessions = c.Session; src.session != "" {
		o.Sessions = append([]string{src.session}, c.Session...)
	}
	since, err := parseTime(c.Since, a.Now())
	if err != nil {
		return err
	}
	if !since.IsZero() {
		o.Since = since.UnixMilli()
	}
	if o.Cwd, o.Home, err = c.cwdAndHome(a.Out.Getenv); err != nil {
		return err
	}
	o.State = stateDir(a)
	in, err := a.ReadStdin(src.path)
	if err != nil {
		return err
	}
	defer in.Remove()
	o.OnNotice, o.Verbose = a.Out.Remark, a.Out.Verbose
	o.OnProgress = a.Out.Progress()
	report, err := convert.Convert(a.Ctx, a.Reg, in.Path, c.Dst, o)
	report.Source, err = src.path, in.Restate(err)
	a.Out.EndProgress()
	if err == nil {
		if err := placeReport(a, self, report, o.Allow); err != nil {
			return err
		}
	}
	if errors.Is(err, context.Canceled) {
		return console.Summarize("interrupted: nothing was written", err)
	}
	if err != nil && sameError(report) {
		return err
	}
	if werr := a.Out.Print(a.Ctx, convertResult{report, c.Losses || a.Out.Verbose}); werr != nil {
		return errors.Join(err, werr)
	}
	if err = reportError(report, err); err != nil {
		return console.Printed(err)
	}
	return nil
}

// accept returns what refuses losses beyond a kind; 0 = the default.
func accept(allow loss.Kind) func([]loss.Group) error {
	return func(groups []loss.Group) (err error) {
		for _, g := range groups {
			if g.Kind > cmp.Or(allow, loss.Dropped) {
				err = errors.Join(err, &formats.Error{Err: fmt.Errorf("%w: %s: %d %s (%s)", console.ErrLosses, g.Kind, g.Count, g.What, g.Code),
					Hint: "pass --allow " + g.Kind.String() + " to accept this"})
			}
		}
		return err
	}
}

// placeReport moves what was written to the place that it is for, and adds what that place and the
// source's lose to the report.
func placeReport(a *console.App, self Program, r *convert.Report, allow loss.Kind) error {
	r.Losses = self.Read
	if self.Place == nil || !r.Placed {
		if self.Place != nil && r.DryRun {
			a.Out.Remark("the server was not asked what it cannot hold: this is a dry run")
		}
		return nil
	}
	backup, err := self.Place(a.Ctx, func(groups []loss.Group) error {
		r.Losses = loss.Merge(slices.Clone(r.Losses), groups)
		return accept(allow)(groups)
	})
	if errors.Is(err, console.ErrLosses) {
		r.Skip()
		return nil
	}
	r.Backup = cmp.Or(r.Backup, backup)
	return err
}

// sameError reports whether every store failed with the same error, so that the
// report adds nothing to the error.
func sameError(r *convert.Report) bool {
	for _, s := range r.Stores {
		if s.Status != convert.Failed || s.Error.Message != r.Stores[0].Error.Message {
			return false
		}
	}
	return true
}

// reportError returns the error that a report amounts to, or nil on success.
// Failed stores outrank skipped ones.
func reportError(r *convert.Report, err error) error {
	failed, skipped, all := r.Failed(), r.Skipped(), len(r.Stores)
	switch {
	case r.Lane == convert.SessionConversion && err == nil:
		return sessionError(r)
	case err != nil:
		return console.Summarize(fmt.Sprintf("nothing written: %s failed", screen.Plural(int64(failed), "store")), err)
	case failed > 0:
		return fmt.Errorf("%d of %s failed", failed, screen.Plural(int64(all), "store"))
	case skipped > 0:
		return skippedError(r, skipped, string(screen.Plural(int64(all), "store")))
	}
	return nil
}

// skippedError is the error of what was skipped because of its losses, with the flag that accepts them.
func skippedError(r *convert.Report, skipped int, of string) error {
	var worst loss.Kind
	for i := range r.Stores {
		s := &r.Stores[i]
		if s.Status == convert.Skipped && len(s.Sessions) == 0 {
			worst = max(worst, loss.Worst(s.Losses))
		}
		for _, one := range s.Sessions {
			if one.Status == convert.Skipped {
				worst = max(worst, loss.Worst(one.Losses))
			}
		}
	}
	e := &formats.Error{Err: fmt.Errorf("%d of %s skipped: %w", skipped, of, console.ErrLosses)}
	if worst > 0 {
		e.Hint = fmt.Sprintf("pass --allow %s to accept them, or repair the source first, in a copy: rehome repair SRC COPY", worst)
	}
	return e
}
