package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/convert"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/session"
	"rehome/internal/shell"
)

type migrateCmd struct {
	Src string `arg:"" optional:"" help:"File, store (all its sessions), PATH#ID, or session on this machine (its id, an id prefix, or words from its title, as rehome ls prints them). Use - to read from stdin. SRC is never modified."`

	Last    bool    `group:"Which sessions:" help:"Use the newest session of the current directory as SRC"`
	All     bool    `group:"Which sessions:" help:"Migrate all sessions of --project, from every client"`
	Project *string `group:"Which sessions:" placeholder:"DIR" help:"With --all, migrate the sessions of this folder and its subfolders"`
	From    string  `group:"Which sessions:" rare:"" placeholder:"FORMAT" help:"Format of SRC (detected by default)"`

	Compacted  bool   `group:"What to include:" rare:"" aliases:"full-history" help:"Also send compacted turns, not only their summary"`
	History    bool   `group:"What to include:" rare:"" aliases:"branches" help:"Also include abandoned turns, as branches that the model does not see"`
	NoThinking bool   `group:"What to include:" help:"Leave out the model's reasoning (by default, kept as text if another model cannot use it)"`
	Thinking   string `enum:"keep-as-text,drop" default:"keep-as-text" hidden:""`

	To     string  `group:"Where to:" enum:"${targets}" default:"claude-code" placeholder:"CLIENT" help:"Client to continue in: ${target_list} (default: ${default})"`
	Cwd    *string `group:"Where to:" placeholder:"DIR" help:"Folder to continue in (default: the session's own)"`
	Home   *string `group:"Where to:" rare:"" placeholder:"DIR" help:"Home folder of the clients (default: yours); $CLAUDE_CONFIG_DIR and the like are then ignored"`
	Update bool    `group:"Where to:" xor:"again" help:"Overwrite an earlier migration of a session that has grown, unless you have continued it there"`
	Again  bool    `group:"Where to:" xor:"again" help:"Migrate again as another session, next to the earlier one"`
	Back   bool    `group:"Where to:" rare:"" xor:"again" help:"Append the turns that you added to a migrated session to the session it was made from"`
	DryRun bool    `group:"Where to:" help:"Report what would happen, without writing anything"`
	ClientDirs

	console.RedactFlags

	Losses bool `group:"Advanced:" help:"List every loss with its code and the first places (implied by -v)"`
	console.ReadFlags
}

func (migrateCmd) Help() string {
	return `Writes the session where the client looks for sessions of its folder, and prints the command that continues it.
Prompts, answers, tool calls and results are sent to the model as if the session had started there. Tool calls are
translated to the client's own tools where it has equivalents. Losses are reported.

Nothing is overwritten. The same session always gets the same id, so a second run changes nothing. If the session
has grown since, --update writes it again.

With --back, SRC is a session that was migrated before, and continued in its new client: its new turns are appended to
the session that it was made from, unless that was continued, too. SRC can also be that one, if it was migrated once. Subagents come with the calls that started them. rehome
undo takes all of it out again.

Examples:

    rehome migrate --last
    rehome migrate 5d0b2b7e
    rehome migrate 5d0b2b7e --to cursor-cli
    rehome migrate ~/backup/.cursor/projects/home-ann-app#login --cwd ~/app
    rehome migrate --project . --all --dry-run
    rehome migrate --last --to cursor-sdk`
}

// migrateResult is the outcome of a migration: schema migrate-result-1.
type migrateResult struct {
	To       string     `json:"to"`
	Dir      string     `json:"dir"`
	DryRun   bool       `json:"dry_run"`
	Migrated []migrated `json:"migrated"`

	Empty     int `json:"empty,omitempty"`
	Histories int `json:"prompt_histories,omitempty"`

	agent  string // the client
	client string // its name for people
	tokens int64  // from how many on it summarizes a session first
	losses bool   // list them
	back   bool   // turns were appended to the session that another one was made from
	home   string // if not the user's, for the shell
	width  int    // of the terminal; 0 if it is none
}

