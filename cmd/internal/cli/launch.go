package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"rehome/cmd/internal/console"
	"rehome/convert"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/session"
	"rehome/internal/shell"
)

// launch is how a client is started so that it continues a session, or the code that
// continues it in a program.
type launch struct {
	Argv []string `json:"argv,omitempty"`
	Dir  string   `json:"dir"`            // the folder to start it in
	Env  []string `json:"env,omitempty"`  // NAME=value, added to the environment
	Code string   `json:"code,omitempty"` // instead of Argv, if the client is a library

	// Migrate is the command to run first, because the client does not have the session yet, or
	// not all of it. nil = it has.
	Migrate []string `json:"migrate,omitempty"`

	// Import are the commands to run before Argv, in the same folder and environment: the client
	// takes in what was written for it. nil = there is nothing to take in.
	Import [][]string `json:"import,omitempty"`

	session  string    // its id in the client
	Client   string    `json:"-"` // name of the client for people, such as "Claude Code"
	Migrated *migrated `json:"-"` // nil if the session's own client continues it where it is
	Note     string    `json:"-"` // what to tell the user before the client starts, if anything
}

// continueOptions are the options of prepareContinue.
type continueOptions struct {
	In     string // client to continue in; "" = the session's own if it can resume it, else Claude Code
	Cwd    string // folder to continue in, as resolveCwd returns it; "" = the session's own
	Dirs   ClientDirs
	DryRun bool // write nothing; the launch is what it would be, but it may not work
	Live   bool
}

// prepareContinue returns how to continue a session: in its own client if that can
// resume it where it is, else in another one, to which it migrates the session. An
// earlier migration is updated, unless it was continued: then that one is launched.
// Nothing is migrated to a client whose program is not installed. With --home, call
// useHome first.
func prepareContinue(a *console.App, src source, o continueOptions) (launch, error) {
	listing, err := sessions.List(a.Ctx, a.Reg, sessions.Options{Paths: []string{src.path}, Live: o.Live, Folders: candidates(a, src.folder)})
	if err != nil {
		return launch{}, err
	}
	var of *sessions.Listed
	for _, s := range listing.All() {
		switch {
		case src.session == "" && (s.Parent != nil || s.Empty), src.session != "" && s.ID != src.session:
		case of != nil && src.session == "":
			return launch{}, newAmbiguous(a, listing, src.path, "holds several sessions", listing.All())
		default:
			of = s
		}
	}
	if of != nil {
		src.session = of.ID
	}
	own, to, err := route(a, of, src, o)
	if err != nil || to == nil {
		return own, err
	}
	l, err := launchMigrated(a, to, src, o)
	if err != nil && a.Ctx.Err() == nil && own.Argv != nil {
		return own, nil // starting it says what is missing
	}
	return l, err
}

// route returns how a session can be continued: as own, in its own client, which finds it
// where it is, or in the client of to, to which it is migrated first. With both, the program
// of its own client is not installed.
func route(a *console.App, s *sessions.Listed, src source, o continueOptions) (own launch, to *formats.Format, err error) {
	if s != nil {
		var native bool
		own, native, err = launchNative(a, s, src, o)
		if err != nil || native && (o.In != "" || lookProgram(a, own.Argv[0]) != "") {
			return own, nil, err
		}
	}
	if to = targetOf(a, cmp.Or(o.In, session.ClaudeCode)); to == nil {
		why := whyReadOnly(a.Reg, o.In)
		if why != "" {
			why = ": " + why
		}
		return own, nil, console.Usage(&formats.Error{Err: fmt.Errorf("this session cannot be continued in %s%s", o.In, why),
			Hint: "sessions can be migrated to " + strings.Join(targets(a), ", ")})
	}
	return own, to, nil
}

// targetOf returns the format to which sessions are migrated for a client, nil if none.
func targetOf(a *console.App, client string) *formats.Format {
	for _, f := range a.Reg.All() {
		if f.Home != nil && f.Home.Folder != "" && slices.Contains(f.Clients, client) {
			return f
		}
	}
	return nil
}

// whyReadOnly returns why no sessions are written for a client, by its name or that of its format;
// "" if they are.
func whyReadOnly(reg *formats.Registry, name string) string {
	for _, f := range reg.All() {
		if f.ReadOnly != "" && (f.Name == name || slices.Contains(f.Clients, name)) {
			return f.ReadOnly
		}
	}
	return ""
}

// words are what the help and the completion of flags refer to, by their names.
func words() kong.Vars {
	reg, out := all.Registry(), kong.Vars{}
	movers := slices.DeleteFunc(reg.Clients(), func(c string) bool {
		return !slices.ContainsFunc(reg.All(), func(f *formats.Format) bool { return f.Mover != nil && slices.Contains(f.Clients, c) })
	})
	for name, list := range map[string][]string{"target": targets(&console.App{Reg: reg}), "mover": movers} {
		out[name+"s"], out[name+"_list"] = strings.Join(list, ","), strings.Join(list[:len(list)-1], ", ")+" or "+list[len(list)-1]
	}
	return out
}

