package cli

import (
	"errors"

	"rehome/cmd/internal/console"
	"rehome/convert/repair"
	"rehome/formats"
)

type repairCmd struct {
	Src string `arg:"" optional:"" help:"Store, or folder that holds stores. It is never changed."`
	Dst string `arg:"" optional:"" help:"Where to write the repaired copy"`

	DryRun  bool `help:"Report what would be repaired, without writing anything"`
	Replace bool `help:"If DST exists, keep it as DST.bak-1 and write a new one"`
	List    bool `help:"List how each rule's findings are repaired, and why others are not"`

	From string `group:"Advanced:" rare:"" placeholder:"FORMAT" help:"Format of the stores (detected by default)"`
	Jobs int    `group:"Advanced:" rare:"" placeholder:"N" help:"Max number of workers (default: one per CPU)"`
}

func (repairCmd) Help() string {
	return `Writes a repaired copy of SRC to DST, in the same format. What rehome check reports is repaired where that is possible:
incomplete lines are deleted, broken links between messages are set again, rows are salvaged from corrupt databases.
Every repair is listed, with what is lost. Files without problems are copied byte for byte.

The copy is checked before it is placed. If problems are left, they are listed, and the exit status is 4.

To use the copy, quit the client, and replace the original by it.

Examples:

    rehome repair ~/.claude fixed --dry-run
    rehome repair ~/.cursor/chats fixed
    rehome repair --list`
}

// Validate rejects combinations of flags that the grammar allows.
func (c *repairCmd) Validate() error {
	switch {
	case c.List && (c.Src != "" || c.DryRun || c.Replace || c.From != ""):
		return &formats.Error{Err: errors.New("--list cannot be combined with paths and other flags"), Hint: "omit them"}
	case !c.List && c.Dst == "":
		return &formats.Error{Err: errors.New("SRC and DST are required"), Hint: "name a store and a new path: rehome repair broken fixed"}
	case c.Jobs < 0:
		return &formats.Error{Err: errors.New("--jobs: must not be negative")}
	}
	return nil
}

// Run repairs a copy of stores, or lists what can be repaired.
func (c *repairCmd) Run(a *console.App) error {
	if c.List {
		return a.Out.Print(a.Ctx, newRepairList())
	}
	r, err := repair.Repair(a.Ctx, a.Reg, c.Src, c.Dst, repair.Options{From: c.From, DryRun: c.DryRun, Replace: c.Replace, Jobs: c.Jobs,
		OnProgress: a.Out.Progress(), OnNotice: a.Out.Remark})
	a.Out.EndProgress()
	if err != nil {
		return err
	}
	if err := a.Out.Print(a.Ctx, newRepairResult(r)); err != nil {
		return err
	}
	var failed []error
	for _, s := range r.Stores {
		failed = append(failed, s.Err)
	}
	if err := errors.Join(failed...); err != nil {
		return console.Printed(err)
	}
	if r.Left() > 0 {
		return console.Silent{Code: 4}
	}
	return nil
}