// migrated is a session and how to continue it.
type migrated struct {
	*convert.Migrated
	Continue string  `json:"continue,omitempty"` // for the shell
	Launch   *launch `json:"launch,omitempty"`
	Code     string  `json:"code,omitempty"` // for a program, if the client has no command

	// MCP are the servers that the session used, but that the client lacks.
	MCP []mcpServer `json:"mcp,omitempty"`

	// Allowed are the commands that its client ran without asking.
	Allowed *allowed `json:"permissions,omitempty"`
}

// Validate rejects combinations of flags that the grammar allows.
func (c *migrateCmd) Validate() error {
	refuse := func(what, hint string) error { return &formats.Error{Err: errors.New(what), Hint: hint} }
	for _, folder := range []struct {
		flag  string
		value *string
	}{{"--cwd", c.Cwd}, {"--home", c.Home}, {"--project", c.Project}} {
		if folder.value != nil && *folder.value == "" {
			return refuse(folder.flag+": empty", "name a folder, or omit the flag")
		}
	}
	switch {
	case c.All != (c.Project != nil):
		return refuse("--project and --all must be used together", "pass both to migrate every session of a folder: --project DIR --all")
	case c.All && (c.Src != "" || c.Last):
		return refuse("--all cannot be combined with SRC or --last", "omit SRC and --last")
	case c.CursorDir != nil && c.To != session.CursorCLI:
		return refuse("--cursor-dir has no effect with --to "+c.To, "omit it, or pass --to cursor-cli")
	case c.ClaudeDir != nil && c.To != session.ClaudeCode:
		return refuse("--claude-dir has no effect with --to "+c.To, "omit it, or pass --to claude-code")
	case c.Back && (c.All || c.Cwd != nil || c.To != session.ClaudeCode):
		return refuse("--back cannot be combined with --all, --cwd or --to", "omit them: the session it was made from has a client and a folder")
	case c.Last && c.Src != "":
		return refuse("--last cannot be combined with SRC", "omit one of them")
	case c.Src == "" && !c.Last && !c.All:
		return refuse("SRC is missing", "name a session or a store, or pass --last for the newest session of this directory")
	}
	return nil
}

// Run migrates the sessions and prints how to continue them.
func (c *migrateCmd) Run(a *console.App) error {
	useHome(a, c.Home)
	to := targetOf(a, c.To)
	o := convert.MigrateOptions{
		From: c.From, To: to.Name, DropThinking: c.NoThinking || c.Thinking == "drop", History: c.History, FullHistory: c.Compacted,
		Update: c.Update, Again: c.Again, DryRun: c.DryRun, Live: c.Live, Jobs: c.Jobs, OnNotice: a.Out.Remark, Verbose: a.Out.Verbose,
		Redact: c.Redaction(), Machine: console.Machine(a.Out.Getenv), UndoDir: convert.UndoDir(console.Machine(a.Out.Getenv)), Now: a.Now,
	}
	var err error
	if o.Dir, err = configDir(a, to, &c.ClientDirs); err != nil {
		return err
	}
	if c.Cwd != nil {
		if o.Cwd, err = resolveCwd(*c.Cwd); err != nil {
			return err
		}
	}
	if c.Back {
		done, err := c.bringBack(a, o)
		if err != nil {
			return err
		}
		return c.report(a, done, nil)
	}
	from, folders, err := c.sources(a, to)
	if err != nil {
		return err
	}
	o.Folders = candidates(a, folders...)
	var in *console.Spooled
	if len(from) == 1 {
		if in, err = a.ReadStdin(from[0].Path); err != nil {
			return err
		}
		defer in.Remove()
		from[0].Path = in.Path
	}
	o.OnProgress = a.Out.Progress()
	done, err := convert.Migrate(a.Ctx, a.Reg, from, o)
	a.Out.EndProgress()
	if in != nil {
		err = in.Restate(err)
	}
	if len(done.Migrated) == 0 && err != nil {
		return err
	}
	return c.report(a, done, err)
}

// report prints what a migration did. err is that of sources that could not be read.
func (c *migrateCmd) report(a *console.App, done *convert.Migration, err error) error {
	res := newMigrateResult(a, done)
	res.back = c.Back
	res.losses = c.Losses || a.Out.Verbose
	if len(res.Migrated) == 1 && err == nil && done.Migrated[0].Err() != nil {
		return done.Migrated[0].Err() // the result would add nothing
	}
	if c.Home != nil {
		res.home = shell.Word(*c.Home)
	}
	if werr := a.Out.Print(a.Ctx, res); werr != nil {
		return errors.Join(err, werr)
	}
	if failed := done.Count(convert.Failed); failed > 0 {
		err = errors.Join(err, fmt.Errorf("%d of %s failed", failed, screen.Plural(int64(len(res.Migrated)), "session")))
	}
	if err != nil {
		return console.Printed(err)
	}
	return nil
}

