package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/convert"
	"rehome/convert/search"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/session"
	"rehome/internal/shell"
)

type continueCmd struct {
	Session string `arg:"" optional:"" help:"Session on this machine (its id, an id prefix, or words from its title), or a store, file or PATH#ID (default: choose one from a list)"`

	Last    bool   `group:"Which sessions:" help:"Continue the newest session of the current directory"`
	Project string `group:"Which sessions:" placeholder:"DIR" help:"List only sessions of this folder and its subfolders"`
	Client  string `group:"Which sessions:" placeholder:"CLIENT" help:"List only sessions of this client: cursor-cli, claude-code, ..."`
	Since   string `group:"Which sessions:" placeholder:"WHEN" help:"List only sessions changed since WHEN: 2026-11-01, yesterday, 12h, ..."`
	Search  string `group:"Which sessions:" placeholder:"WORDS" help:"List only sessions with a message that contains all of these words, as rehome search finds them"`

	In    string  `group:"Where to:" aliases:"to" placeholder:"CLIENT" help:"Client to continue in: ${target_list} (default: the session's own if it can resume it, else claude-code)"`
	Cwd   *string `group:"Where to:" placeholder:"DIR" help:"Folder to continue in (default: the session's own)"`
	Print bool    `group:"Where to:" help:"Write and start nothing: print the command that continues the session, preceded by the one that migrates it if needed"`
	Home  *string `group:"Where to:" placeholder:"DIR" help:"Home folder of the clients (default: yours)"`
	ClientDirs

	Live bool `group:"Advanced:" help:"Read stores that are in use directly, not from a copy (requires their -wal and -shm files)"`
}

