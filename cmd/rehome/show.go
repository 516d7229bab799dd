package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"rehome/cmd/rehome/internal/prose"
	"rehome/cmd/rehome/internal/screen"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

type showCmd struct {
	Src string `arg:"" optional:"" help:"File, store, PATH#ID, or session on this machine (its id, an id prefix, or words from its title, as rehome ls prints them). Use - to read from stdin."`

	Last  bool   `group:"Which session:" help:"Use the newest session of the current directory as SRC"`
	Turns string `group:"Which session:" placeholder:"RANGE" help:"Print only these turns: 3, 2-5, 7-, or -3 for the last three"`

	Tools    string `group:"What to include:" enum:"brief,full,none" default:"brief" placeholder:"HOW" help:"Print tool calls and results: brief (default), full or none"`
	Thinking bool   `group:"What to include:" help:"Also include the model's reasoning"`
	All      bool   `group:"What to include:" help:"Also include internal records of the client: context, snapshots, logs"`
	History  bool   `group:"What to include:" aliases:"branches" help:"Also include abandoned turns, as branches"`

	Format  string `group:"Output:" enum:"text,markdown,json" default:"text" placeholder:"FORM" help:"Output format: text (default), markdown, or json (canonical lines)"`
	NoPager bool   `group:"Output:" help:"Do not use a pager"`

	Live bool `group:"Advanced:" help:"Read stores that are in use directly, not from a copy (requires their -wal and -shm files)"`
}

func (showCmd) Help() string {
	return `On a terminal, long output goes through $PAGER (default: less). Control characters in the session are escaped. A
stream from stdin is printed as it arrives. Times are local in text output and UTC in Markdown. Anything that cannot be
read is reported on stderr; -v prints the full list.

Examples:

    rehome show --last
    rehome show 5d0b2b7e --turns -2 --tools full
    rehome show 5d0b2b7e --format markdown > session.md
    agent -p --output-format stream-json "tidy up" | rehome show -`
}

// Validate rejects combinations of flags that the grammar allows.
func (c *showCmd) Validate() error {
	refuse := func(what, hint string) error { return &formats.Error{Err: errors.New(what), Hint: hint} }
	if _, err := prose.ParseTurns(c.Turns); err != nil {
		return refuse("--turns: "+err.Error(), "try 3, 2-5, 7-, or -3 for the last three")
	}
	switch {
	case c.Src == "" && !c.Last:
		return refuse("SRC is missing", "name a session, a store or a file, or pass --last; `rehome ls` lists sessions")
	case c.Src != "" && c.Last:
		return refuse("--last cannot be combined with SRC", "omit one of them")
	}
	return nil
}

// Run prints one session. From stdin, which cannot be listed first, it prints all of them.
func (c *showCmd) Run(a *app) error {
	format := c.Format
	if a.out.json {
		if format == "markdown" {
			return usageError{&formats.Error{Op: "show", Err: errors.New("--json and --format markdown cannot be used together"), Hint: "for show, --json means --format json"}}
		}
		format = "json"
	}
	turns, err := prose.ParseTurns(c.Turns)
	if err != nil {
		return err
	}
	src, err := a.resolveSource(c.Src, c.Last, c.Live)
	if err != nil {
		return err
	}
	v := &viewer{app: a, cmd: c, format: format, turns: turns}
	if src.path == stdinName {
		return v.showStdin()
	}
	if src.session == "" {
		folder := src.folder
		if src, err = a.onlySession(src.path, c.Live); err != nil {
			return err
		}
		src.folder = cmp.Or(folder, src.folder)
	}
	v.source = src.path
	return v.show(v.storeDecoder(src))
}

// onlySession returns the only session of a store.
func (a *app) onlySession(path string, live bool) (source, error) {
	l, err := sessions.List(a.ctx, a.reg, sessions.Options{Paths: []string{path}, Live: live, OnNotice: a.out.remark, Verbose: a.out.verbose, Folders: workingDirs()})
	if err != nil {
		return source{}, err
	}
	switch n := len(l.Sessions); {
	case n > 1:
		var list []*sessions.Listed
		for i := range l.Sessions {
			list = append(list, &l.Sessions[i])
		}
		return source{}, a.newAmbiguous(l, path, "holds "+string(screen.Plural(int64(n), "session"))+": name one as "+path+"#ID", list)
	case n == 1:
		s := &l.Sessions[0]
		return source{path: s.Sources[0].Path, session: s.ID, folder: s.Workspace}, nil
	case len(l.Unread) > 0:
		u := l.Unread[0]
		if _, ok := errors.AsType[*formats.Error](u.Err); ok {
			return source{}, u.Err
		}
		return source{}, a.notReadable(u.Format, u.Path, u.Err)
	}
	return source{}, &formats.Error{At: path, Err: errors.New("no sessions found")}
}

