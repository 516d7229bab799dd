package cli

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"time"

	"rehome/convert"
	"rehome/convert/search"
	"rehome/formats"
	"rehome/formats/session"
)

type continueCmd struct {
	Session string `arg:"" optional:"" help:"Session on this machine (its id, an id prefix, or words from its title), or a store, file or PATH#ID (default: choose one from a list)"`

	Last    bool   `group:"Which sessions:" help:"Continue the newest session of the current directory"`
	Project string `group:"Which sessions:" placeholder:"DIR" help:"List only sessions of this folder and its subfolders"`
	Client  string `group:"Which sessions:" placeholder:"NAME" help:"List only sessions of this client: cursor-cli, claude-code, ..."`
	Since   string `group:"Which sessions:" placeholder:"WHEN" help:"List only sessions changed since WHEN: 2026-11-01, yesterday, 12h, ..."`
	Search  string `group:"Which sessions:" placeholder:"WORDS" help:"List only sessions with a message that contains all of these words, as rehome search finds them"`

	In    string  `group:"Where to:" aliases:"to" placeholder:"CLIENT" help:"Client to continue in: claude-code, cursor-cli, cursor-sdk (default: the session's own if it can resume it, else claude-code)"`
	Cwd   *string `group:"Where to:" placeholder:"DIR" help:"Folder to continue in (default: the session's own)"`
	Print bool    `group:"Where to:" help:"Migrate the session if needed, but print the command instead of running it"`
	Home  *string `group:"Where to:" placeholder:"DIR" help:"Home folder of the clients (default: yours)"`
	ClientDirs

	Live bool `group:"Advanced:" help:"Read stores that are in use directly, not from a copy (requires their -wal and -shm files)"`
}

func (continueCmd) Help() string {
	return `Without SESSION, lists the sessions on this machine on the whole screen, those of the current directory first. Type
to filter by title, folder, client or id; Enter continues the selected session, Esc quits.

The session's own client resumes it, if it can and is installed. Otherwise, or with --in, the session is first migrated
to Claude Code or the client that --in names, as rehome migrate does; an earlier migration is updated. Then the client
starts in the session's folder. The Cursor SDK has no command to start: --in cursor-sdk prints the code that resumes the
agent in a program.

Examples:

    rehome continue
    rehome continue --last
    rehome continue --search "flaky login"
    rehome continue 5d0b2b7e --in cursor-cli
    rehome continue 5d0b2b7e --in cursor-sdk
    eval "$(rehome continue --print)"`
}

// continueResult is the result of continue --print: schema continue-result-1.
type continueResult struct {
	Session string `json:"session"` // its id in the client
	Client  string `json:"client"`
	Command string `json:"command,omitempty"` // for the shell; the other members say the same
	launch
}

func (r *continueResult) text(p *page) { p.Line(visible(r.Command + r.Code)) }

// Validate rejects combinations of flags that the grammar allows.
func (c *continueCmd) Validate() error {
	refuse := func(what, hint string) error { return &formats.Error{Err: errors.New(what), Hint: hint} }
	for i, value := range []*string{c.Cwd, c.Home} {
		if value != nil && *value == "" {
			return refuse([]string{"--cwd", "--home"}[i]+": empty", "name a folder, or omit the flag")
		}
	}
	switch {
	case c.Last && c.Session != "":
		return refuse("--last cannot be combined with SESSION", "omit one of them")
	case (c.Last || c.Session != "") && c.Project+c.Client+c.Since+c.Search != "":
		return refuse("--project, --client, --since and --search only filter the list of sessions", "omit them, or omit SESSION and --last")
	}
	if _, err := c.query(); err != nil {
		return err
	}
	_, err := parseTime(c.Since, time.Unix(0, 0))
	return err
}

