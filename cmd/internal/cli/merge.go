package cli

import (
	"errors"

	"rehome/cmd/internal/console"
	"rehome/convert/merge"
	"rehome/convert/repo"
	"rehome/formats"
)

type mergeCmd struct {
	Paths []string `arg:"" optional:"" name:"src... out" help:"Two or more stores or folders of stores, and the target to create. Sources are never modified. With --finish: what to finish (default: everything)."`

	Finish bool `help:"Merge the stores in which git reports conflicts, in place, and stage them (not committed)"`

	DryRun  bool `group:"Output:" help:"Merge and verify, but do not write OUT"`
	Replace bool `group:"Output:" help:"Replace OUT, keeping the old one as OUT.bak-1 (-2, ...)"`

	console.ReadFlags
}

func (mergeCmd) Help() string {
	return `Merges the sessions of several people or machines into a new store or folder: chats of the Cursor CLI, agents of
the Cursor SDK, archives and text of either, sessions of Claude Code (a project's folder, or the whole .claude folder)
and of Codex, canonical text, transcripts, and captures of stream-json. Stores are matched by their paths in the
sources, and sessions by their ids.

A session that only one source has is copied. If one source has continued a session of another one, the longer copy is
used. If it was continued differently in several sources, one copy keeps its id, and each of the others becomes a fork: a
session with an id of its own, and "(fork)" in its title. Both can be continued. Turns of two copies are never mixed.

The order of the sources makes no difference, and merging the result with them again makes no more forks. Forks are
listed, and are not an error: the exit status is 0. OUT is complete or absent. It is a folder, unless all sources are
stores of the Cursor SDK or Claude Code: then it is such a store. If one source is text, all of it is, without secrets.

--finish is for a git merge, rebase, cherry-pick or stash pop that stopped at conflicts. It reads both sides from git,
replaces the stores that have conflicts, runs git add on them, and prints the command that continues. What only one side
changed or removed since the common ancestor is changed or removed. See also: rehome help git.

Examples:

    rehome merge laptop desktop agents
    rehome merge ann ben carol team --dry-run
    rehome merge --finish
    rehome merge ~/.claude /mnt/old/.claude merged`
}

// Validate rejects combinations of flags that the grammar allows.
func (c *mergeCmd) Validate() error {
	switch {
	case c.Finish && (c.Replace || c.Live):
		return &formats.Error{Err: errors.New("--replace and --live have no effect with --finish"), Hint: "omit them"}
	case !c.Finish && len(c.Paths) < 3:
		return &formats.Error{Err: errors.New("needs at least two sources and a target"), Hint: "rehome merge A B OUT"}
	}
	for _, p := range c.Paths {
		if p == console.StdinName {
			return &formats.Error{Err: errors.New("cannot read from stdin or write to stdout"), Hint: "name files or folders"}
		}
	}
	return c.ReadFlags.Validate()
}

// mergeResult is the result of merge: schema merge-result-1.
type mergeResult struct {
	*merge.Result
	*finishedMerge
	verbose bool // print each remark
}

// finishedMerge is what --finish adds.
type finishedMerge struct {
	Staged     []string     `json:"staged"`
	Unresolved []unresolved `json:"unresolved"`
	Next       string       `json:"next"`
}

// unresolved is what still has a conflict.
type unresolved struct {
	Path  string `json:"path,omitempty"`
	Error string `json:"error,omitempty"`
	Hint  string `json:"hint,omitempty"`

	skipped bool // it is not at and below the paths
}

// Run merges sources and prints what became of their sessions.
func (c *mergeCmd) Run(a *console.App) error {
	if c.Finish {
		return c.finish(a)
	}
	last := len(c.Paths) - 1
	res, err := merge.Run(a.Ctx, a.Reg, c.Paths[:last], c.Paths[last], merge.Options{
		DryRun: c.DryRun, Replace: c.Replace, Live: c.Live, Jobs: c.Jobs, Verbose: a.Out.Verbose, OnNotice: a.Out.Remark,
		OnProgress: a.Out.Progress(),
	})
	a.Out.EndProgress()
	if err != nil {
		return err
	}
	return a.Out.Print(a.Ctx, mergeResult{res, nil, a.Out.Verbose})
}

// finish finishes a merge that stopped at conflicts.
func (c *mergeCmd) finish(a *console.App) error {
	r, err := repo.Open(a.Ctx, ".")
	if err != nil {
		return err
	}
	res, err := r.Finish(a.Reg, repo.FinishOptions{Paths: c.Paths, DryRun: c.DryRun, Jobs: c.Jobs, Verbose: a.Out.Verbose,
		OnNotice: a.Out.Remark})
	if res == nil {
		return err
	}
	more := &finishedMerge{Staged: append([]string{}, res.Staged...), Unresolved: []unresolved{}, Next: res.Next}
	for _, name := range res.Others {
		more.Unresolved = append(more.Unresolved, unresolved{Path: name})
	}
	for _, name := range res.Skipped {
		more.Unresolved = append(more.Unresolved, unresolved{Path: name, skipped: true})
	}
	for _, one := range res.Left {
		more.Unresolved = append(more.Unresolved, unresolved{Error: one.Error(), Hint: formats.Hint(one)})
	}
	perr := a.Out.Print(a.Ctx, mergeResult{res.Result, more, a.Out.Verbose})
	return errors.Join(err, perr, errors.Join(res.Left...))
}
