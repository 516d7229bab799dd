package cli

import (
	"errors"
	"fmt"
	"slices"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/convert"
	"rehome/formats"
	"rehome/internal/shell"
)

type undoCmd struct {
	ID string `arg:"" optional:"" help:"Number of the record, as --list, rehome migrate and rehome mv print it (default: the newest)"`

	List   bool `help:"List what can be undone"`
	DryRun bool `help:"Report what would happen, without writing anything"`

	Home *string `rare:"" placeholder:"DIR" help:"Home folder that was given to migrate or mv (default: yours)"`
}

func (undoCmd) Help() string {
	return `Before rehome migrate, continue or mv changes what a client uses, it keeps a record of what will change. rehome undo
takes the migrated sessions, or the turns that --back appended, out again, and restores what was replaced or removed.
Everything else stays as it is: OpenCode keeps a session that it has imported until you delete it there. All that one
rehome mv copied is undone together.

A session that you have continued in the client since is not touched, and exit status is 1. The last 200 records are
kept, fewer if they are larger than 1 GiB.

Examples:

    rehome undo --list
    rehome undo --dry-run
    rehome undo 3`
}

// undoResult is the result of undo: schema undo-result-1.
type undoResult struct {
	*convert.UndoReport
	client  string
	deletes []string // the client's command that deletes a session that it imported, without the id; nil = it imports none
}

// undoList is the result of undo --list: schema undo-list-result-1.
type undoList struct {
	Records []convert.UndoRecord `json:"records"`
	clients []string             // of each record
}

// Validate rejects combinations of flags that the grammar allows.
func (c *undoCmd) Validate() error {
	if c.Home != nil && *c.Home == "" {
		return &formats.Error{Err: errors.New("--home: empty"), Hint: "name a folder, or omit the flag"}
	}
	if c.List && (c.ID != "" || c.DryRun) {
		return &formats.Error{Err: errors.New("--list cannot be combined with ID or --dry-run"), Hint: "omit --list"}
	}
	return nil
}

// Run undoes a migration or a move, or lists those that can be undone.
func (c *undoCmd) Run(a *console.App) error {
	useHome(a, c.Home)
	dir := convert.UndoDir(console.Machine(a.Out.Getenv))
	if dir == "" {
		return console.NoHomeError("set it, so that the undo records can be found")
	}
	if c.List {
		list, err := convert.UndoRecords(dir)
		if err != nil {
			return err
		}
		out := &undoList{Records: list}
		for i := range list {
			out.clients = append(out.clients, console.FormatClient(a.Reg, list[i].Format))
		}
		return a.Out.Print(a.Ctx, out)
	}
	done, err := convert.Undo(a.Ctx, a.Reg, convert.UndoOptions{Dir: dir, ID: c.ID, DryRun: c.DryRun})
	if err != nil {
		return err
	}
	res := &undoResult{UndoReport: done, client: console.FormatClient(a.Reg, done.Format)}
	if f := a.Reg.Lookup(done.Format); f != nil && f.Home != nil && f.Home.Import != nil {
		res.deletes = f.Home.Import.Delete
	}
	if err := a.Out.Print(a.Ctx, res); err != nil {
		return err
	}
	if n := len(done.Kept); n > 0 {
		return console.Printed(fmt.Errorf("%s not undone", screen.Plural(int64(n), "change")))
	}
	return nil
}

func (r *undoResult) Text(p *screen.Page) {
	p.Line(p.Strong(undoTitle(&r.UndoRecord)) + p.Faint("  "+screen.Visible(r.client)+", "+screen.Visible(r.Store)))
	verb := screen.Safe("undone")
	if r.DryRun {
		verb = "would be undone"
	}
	switch {
	case len(r.Kept) == 0:
		p.Line("  " + p.OK() + " " + verb)
	case len(r.Restored) > 0:
		p.Line("  " + p.OK() + " " + screen.Plural(int64(len(r.Restored)), "change") + " " + verb)
	}
	for _, k := range r.Kept {
		p.Line("  " + p.Bad() + " " + screen.Visible(k.Key) + ": " + screen.Visible(k.Reason) + "; left as it is")
	}
	if len(r.Kept) > 0 {
		p.Line("  its record stays; `rehome undo --list` lists the others")
	}
	if r.deletes != nil {
		id := "ID"
		if r.Sessions <= 1 {
			id = r.Session
		}
		p.Linef("  if %s has imported it, it stays there until you run: %s", screen.Visible(r.client),
			screen.Visible(shell.Command(append(slices.Clone(r.deletes), id)...)))
	}
	if r.DryRun {
		p.Line("  dry run: nothing was written")
	}
}

func (l *undoList) Text(p *screen.Page) {
	if len(l.Records) == 0 {
		p.Line("nothing to undo")
	}
	for i := range l.clients {
		r := &l.Records[i]
		p.Line(screen.Visible(fmt.Sprintf("%4d  ", r.ID)) + screen.Visible(r.Made.UTC().Format("2006-01-02 15:04")) + "  " +
			screen.Visible(l.clients[i]) + "  " + p.Strong(undoTitle(r)))
	}
}

// undoTitle returns what a record is called.
func undoTitle(r *convert.UndoRecord) screen.Safe {
	title := screen.Visible(r.Session)
	if r.Title != "" {
		title = console.OneLine(r.Title)
	}
	if r.Sessions > 1 {
		title += " and " + screen.Plural(int64(r.Sessions-1), "other session")
	}
	return title
}