// query returns what --search looks for, nil if the flag is not set.
func (c *continueCmd) query() (*search.Query, error) {
	if c.Search == "" {
		return nil, nil
	}
	return search.NewQuery(strings.Fields(c.Search), nil, search.SmartCase)
}

// Run starts a client that continues a session, or prints how to continue it.
func (c *continueCmd) Run(a *app) error {
	if to := a.targetOf(c.In); to != nil && to.Home.Code != nil {
		c.Print = true // there is nothing to start
	}
	if a.out.json && !c.Print {
		return usageError{&formats.Error{Op: "continue", Err: errors.New("--json requires --print"), Hint: "pass both to get the command as JSON"}}
	}
	tty, _, captured := a.out.terminal()
	if !c.Print && (tty == nil || captured) {
		return usageError{&formats.Error{Op: "continue", Err: errors.New("the client needs a terminal"), Hint: "pass --print to print the command that continues the session"}}
	}
	a.useHome(c.Home)
	src, err := c.source(a)
	if err != nil {
		return err
	}
	return c.open(a, src)
}

// source returns the session that is named, or lets the user choose one.
func (c *continueCmd) source(a *app) (source, error) {
	if c.Session != "" || c.Last {
		return a.resolveSource(c.Session, c.Last, c.Live)
	}
	query, err := c.query()
	if err != nil {
		return source{}, err
	}
	return (&chooser{app: a, project: c.Project, client: c.Client, since: c.Since, query: query, live: c.Live}).choose()
}

// open continues a session.
func (c *continueCmd) open(a *app, src source) error {
	l, err := c.prepare(a, src)
	if err != nil {
		return err
	}
	if l.Note != "" {
		a.out.remark(l.Note)
	}
	command := l.shell()
	if c.Print {
		return a.out.printResult(a.ctx, &continueResult{Session: l.session, Client: l.Client, Command: command, launch: l})
	}
	return a.start(&l, command)
}

// prepare returns how to continue a session, and migrates it if it has to. A session
// of an unknown folder continues in the current directory, and one whose own client
// is not installed in Claude Code.
func (c *continueCmd) prepare(a *app, src source) (l launch, err error) {
	o := continueOptions{In: c.In, Dirs: c.ClientDirs, Live: c.Live}
	if c.Cwd != nil {
		if o.Cwd, err = resolveCwd(*c.Cwd); err != nil {
			return l, err
		}
	}
	l, err = a.prepareContinue(src, o)
	if errors.Is(err, convert.ErrNoFolder) {
		if o.Cwd, err = resolveCwd("."); err == nil {
			a.out.remark("the folder of this session is unknown; continuing in the current directory (--cwd DIR for another)")
			l, err = a.prepareContinue(src, o)
		}
	}
	if err == nil && c.In == "" && l.Migrated == nil && a.program(&l) == "" {
		o.In = session.ClaudeCode
		if in, err := a.prepareContinue(src, o); err == nil {
			return in, nil
		}
	}
	return l, err
}

// start replaces this process by the client, or runs it where that is impossible.
func (a *app) start(l *launch, command string) error {
	program := a.program(l)
	if program == "" {
		return &formats.Error{At: l.Argv[0], Err: errors.New("not found in $PATH"), Hint: "install " + l.Client + ", then run: " + command}
	}
	if !a.out.quiet {
		a.out.printLine(a.out.errPalette.Faint(visible(command)))
	}
	cmd := exec.CommandContext(context.WithoutCancel(a.ctx), program, l.Argv[1:]...)
	cmd.Args[0], cmd.Dir, cmd.Env = l.Argv[0], l.Dir, append(os.Environ(), l.Env...)
	return replaceProcess(a.ctx, cmd)
}

// program returns the path of the client of a launch, "" if it is not installed.
func (a *app) program(l *launch) string {
	getenv := a.out.getenv
	if a.ownEnv != nil {
		getenv = a.ownEnv
	}
	path, _ := lookPath(l.Argv[0], getenv("PATH"))
	return path
}