// view returns the options for reading a store to print it. Secrets are withheld.
func (v *viewer) view(note loss.Sink) formats.View {
	return formats.View{Secrets: formats.WithholdSecrets, OnOmit: func(store.SidecarItem) {}, OnLoss: note, OnNotice: v.out.remark, Verbose: v.out.verbose, Live: v.cmd.Live}
}

// show prints the decoded sessions, and reports on stderr what could not be read.
func (v *viewer) show(decode decodeFunc) error {
	turns, err := v.resolveTurns(decode)
	if err != nil {
		return err
	}
	ctx, w, done := v.out.pagedOutput(v.ctx, v.format != "json" && !v.cmd.NoPager && !v.streaming)
	counting := &countingWriter{w: w}
	shownAny := false
	err = func() error {
		for s, err := range decode(ctx, v.view(v.lost.Add)) {
			if err != nil {
				return err
			}
			if shownAny && v.format != "json" {
				if _, err := counting.Write([]byte("\n")); err != nil {
					return err
				}
			}
			shownAny = true
			if !v.cmd.History {
				s = prose.WithoutBranches(s)
			}
			if err := v.write(counting, turns.Pick(s)); err != nil {
				return v.turnsError(err)
			}
		}
		return ctx.Err()
	}()
	if err != nil && v.ctx.Err() == nil && ctx.Err() != nil {
		err = context.Cause(ctx) // the user closed the pager
	}
	if err = done(err); err != nil && counting.n > 0 {
		err = reported{err} // part of the output is on stdout already
	}
	if err == nil && !shownAny {
		return &formats.Error{At: v.source, Err: errors.New("no sessions found")}
	}
	v.losses()
	return err
}

// turnsError names the range that selects no turn.
func (v *viewer) turnsError(err error) error {
	none, ok := errors.AsType[prose.TurnsError](err)
	if !ok {
		return err
	}
	return &formats.Error{At: "--turns " + v.cmd.Turns, Err: none, Hint: "omit --turns to print all of them"}
}

// joinTurns joins --turns and a range that counts from the end, which the parser
// would take for a flag.
func joinTurns(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...)
		}
		out = append(out, args[i])
		if args[i] == "--turns" && i+1 < len(args) && len(args[i+1]) > 1 && args[i+1][0] == '-' && args[i+1][1] >= '0' && args[i+1][1] <= '9' {
			i++
			out[len(out)-1] += "=" + args[i]
		}
	}
	return out
}

// resolveTurns turns a range that counts from the end into one that counts from
// the beginning.
func (v *viewer) resolveTurns(decode decodeFunc) (prose.Turns, error) {
	if !v.turns.FromEnd() {
		return v.turns, nil
	}
	last := 0
	for s, err := range decode(v.ctx, v.view(func(loss.Loss) {})) {
		if err != nil {
			return v.turns, err
		}
		n, err := prose.LastTurn(prose.WithoutBranches(s))
		if err != nil {
			return v.turns, err
		}
		last = max(last, n)
	}
	return v.turns.Resolve(last), v.ctx.Err()
}

func (v *viewer) write(w *countingWriter, s *session.Session) error {
	o := prose.Options{
		Tools: prose.Detail(v.cmd.Tools), Thinking: v.cmd.Thinking, All: v.cmd.All, Source: v.source, Streaming: v.streaming, Partial: !v.turns.All(),
		Palette: v.out.palette, Width: v.width(),
	}
	switch v.format {
	case "json":
		return writeLines(w, s, v.streaming)
	case "markdown":
		return prose.Markdown(w, s, o) // may be shared, so times are UTC
	}
	o.Zone = zone(v.out.getenv)
	return prose.Text(w, s, o)
}

// width returns the width of the terminal or, without one, the value of COLUMNS.
func (v *viewer) width() int {
	if !isTerminal(v.out.stdout) {
		if n, err := strconv.Atoi(v.out.getenv("COLUMNS")); err == nil && n >= 20 && n <= 10_000 {
			return n
		}
	}
	return columns(v.out.stdout)
}

// zone returns the user's time zone.
func zone(getenv func(string) string) *time.Location {
	if name := getenv("TZ"); name != "" {
		if l, err := time.LoadLocation(name); err == nil {
			return l
		}
	}
	return time.Local
}

// maxLosses is how many lines report losses without -v.
const maxLosses = 2

// losses reports what could not be shown, most severe first.
func (v *viewer) losses() {
	var list []loss.Group
	for kind := loss.Unreadable; kind >= loss.Missing; kind-- {
		for _, l := range v.lost.Groups() {
			if l.Kind == kind {
				list = append(list, l)
			}
		}
	}
	for i, l := range list {
		if i == maxLosses-1 && len(list) > maxLosses && !v.out.verbose {
			v.out.remark(fmt.Sprintf("and %d other kinds of loss; -v lists them", len(list)-i))
			return
		}
		v.out.remark(fmt.Sprintf("%s: %s %s (%s)", l.Kind, screen.Grouped(l.Count), l.What, l.Code))
	}
}

// countingWriter counts the bytes written.
type countingWriter struct {
	w interface{ Write([]byte) (int, error) }
	n int64
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
