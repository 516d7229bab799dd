package main

import (
	"errors"

	"rehome/convert/merge"
	"rehome/formats"
)

type mergeCmd struct {
	Paths []string `arg:"" name:"src... out" help:"Two or more stores or folders of stores, and the target to create. Sources are never modified."`

	DryRun  bool `group:"Output:" help:"Merge and verify, but do not write OUT"`
	Replace bool `group:"Output:" help:"Replace OUT, keeping the old one as OUT.bak-1 (-2, ...)"`

	ReadFlags
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

Examples:

    rehome merge laptop desktop agents
    rehome merge ~/.claude /mnt/old/.claude merged
    rehome merge ann ben carol team --dry-run`
}

// Validate rejects combinations of flags that the grammar allows.
func (c *mergeCmd) Validate() error {
	if len(c.Paths) < 3 {
		return &formats.Error{Err: errors.New("needs at least two sources and a target"), Hint: "rehome merge A B OUT"}
	}
	for _, p := range c.Paths {
		if p == stdinName {
			return &formats.Error{Err: errors.New("cannot read from stdin or write to stdout"), Hint: "name files or folders"}
		}
	}
	return c.ReadFlags.Validate()
}

// mergeResult is the result of merge: schema merge-result-1.
type mergeResult struct {
	*merge.Result
	verbose bool // print each remark
}

// Run merges sources and prints what became of their sessions.
func (c *mergeCmd) Run(a *app) error {
	last := len(c.Paths) - 1
	res, err := merge.Run(a.ctx, a.reg, c.Paths[:last], c.Paths[last], merge.Options{
		DryRun: c.DryRun, Replace: c.Replace, Live: c.Live, Jobs: c.Jobs, Verbose: a.out.verbose, OnNotice: a.out.remark,
		OnProgress: a.out.progress(),
	})
	a.out.endProgress()
	if err != nil {
		return err
	}
	return a.out.printResult(a.ctx, mergeResult{res, a.out.verbose})
}
