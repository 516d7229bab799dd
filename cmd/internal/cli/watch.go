package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/convert"
	"rehome/convert/watch"
	"rehome/formats/loss"
)

type watchCmd struct {
	Src string `arg:"" help:"Store, or folder of stores. It may appear later. SRC is never modified."`
	Dst string `arg:"" help:"Target to keep up to date, as with convert --update"`

	From string `group:"Formats:" placeholder:"FORMAT" help:"Format of SRC (detected by default)"`
	To   string `group:"Formats:" placeholder:"FORMAT" help:"Format to write"`

	Project     string `group:"What to include:" placeholder:"DIR" help:"Include only sessions of this folder and its subfolders"`
	WithSecrets bool   `group:"What to include:" help:"Include keys and tokens in text output (left out by default)"`

	Interval time.Duration `group:"Watching:" default:"5s" placeholder:"TIME" help:"How often to look for changes that the file system does not report (default: 5s)"`
	Once     bool          `group:"Watching:" help:"Update DST once and exit"`

	Compress string    `group:"Output:" rare:"" enum:"none,gzip,zstd" default:"none" placeholder:"HOW" help:"Compress text into one file per store: none (default), gzip or zstd"`
	Allow    loss.Kind `group:"Losses:" xor:"line" placeholder:"KIND" help:"Accept losses up to this kind: reshaped, inferred, missing, dropped (default) or unreadable"`
	Strict   bool      `group:"Losses:" rare:"" xor:"line" help:"Same as --allow reshaped"`
	Sidecar  string    `group:"Losses:" rare:"" default:"beside" placeholder:"WHERE" help:"Where to save what DST cannot hold: beside (DST.sidecar.ndjson, default), none, or a path"`

	console.ReadFlags
}

func (watchCmd) Help() string {
	return `Runs "rehome convert SRC DST --update" whenever SRC has changed, a second after the last write, and prints a line for
each change. Every update is verified; each store in DST is updated completely or not at all. What vanishes from SRC
is kept in DST.

If an update fails, the reason is printed once, and it is tried again: when the disk is full, when a client is
writing, or when somebody has edited DST. If SRC does not exist, watch waits for it.

Interrupt it (Ctrl-C, or SIGTERM) to stop. An update that has begun is finished or undone.

Examples:

    # agents of the Cursor SDK, in a folder of a git repository
    rehome watch ~/.cursor/projects/home-ann-app agents --to cursor-ndjson

    # all sessions of Claude Code, one JSON object per change
    rehome watch ~/.claude/projects sessions --to canonical --json

    # on a network file system, which reports no changes
    rehome watch /mnt/ann/.cursor/chats chats --to archive --interval 30s`
}

// minInterval is the shortest --interval: looking takes time, too.
const minInterval = 100 * time.Millisecond

// Validate rejects invalid values of flags.
func (c *watchCmd) Validate() error {
	switch {
	case c.Src == "-" || c.Dst == "-":
		return errors.New("cannot watch stdin")
	case c.Interval < minInterval:
		return fmt.Errorf("--interval: must be at least %v", minInterval)
	}
	return nil
}

// Run keeps DST up to date until it is interrupted, which is its normal end.
func (c *watchCmd) Run(a *console.App) error {
	flags := convertCmd{From: c.From, To: c.To, Project: c.Project, Compress: c.Compress, WithSecrets: c.WithSecrets,
		Allow: c.Allow, Strict: c.Strict, Sidecar: c.Sidecar, ReadFlags: c.ReadFlags}
	o := flags.options()
	o.State = stateDir(a)
	o.OnNotice, o.Verbose = a.Out.Remark, a.Out.Verbose
	err := watch.Run(a.Ctx, watch.Options{
		Registry: a.Reg, Source: c.Src, Target: c.Dst, Convert: o, Interval: c.Interval, Once: c.Once,
		OnEvent: func(e watch.Event) { watchEvent{e, c, a.Out.Name}.print(a.Out) },
	})
	if err != nil && a.Out.JSON && !errors.As(err, new(convert.Misuse)) {
		return console.Printed(err)
	}
	return err
}

// print prints an event, a change to stdout and a problem to stderr, unless it is also the error
// of the command.
func (e watchEvent) print(o *console.Output) {
	if e.problem() && e.command.Once && !o.JSON {
		return
	}
	o.PrintEvent(e, e.problem())
}

// watchEvent is an event of watch: schema watch-event-1.
type watchEvent struct {
	watch.Event
	command *watchCmd
	program string // its name, for problems
}

// problem reports whether an event is a remark or an error, not a result.
func (e watchEvent) problem() bool { return e.Kind == watch.Problem || e.Kind == watch.Polling }

func (e watchEvent) Text(p *screen.Page) {
	if !e.problem() {
		p.Line(p.Faint(e.time()) + e.change())
		return
	}
	p.Line(p.Red(screen.Visible(e.program)+":") + " " + e.time() + e.trouble())
	p.Hint("  ", e.Hint)
}

// time returns the local time of an event. A single round prints none.
func (e watchEvent) time() screen.Safe {
	if e.command.Once {
		return ""
	}
	return screen.Visible(e.Time.Local().Format(time.TimeOnly)) + " "
}

func (e watchEvent) change() screen.Safe {
	to := " -> " + screen.Visible(e.Target)
	switch e.Kind {
	case watch.Ready:
		return readyText(*e.Stores) + to
	case watch.Session:
		name := screen.Visible(e.Title)
		if name == "" {
			name = screen.Visible(e.Session)
		}
		return name + ": " + e.turns() + to
	case watch.Store:
		what := screen.Safe("changed")
		if e.Files > 0 {
			what = screen.Plural(int64(e.Files), "file") + " written"
		}
		return storeText(e.Store) + what + to
	case watch.Kept:
		return storeText(e.Store) + "no longer in the source, kept" + to
	}
	return "resolved"
}

// readyText counts the stores of the first round.
func readyText(n watch.Stores) screen.Safe {
	var parts []screen.Safe
	for _, c := range []struct {
		n    int
		what screen.Safe
	}{{n.Added, "added"}, {n.Updated, "updated"}, {n.Unchanged, "unchanged"}, {n.Kept, "kept"}, {n.Failed, "failed"}} {
		if c.n > 0 {
			parts = append(parts, screen.Grouped(int64(c.n))+" "+c.what)
		}
	}
	return screen.Plural(int64(n.Added+n.Updated+n.Unchanged+n.Kept+n.Failed), "store") + ": " + screen.Join(parts, ", ")
}

// turns says how a session has changed.
func (e watchEvent) turns() screen.Safe {
	switch {
	case e.NewTurns != nil && *e.NewTurns > 0:
		return screen.Plural(*e.NewTurns, "new turn")
	case e.Turns != nil:
		return "changed, " + screen.Plural(*e.Turns, "turn")
	}
	return "changed"
}

func (e watchEvent) trouble() screen.Safe {
	text := screen.Visible(e.Message)
	switch {
	case e.Kind == watch.Polling:
		return text + screen.Visible(fmt.Sprintf("; looking for changes every %v", e.command.Interval))
	case e.Retry > 0:
		return text + screen.Visible(fmt.Sprintf(" (next try in %v)", (time.Duration(e.Retry*float64(time.Second)).Round(time.Second))))
	}
	return text
}

// storeText begins a line about a store of several.
func storeText(store string) screen.Safe {
	if store == "" || store == "." {
		return ""
	}
	return screen.Visible(filepath.FromSlash(store)) + ": "
}
