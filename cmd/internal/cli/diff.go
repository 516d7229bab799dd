package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/prose"
	"rehome/cmd/internal/screen"
	"rehome/convert/diff"
	"rehome/formats"
)

type diffCmd struct {
	Src []string `arg:"" name:"a b" help:"Two stores, folders, files, PATH#ID, or sessions on this machine, of the same client or of different ones. With --path: one or two git commits."`

	Path []string `group:"What to compare:" sep:"none" placeholder:"PATH" help:"Compare these files and folders as they are in git commits A and B, or in A and the work tree; also as: A B -- PATH"`

	Exact    bool   `group:"What to compare:" help:"Compare stores record by record, down to cells, instead of sessions"`
	Stat     bool   `group:"What to include:" help:"Print only which sessions differ, and how many of their turns"`
	Tools    string `group:"What to include:" enum:"brief,full,none" default:"brief" placeholder:"HOW" help:"Print tool calls and results: brief (default), full or none"`
	Thinking bool   `group:"What to include:" help:"Also include the model's reasoning"`
	All      bool   `group:"What to include:" help:"Also include what the client added to prompts, and snapshots of files"`

	Format  string `group:"Output:" enum:"text,markdown,json" default:"text" placeholder:"FORM" help:"Output format: text (default), markdown (at most 500 kB, for job summaries), or json"`
	NoPager bool   `group:"Output:" help:"Do not use a pager"`

	console.ReadFlags
}

func (diffCmd) Help() string {
	return `Compares sessions by what was said and done: prompts, answers, tool calls and their results. Sessions are matched by id,
also with a session that was migrated to another client; if each side has only one session, these two are compared.
Within one client, other members such as times and models are compared too.

With -- PATH, A and B are git commits; without B, A is compared with the files in the work tree that git tracks. Commits
are read from git's database: the work tree is not changed, and no program that the repository configures is run.

--exact compares the records of stores in the same format, or in formats that hold the same records, such as a store and
its archive: rows with their cells, and lines of files.

Exits with 0 if nothing differs, and with 4 if something does.

Examples:

    rehome diff agents ~/backup/agents
    rehome diff 5d0b2b7e session.jsonl
    rehome diff store.db archive --exact
    rehome diff HEAD~1 -- sessions
    rehome diff v1 v2 --stat -- sessions`
}

// Validate rejects combinations of flags that the grammar allows.
func (c *diffCmd) Validate() error {
	refuse := func(what, hint string) error { return &formats.Error{Err: errors.New(what), Hint: hint} }
	if len(c.Path) > 0 && len(c.Src) > 2 {
		return refuse("too many commits", "name one or two before --")
	}
	if len(c.Path) == 0 && len(c.Src) != 2 {
		return refuse(fmt.Sprintf("needs two sources, not %d", len(c.Src)),
			"name two stores, files or sessions, or commits and a path: `rehome diff REV1 REV2 -- PATH`")
	}
	if c.Exact && (c.Format == "markdown" || c.Thinking || c.All || c.Tools != "brief") {
		return refuse("--exact compares records, not messages", "omit --format markdown, --tools, --thinking and --all")
	}
	return c.ReadFlags.Validate()
}

// joinPaths turns what follows -- in a command line of diff into values of --path, since
// the parser would not tell them from the commits before it.
func joinPaths(args []string) []string {
	for i, word := range args {
		if word != "--" {
			continue
		}
		named := 0
		for _, before := range args[:i] {
			if before != "" && before[0] != '-' {
				named++
			}
		}
		if args[0] != "diff" || named < 2 { // the command, and a commit
			return args
		}
		out := append([]string{}, args[:i]...)
		for _, path := range args[i+1:] {
			out = append(out, "--path="+path)
		}
		if i+1 == len(args) {
			out = append(out, "--path=.")
		}
		return out
	}
	return args
}