// newMigrateResult returns what a migration did, and how to continue.
func newMigrateResult(a *console.App, done *convert.Migration) *migrateResult {
	to := a.Reg.Lookup(done.To)
	res := &migrateResult{To: done.To, Dir: done.Dir, DryRun: done.DryRun, Migrated: []migrated{}, Empty: done.Empty,
		Histories: done.Histories, agent: to.Clients[0], client: to.Home.Title, tokens: to.Home.Summarizes}
	res.width, _, _ = a.Out.TerminalSize()
	seen := map[string]*migrated{} // by folder and what was used
	for i := range done.Migrated {
		e := migrated{Migrated: &done.Migrated[i]}
		switch ready := !done.DryRun || e.Status == convert.Same || e.Status == convert.Continued; {
		case e.Err() != nil:
		case to.Home.Code != nil:
			if ready {
				e.Code = to.Home.Code(e.Session, e.Cwd)
			}
		default:
			l := launchOf(a, to, e.Migrated, done.Dir)
			if ready {
				e.Continue, e.Launch = l.shell(), &l
			}
			if e.Status != convert.Same && e.Status != convert.Continued && len(e.Servers)+len(e.Commands) > 0 {
				key := strings.Join(slices.Concat([]string{e.Agent, e.Cwd}, e.Servers, []string{""}, e.Commands), "\x00")
				if seen[key] == nil { // the client's own file can be large
					e.MCP, e.Allowed = lacking(a, to, e.Migrated, l)
					seen[key] = &e
				}
				e.MCP, e.Allowed = seen[key].MCP, seen[key].Allowed
			}
		}
		res.Migrated = append(res.Migrated, e)
	}
	return res
}

// sources returns the sessions to migrate, grouped by store, and the folders
// that they belong to.
func (c *migrateCmd) sources(a *console.App, to *formats.Format) (out []convert.MigrateSource, folders []string, err error) {
	if !c.All {
		src, err := resolveSource(a, c.Src, c.Last, c.Live)
		return []convert.MigrateSource{src.toMigrate()}, []string{src.folder}, err
	}
	listing, err := (&lsCmd{Project: *c.Project, ReadFlags: console.ReadFlags{Live: c.Live}}).list(a)
	if err != nil {
		return nil, nil, err
	}
	found, _ := listing.Select(sessions.Filter{Project: *c.Project})
	at := map[string]int{}
	for _, s := range found {
		if s.Sources[0].Format == to.Name {
			continue // already in the target client
		}
		path := s.Sources[0].Path
		n, ok := at[path]
		if !ok {
			n = len(out)
			at[path] = n
			out = append(out, convert.MigrateSource{Path: path, Listing: listing})
		}
		out[n].Sessions, folders = append(out[n].Sessions, s.ID), append(folders, s.Workspace)
	}
	if len(out) == 0 {
		return nil, nil, &formats.Error{At: *c.Project, Err: errors.New("no sessions of other clients belong to this folder"),
			Hint: "run `rehome ls` to list all sessions"}
	}
	return out, folders, nil
}

func (s source) toMigrate() convert.MigrateSource {
	if s.session == "" {
		return convert.MigrateSource{Path: s.path}
	}
	return convert.MigrateSource{Path: s.path, Sessions: []string{s.session}, Listing: s.listing}
}

// resolveCwd returns a folder as a program that works in it names it: absolute
// and without symbolic links.
func resolveCwd(dir string) (string, error) {
	refuse := func(err error) (string, error) {
		return "", &formats.Error{At: dir, Err: err, Hint: "pass an existing folder with --cwd; the session continues in it"}
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return refuse(err)
	}
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return refuse(errors.New("no such folder"))
	case err != nil:
		return refuse(err)
	case !info.IsDir():
		return refuse(errors.New("not a folder"))
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return refuse(err)
	}
	return real, checkUTF8(real)
}