func (continueCmd) Help() string {
	return `Without SESSION, lists the sessions on this machine on the whole screen, those of the current directory first. Type
to filter by title, folder, client or id; Enter continues the selected session, Esc quits.

The session's own client resumes it, if it can and is installed. Otherwise, or with --in, the session is first migrated
to Claude Code or the client that --in names, as rehome migrate does; an earlier migration is updated. Then the client
starts in the session's folder; in the list, Tab chooses another one. If the folder is unknown, rehome asks for it. If the
client is not installed, nothing is migrated. The Cursor SDK has no command to start: --in cursor-sdk prints the code that
resumes the agent in a program.

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

func (r *continueResult) Text(p *screen.Page) { p.Line(screen.Visible(r.Command + r.Code)) }

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
func (c *continueCmd) Run(a *console.App) error {
	prints := c.Print
	if to := targetOf(a, c.In); to != nil && to.Home.Code != nil {
		prints = true // there is nothing to start
	}
	if a.Out.JSON && !prints {
		return console.Usage(&formats.Error{Op: "continue", Err: errors.New("--json requires --print"),
			Hint: "pass both to get the command as JSON"})
	}
	tty, _, captured := a.Out.Terminal()
	if !prints && (tty == nil || captured) {
		return console.Usage(&formats.Error{Op: "continue", Err: errors.New("the client needs a terminal"),
			Hint: "pass --print to print the command that continues the session"})
	}
	useHome(a, c.Home)
	o, err := c.options()
	if err != nil {
		return err
	}
	src, err := c.source(a, &o)
	if err != nil {
		return err
	}
	return c.open(a, src, o)
}

func (c *continueCmd) options() (o continueOptions, err error) {
	o = continueOptions{In: c.In, Dirs: c.ClientDirs, Live: c.Live, DryRun: c.Print}
	if c.Cwd != nil {
		o.Cwd, err = resolveCwd(*c.Cwd)
	}
	return o, err
}

// source returns the session that is named, or lets the user choose one and its client.
func (c *continueCmd) source(a *console.App, o *continueOptions) (source, error) {
	if c.Session != "" || c.Last {
		return resolveSource(a, c.Session, c.Last, c.Live)
	}
	query, err := c.query()
	if err != nil {
		return source{}, err
	}
	return (&chooser{App: a, project: c.Project, client: c.Client, since: c.Since, query: query, live: c.Live, options: o}).choose()
}

// open continues a session. If its folder is unknown, it asks for it.
func (c *continueCmd) open(a *console.App, src source, o continueOptions) error {
	l, err := prepareContinue(a, src, o)
	if tty, _, _ := a.Out.Terminal(); errors.Is(err, convert.ErrNoFolder) && tty != nil && !a.Out.JSON {
		if o.Cwd, err = askFolder(a, tty, err); err == nil {
			l, err = prepareContinue(a, src, o)
		}
	}
	if err != nil {
		return err
	}
	if l.Note != "" {
		a.Out.Remark(l.Note)
	}
	if l.Migrated != nil && l.Migrated.Status == convert.Checked {
		l.Migrate = c.migrateCommand(a, src, o, &l)
	}
	command := l.shell()
	if !c.Print && l.Code == "" {
		return startClient(a, &l, command)
	}
	if l.Migrate != nil && l.Code != "" {
		a.Out.Remark("the session is not in " + l.Client + " yet, or not all of it; run `" + shell.Command(l.Migrate...) + "` first")
	}
	return a.Out.Print(a.Ctx, &continueResult{Session: l.session, Client: l.Client, Command: command, launch: l})
}

// migrateCommand returns the command that does what a dry run left out.
func (c *continueCmd) migrateCommand(a *console.App, src source, o continueOptions, l *launch) []string {
	name := c.Session
	if name == "" {
		name, o.Cwd = src.path+"#"+l.Migrated.ID, l.Dir
	}
	out := []string{a.Out.Name, "migrate", name, "--update"}
	flag := func(name, value string) {
		if value != "" {
			out = append(out, name, value)
		}
	}
	flag("--to", o.In)
	flag("--cwd", o.Cwd)
	if c.Home != nil {
		flag("--home", *c.Home)
	}
	switch to := cmp.Or(o.In, session.ClaudeCode); { // migrate refuses those of other clients
	case to == session.ClaudeCode && c.ClaudeDir != nil:
		flag("--claude-dir", *c.ClaudeDir)
	case to == session.CursorCLI && c.CursorDir != nil:
		flag("--cursor-dir", *c.CursorDir)
	}
	if c.Live {
		out = append(out, "--live")
	}
	return out
}

// askFolder asks in which folder to continue a session for which no folder is known: unknown.
func askFolder(a *console.App, tty io.Writer, unknown error) (string, error) {
	home := console.Machine(a.Out.Getenv).Home
	here, err := resolveCwd(".")
	if err != nil || sessions.SameFolder(here, home) { // the home folder is where terminals open
		here = ""
	}
	answers, in := make(chan string, 1), bufio.NewReader(os.Stdin)
	read := func() { // one line: the rest is for the client
		if line, err := in.ReadString('\n'); err == nil {
			answers <- line
		} else {
			close(answers)
		}
	}
	screen.NewPage(tty, false).Line("The folder of this session is unknown.")
	for {
		question := screen.Safe("Folder to continue in: ")
		if here != "" {
			question = screen.Sprintf("Folder to continue in (Enter for %s): ", console.ShortPath(home, here))
		}
		if _, err := io.WriteString(tty, string(question)); err != nil {
			return "", err
		}
		go read()
		select {
		case <-a.Ctx.Done():
			return "", a.Ctx.Err()
		case answer, ok := <-answers:
			if answer = cmp.Or(strings.TrimSpace(answer), here); answer == "" || !ok {
				return "", unknown
			}
			if rest, ok := strings.CutPrefix(answer, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
				answer = home + rest
			}
			dir, err := resolveCwd(answer)
			if err == nil {
				return dir, nil
			}
			a.Out.PrintLine(screen.Visible(err.Error()))
		}
	}
}

// startClient replaces this process by the client, or runs it where that is impossible.
func startClient(a *console.App, l *launch, command string) error {
	program := lookProgram(a, l.Argv[0])
	if program == "" {
		return &formats.Error{At: l.Argv[0], Err: errors.New("not found in $PATH"), Hint: "install " + l.Client + ", then run: " + command}
	}
	if !a.Out.Quiet {
		a.Out.PrintLine(a.Out.ErrPalette.Faint(screen.Visible(command)))
	}
	for _, argv := range l.Import {
		if out, err := l.process(a.Ctx, program, argv).CombinedOutput(); err != nil {
			why := cmp.Or(strings.TrimSpace(string(out)), err.Error())
			return &formats.Error{At: argv[len(argv)-1], Err: fmt.Errorf("%s did not import the session: %s", l.Client, why), Hint: "run: " + command}
		}
	}
	return replaceProcess(a.Ctx, l.process(context.WithoutCancel(a.Ctx), program, l.Argv))
}

// process returns a process of the client, in the folder and environment of a launch.
func (l *launch) process(ctx context.Context, program string, argv []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, argv[1:]...)
	cmd.Args[0], cmd.Dir, cmd.Env = argv[0], l.Dir, append(os.Environ(), l.Env...)
	return cmd
}