// Run compares two sources and prints how they differ.
func (c *diffCmd) Run(a *console.App) (err error) {
	if a.Out.JSON && c.Format == "markdown" {
		return console.Usage(&formats.Error{Op: "diff", Err: errors.New("--json and --format markdown cannot be used together"),
			Hint: "omit one of them"})
	}
	sides, done, err := c.sides(a)
	defer func() { err = errors.Join(err, done()) }()
	if err != nil {
		return err
	}
	if c.Exact {
		return c.exact(a, sides)
	}
	unread := &viewer{App: a}
	found, err := diff.Compare(a.Ctx, a.Reg, sides[0], sides[1],
		diff.Options{Live: c.Live, Jobs: c.Jobs, OnNotice: a.Out.Remark, Verbose: a.Out.Verbose, OnLoss: unread.lost.Add})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	if err := c.print(a, found); err != nil {
		return err
	}
	unread.losses()
	if len(found.Failed) > 0 {
		return console.Printed(errors.Join(found.Failed...))
	}
	if found.Differs() {
		return console.Silent{Code: 4}
	}
	return nil
}

// exact compares records.
func (c *diffCmd) exact(a *console.App, sides [2]diff.Side) error {
	found, err := diff.CompareRecords(a.Ctx, a.Reg, sides[0], sides[1],
		diff.Options{Live: c.Live, Jobs: c.Jobs, OnNotice: a.Out.Remark, Verbose: a.Out.Verbose})
	if err != nil {
		return err
	}
	a.Out.JSON = a.Out.JSON || c.Format == "json"
	switch err := a.Out.Print(a.Ctx, newExactResult(found, c.Stat)); {
	case err != nil:
		return err
	case len(found.Failed) > 0:
		return console.Printed(errors.Join(found.Failed...))
	case len(found.Stores) > 0:
		return console.Silent{Code: 4}
	}
	return nil
}

// sides returns what is compared, and a function that removes what was read from git.
func (c *diffCmd) sides(a *console.App) (out [2]diff.Side, done func() error, err error) {
	var open []func() error
	done = func() (err error) {
		for _, f := range open {
			err = errors.Join(err, f())
		}
		return err
	}
	if len(c.Path) > 0 {
		for i, rev := range append(c.Src, "")[:2] { // with one commit, the work tree
			var remove func() error
			out[i], remove, err = diff.Commit(a.Ctx, rev, c.Path, a.Out.Remark)
			open = append(open, remove)
			if err != nil {
				return out, done, err
			}
		}
		if len(out[0].Paths)+len(out[1].Paths) == 0 {
			err = &formats.Error{At: strings.Join(c.Path, ", "), Err: errors.New("not found on either side"),
				Hint: "paths are relative to the current directory"}
		}
		return out, done, err
	}
	for i, name := range c.Src {
		src, err := resolve(a, name, c.Live)
		if err != nil && errors.As(err, new(*formats.Error)) && !console.Exists(name) {
			err = &formats.Error{At: name, Err: errors.New("no such file or session"),
				Hint: "run `rehome ls` to list sessions; to compare git commits, name a path: `rehome diff REV1 REV2 -- PATH`"}
		}
		if err != nil {
			return out, done, err
		}
		if src.path == console.StdinName {
			return out, done, console.Usage(&formats.Error{Op: "diff", Err: errors.New("cannot read from stdin"),
				Hint: "save stdin to a file first"})
		}
		out[i] = diff.Side{Paths: []string{src.path}, Session: src.session}
	}
	return out, done, nil
}

// print writes the result in one of the forms.
func (c *diffCmd) print(a *console.App, found *diff.Comparison) error {
	format := c.Format
	if a.Out.JSON {
		format = "json"
	}
	ctx, w, done := a.Out.Paged(a.Ctx, format != "json" && !c.NoPager)
	v := &diffView{cmd: c, detail: prose.Detail(c.Tools)}
	var err error
	switch format {
	case "json":
		err = v.json(w, found)
	case "markdown":
		err = v.markdown(w, found)
	default:
		p := screen.NewPage(w, a.Out.Palette)
		p.Width = cmp.Or(p.Width, screen.PageWidth)
		if width, _, ok := a.Out.TerminalSize(); ok {
			p.Width = width
		}
		err = v.text(p, found)
	}
	if err != nil && a.Ctx.Err() == nil && ctx.Err() != nil {
		err = context.Cause(ctx) // the user closed the pager
	}
	return done(err)
}

// limitWriter fails once more than a number of bytes have been written.
type limitWriter struct {
	w    io.Writer
	left int
}

var errLimit = errors.New("output limit reached")

func (l *limitWriter) Write(b []byte) (int, error) {
	if l.left -= len(b); l.left < 0 {
		return 0, errLimit
	}
	return l.w.Write(b)
}
