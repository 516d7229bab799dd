package cli

import (
	"errors"
	"fmt"

	"rehome/cmd/internal/console"
	"rehome/convert"
	"rehome/convert/mv"
	"rehome/formats"
)

type mvCmd struct {
	Old string `arg:"" help:"Folder where the project was"`
	New string `arg:"" help:"Folder where it is now"`

	RemoveOld bool     `help:"Remove the originals of what an earlier run copied, unless they have changed since"`
	DryRun    bool     `help:"Print what would change, without writing anything"`
	Client    []string `enum:"${movers}" placeholder:"CLIENT" help:"Only this client (repeatable): ${mover_list}"`
	Home      *string  `rare:"" placeholder:"DIR" help:"Home folder of the clients (default: yours); $CLAUDE_CONFIG_DIR and the like are then ignored"`
}

func (mvCmd) Help() string {
	return `Clients file sessions by the path of the project. After you have moved a project folder, rehome mv copies its sessions,
and those of folders in it, to where their clients look for them now. Only the path that a client goes by is changed:
prompts, answers and results keep every byte. What was copied is read again and compared.

The originals stay. When the sessions work at the new path, run the same command with --remove-old: it removes the
originals that have not changed since. rehome undo undoes either step.

Codex, Copilot CLI and Cursor's IDE do not keep sessions by folder: theirs are changed in place, and rehome undo has what
they were. For those of the IDE, open the new folder in Cursor once before.

A session that differs from one at the new path is not touched, and exit status is 1. Quit the clients first.

Examples:

    rehome mv ~/app ~/code/app --dry-run
    rehome mv ~/app ~/code/app
    rehome mv ~/app ~/code/app --remove-old`
}

// Validate rejects values that the grammar allows.
func (c *mvCmd) Validate() error {
	for _, folder := range []struct{ name, value string }{{"OLD", c.Old}, {"NEW", c.New}} {
		if folder.value == "" {
			return &formats.Error{Err: errors.New(folder.name + " is missing"), Hint: "name a folder"}
		}
	}
	if c.Home != nil && *c.Home == "" {
		return &formats.Error{Err: errors.New("--home: empty"), Hint: "name a folder, or omit the flag"}
	}
	return nil
}

// mvResult is the result of mv: schema mv-result-1.
type mvResult struct {
	*mv.Report
	clients map[string]string // names for people
}

// Run copies the sessions, or removes the originals.
func (c *mvCmd) Run(a *console.App) error {
	useHome(a, c.Home)
	m := console.Machine(a.Out.Getenv)
	o := mv.Options{Old: c.Old, New: c.New, Machine: m, UndoDir: convert.UndoDir(m), Clients: c.Client, DryRun: c.DryRun,
		OnNotice: a.Out.Remark, Now: a.Now}
	if m.Home == "" || o.UndoDir == "" {
		return console.NoHomeError("pass --home DIR")
	}
	run := mv.Move
	if c.RemoveOld {
		run = mv.Remove
	}
	done, failure := run(a.Ctx, a.Reg, o)
	if failure != nil && (done == nil || done.Count(mv.Moved, mv.Removed) == 0) {
		return failure
	}
	if failure == nil && !c.RemoveOld && len(done.Sessions) == 0 && len(done.Left) == 0 {
		return console.Usage(&formats.Error{At: done.Old, Err: errors.New("no client has sessions of this folder"),
			Hint: "run `rehome ls --all` for the folders of all sessions"})
	}
	err := failure
	res := &mvResult{done, map[string]string{}}
	for i := range done.Sessions {
		s := &done.Sessions[i]
		res.clients[s.Client] = console.ClientName(a.Reg, s.Client)
		err = errors.Join(err, s.Err())
	}
	for _, l := range done.Left {
		res.clients[l.Client] = console.ClientName(a.Reg, l.Client)
	}
	if perr := a.Out.Print(a.Ctx, res); perr != nil {
		return perr
	}
	switch n := done.Count(mv.Failed); {
	case failure != nil:
		return failure // with what was done so far
	case errors.Is(err, formats.ErrBusy):
		return console.Printed(fmt.Errorf("%d of %d: %w", n, len(done.Sessions), formats.ErrBusy))
	case n > 0:
		return console.Printed(fmt.Errorf("%d of %d failed", n, len(done.Sessions)))
	}
	return nil
}
