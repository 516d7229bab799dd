package fleet

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"rehome/cmd/internal/cli"
	"rehome/cmd/internal/screen"
	"rehome/formats"
	"rehome/internal/fsx"
	"rehome/internal/scratch"
)

// PlanResult is the result of plan: schema fleet-plan-result-1.
type PlanResult struct {
	Source    string `json:"source"`
	Plan      string `json:"plan,omitempty"` // the file; "" = not written
	Unchanged bool   `json:"unchanged"`      // the file was there, with these bytes
	Verb      string `json:"verb"`
	Type      string `json:"type,omitempty"` // hides that of Total
	*Total
}

// place writes the plan to a new file; to nowhere for "". A file with the same bytes is left
// as it is.
func (p Planner) place(ctx context.Context, path string) (t *Total, unchanged bool, err error) {
	if path == "" {
		t, err = p.Plan(ctx, io.Discard)
		return t, false, err
	}
	dir := filepath.Dir(path)
	scratch.SweepBeside(dir, planPrefix, func(string, error) {})
	d, err := scratch.Make(dir, planPrefix)
	if err != nil {
		return nil, false, &formats.Error{At: path, Err: formats.Cause(err)}
	}
	defer func() { err = errors.Join(err, d.Remove()) }()
	staged := filepath.Join(d.Path, "plan")
	f, err := os.Create(staged)
	if err != nil {
		return nil, false, err
	}
	t, err = p.Plan(ctx, f)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, false, err
	}
	err = fsx.Move(staged, path)
	if errors.Is(err, fs.ErrExist) {
		if same, errSame := fsx.Same(staged, path); errSame == nil && same {
			return t, true, nil
		}
		return nil, false, &formats.Error{At: path, Err: formats.ErrExists, Hint: "it is another plan: remove it, or use --out for another name"}
	}
	return t, false, errors.Join(err, fsx.SyncFolder(dir))
}

// planPrefix begins the names of folders next to a plan.
const planPrefix = ".rehome-plan-"

// Text prints the result for people.
func (r *PlanResult) Text(p *cli.Page) {
	p.Linef("%s: %s in %s, %s", screen.Visible(r.Source), screen.Plural(r.Stores, "store"), screen.Plural(r.Units, "unit"), screen.Size(r.Bytes))
	if r.Others > 0 {
		p.Linef("%s to no store (%s)", belong(r.Others), screen.Size(r.OtherBytes))
	}
	if r.Giants > 0 {
		p.Linef("%s above --max-store", screen.Plural(r.Giants, "store"))
	}
	p.Linef("%s would take about %s of one core, and %s of scratch space per job", screen.Visible(r.Verb), screen.Visible(time.Duration(r.Seconds*float64(time.Second)).Round(time.Second).String()), screen.Size(r.Scratch))
	switch {
	case r.Unchanged:
		p.Linef("%s: unchanged", screen.Visible(r.Plan))
	case r.Plan != "":
		p.Linef("plan written to %s", screen.Visible(r.Plan))
	}
}

func belong(n int64) screen.Safe {
	if n == 1 {
		return "1 object belongs"
	}
	return screen.Grouped(n) + " objects belong"
}

// DoResult is the result of do: schema fleet-do-result-1.
type DoResult struct {
	Plan   string `json:"plan"`
	Shard  int    `json:"shard"`
	Shards int    `json:"shards"`
	*Done
}

// Text prints the result for people.
func (r *DoResult) Text(p *cli.Page) {
	p.Linef("shard %d/%d: %s done, %s of them before", r.Shard, r.Shards, screen.Plural(r.Units, "unit"), screen.Grouped(r.Already))
	printOutcomes(p, r.Outcomes)
}

func printOutcomes(p *cli.Page, n map[outcome]int64) {
	var rows [][]screen.Safe
	for _, o := range outcomes() {
		if n[o] > 0 {
			rows = append(rows, []screen.Safe{"  " + screen.Grouped(n[o]), screen.Safe(o)})
		}
	}
	for _, line := range screen.Columns(rows, 0) {
		p.Line(line)
	}
}

// Text prints the report for people.
func (r *Report) Text(p *cli.Page) {
	p.Linef("%s: %s in %s, %s", screen.Visible(r.Verb), screen.Plural(r.Stores, "store"), screen.Plural(r.Units, "unit"), screen.Size(r.Bytes))
	printOutcomes(p, r.Outcomes)
	if r.NotDone > 0 {
		p.Linef("%s in %s without a valid receipt", screen.Plural(r.NotDone, "store"), screen.Plural(r.Missing+r.Damaged, "unit"))
	}
	p.Linef("results: %s, %s", screen.Plural(r.Files, "file"), screen.Size(r.Written))
	printListed(p, r.Listed, r.Unlisted)
}

func printListed(p *cli.Page, listed []Listed, unlisted int64) {
	for _, l := range listed {
		line := screen.Sprintf("  %s: %s", screen.Visible(l.Outcome), screen.Visible(l.Path))
		if l.Detail != "" {
			line += ": " + screen.Visible(l.Detail)
		}
		p.Line(line + screen.Sprintf(" (unit %s)", screen.Visible(l.Unit)))
	}
	if unlisted > 0 {
		p.Linef("  %s more", screen.Grouped(unlisted))
	}
}