// targets returns the clients that sessions can be continued in.
func targets(a *console.App) []string {
	return slices.DeleteFunc(a.Reg.Clients(), func(c string) bool { return targetOf(a, c) == nil })
}

// launchNative returns how a session's own client continues it, if it can: the client
// resumes sessions by their ids, and looks for this one where it is. Where that is not
// known, sessions are left to Migrate, which finds those of the client unchanged. An id
// that the client would take for a flag is not given to it.
func launchNative(a *console.App, s *sessions.Listed, src source, o continueOptions) (launch, bool, error) {
	f := a.Reg.Lookup(s.Sources[0].Format)
	dir := cmp.Or(s.Workspace, src.folder)
	if f == nil || f.Home == nil || f.Home.Resume == nil || f.Home.Folder != "" && f.Home.Hash == nil || s.Parent != nil || o.In != "" &&
		o.In != s.Agent || strings.HasPrefix(s.ID, "-") {
		return launch{}, false, nil
	}
	if dir == "" || o.Cwd != "" && !sessions.SameFolder(o.Cwd, dir) || !looksIn(a, f.Home, s.Sources[0].Path, dir) {
		return launch{}, false, nil
	}
	dir, err := resolveCwd(dir)
	switch {
	case err != nil && o.In != "":
		return launch{}, false, err
	case err != nil:
		return launch{}, false, nil
	}
	l := launch{Argv: append(slices.Clone(f.Home.Resume), s.ID), Dir: dir, session: s.ID, Client: f.Home.Title}
	if a.OwnEnv != nil {
		l.Env = []string{console.HomeVariable() + "=" + a.Out.Getenv(console.HomeVariable())}
	}
	return l, true, nil
}

// looksIn reports whether a client that runs in the folder dir looks for its sessions
// in this store.
func looksIn(a *console.App, h *formats.Home, store, dir string) bool {
	var inHash, inRoot bool
	roots := h.Roots(console.Machine(a.Out.Getenv))
	for at := store; !inRoot && at != filepath.Dir(at); at = filepath.Dir(at) {
		inHash = inHash || h.Hash == nil || dir != "" && filepath.Base(at) == h.Hash(dir)
		inRoot = slices.ContainsFunc(roots, func(root string) bool { return sessions.SameFolder(root, at) })
	}
	return inHash && inRoot
}

// launchMigrated migrates a session and returns how to continue it.
func launchMigrated(a *console.App, to *formats.Format, src source, o continueOptions) (launch, error) {
	if !o.DryRun && to.Home.Code == nil && lookProgram(a, to.Home.Resume[0]) == "" {
		return launch{}, notInstalled(a, to)
	}
	at, err := configDir(a, to, &o.Dirs)
	if err != nil {
		return launch{}, err
	}
	var notice func(string)
	if a.Out.Verbose {
		notice = a.Out.Remark
	}
	done, err := convert.Migrate(a.Ctx, a.Reg, []convert.MigrateSource{src.toMigrate()}, convert.MigrateOptions{
		To: to.Name, Dir: at, UndoDir: convert.UndoDir(console.Machine(a.Out.Getenv)), Cwd: o.Cwd,
		Folders: candidates(a, src.folder), Machine: console.Machine(a.Out.Getenv), Update: true,
		DryRun: o.DryRun, Live: o.Live, OnNotice: notice, Verbose: a.Out.Verbose,
	})
	switch {
	case err != nil:
		return launch{}, err
	case len(done.Migrated) == 0:
		return launch{}, &formats.Error{At: cmp.Or(src.session, src.path), Err: errors.New("nothing to continue: there are no messages"),
			Hint: "run `rehome show` to see what the session holds"}
	}
	m := &done.Migrated[0]
	note := ""
	if err := m.Err(); errors.Is(err, convert.ErrContinued) {
		note = fmt.Sprintf("opening the session that you continued in %s; run `%s` for a new copy", to.Home.Title,
			shell.Command("rehome", "migrate", m.ID, "--again"))
	} else if err != nil {
		return launch{}, err
	}
	l := launchOf(a, to, m, at)
	l.Migrated, l.Note = &migrated{Migrated: m, Continue: l.shell()}, note
	return l, nil
}

// notInstalled returns the error for a client whose program is not found.
func notInstalled(a *console.App, to *formats.Format) error {
	hint := "install " + to.Home.Title
	for _, c := range targets(a) {
		if h := targetOf(a, c).Home; h.Resume != nil && lookProgram(a, h.Resume[0]) != "" {
			hint += ", or pass --in " + c
		}
	}
	return &formats.Error{At: to.Home.Resume[0], Err: errors.New("not found in $PATH, so nothing was migrated"), Hint: hint}
}

// lookProgram returns the path of a client's program, "" if it is not installed.
func lookProgram(a *console.App, name string) string {
	getenv := a.Out.Getenv
	if a.OwnEnv != nil {
		getenv = a.OwnEnv
	}
	path, _ := console.LookPath(name, getenv("PATH"))
	return path
}

// launchOf returns how a client continues a session that is among its own, in the
// config folder dir.
func launchOf(a *console.App, to *formats.Format, m *convert.Migrated, dir string) launch {
	h := to.Home
	l := launch{Dir: m.Cwd, session: m.Session, Client: h.Title}
	if h.Code != nil {
		l.Code = h.Code(m.Session, m.Cwd)
		return l
	}
	l.Argv = append(slices.Clone(h.Resume), m.Session)
	for _, file := range m.Imports {
		// What the client has already can wait for it no more.
		if had := m.Status == convert.Same || m.Status == convert.Continued; !had || console.Exists(file) {
			l.Import = append(l.Import, append(slices.Clone(h.Import.Take), file))
		}
	}
	own := a.Out.Getenv
	if a.OwnEnv != nil {
		own = a.OwnEnv
	}
	if usual, err := defaultConfigDir(to, own); err != nil || usual != dir {
		l.Env = []string{h.Variable + "=" + dir}
		if h.Variable == "" {
			l.Env = []string{console.HomeVariable() + "=" + a.Out.Getenv(console.HomeVariable())}
		}
	}
	return l
}

// useHome makes a home folder the one of the clients, as --home asks. The variables
// of the current user do not apply to the clients of another one.
func useHome(a *console.App, home *string) {
	if home == nil {
		return
	}
	a.OwnEnv = a.Out.Getenv
	a.Out.Getenv = func(name string) string {
		if name == console.HomeVariable() {
			return *home
		}
		return ""
	}
}

// ClientDirs are the flags that name the config folders of clients that sessions are
// migrated to. kong finds Validate only in embedded types that are exported.
type ClientDirs struct {
	ClaudeDir *string `group:"Where to:" placeholder:"DIR" help:"Config folder of Claude Code (default: $CLAUDE_CONFIG_DIR, or .claude in the home folder)"`
	CursorDir *string `group:"Where to:" rare:"" placeholder:"DIR" help:"Config folder of the Cursor CLI (default: $CURSOR_CONFIG_DIR, or .cursor in the home folder)"`
}

// Validate rejects empty names of folders.
func (d *ClientDirs) Validate() error {
	for i, value := range []*string{d.ClaudeDir, d.CursorDir} {
		if value != nil && *value == "" {
			return &formats.Error{Err: errors.New([]string{"--claude-dir", "--cursor-dir"}[i] + ": empty"), Hint: "name a folder, or omit the flag"}
		}
	}
	return nil
}

// of returns the flag for a client, nil if there is none.
func (d *ClientDirs) of(client string) *string {
	switch client {
	case session.ClaudeCode:
		return d.ClaudeDir
	case session.CursorCLI:
		return d.CursorDir
	}
	return nil
}

// configDir returns the config folder of a client, which can be named by a flag.
func configDir(a *console.App, to *formats.Format, flags *ClientDirs) (string, error) {
	if flag := flags.of(to.Clients[0]); flag != nil {
		return filepath.Abs(*flag)
	}
	return defaultConfigDir(to, a.Out.Getenv)
}

// defaultConfigDir is configDir without flags, in an environment.
func defaultConfigDir(to *formats.Format, getenv func(string) string) (string, error) {
	if getenv(to.Home.Variable) == "" && getenv(console.HomeVariable()) == "" {
		return "", console.NoHomeError("pass --home DIR, --claude-dir DIR or --cursor-dir DIR")
	}
	dir := to.Home.ConfigDir(console.Machine(getenv))
	if dir == "" {
		return "", &formats.Error{At: to.Home.Title, Err: errors.New("no folder for the files that it is to import"), Hint: "set LOCALAPPDATA"}
	}
	return filepath.Abs(dir)
}

// shell returns the launch as a command for the shell of this machine, "" if it is code.
func (l *launch) shell() string {
	if l.Code != "" {
		return ""
	}
	return l.command(runtime.GOOS)
}

// command returns the launch as a command for the shell of an operating system:
// PowerShell on Windows, else one that follows POSIX.
func (l *launch) command(goos string) string {
	quote, set, then, last := shell.For(goos), "%s=%s", " ", " && "
	if goos == "windows" {
		set, then, last = "$env:%s = %s", "; ", "; "
	}
	out := ""
	if l.Migrate != nil {
		out = shell.Join(quote, l.Migrate) + last
	}
	if l.Dir != "" {
		out += "cd " + quote(l.Dir) + last
	}
	env := ""
	for _, v := range l.Env {
		name, value, _ := strings.Cut(v, "=")
		env += fmt.Sprintf(set, name, quote(value)) + then
	}
	for _, argv := range l.Import {
		out += env + shell.Join(quote, argv) + last
	}
	return out + env + shell.Join(quote, l.Argv)
}
