package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/convert/repo"
	"rehome/formats"
	"rehome/internal/shell"
)

type gitCmd struct {
	Do     string   `arg:"" enum:"setup,unset,textconv,merge-driver,pre-commit" help:"setup, unset, textconv, merge-driver or pre-commit"`
	Paths  []string `arg:"" optional:"" name:"path" help:"With setup: files and folders of sessions (default: those in the repository). With textconv: the file to print. With merge-driver: what git passes."`
	DryRun bool     `help:"Print what would change, and change nothing"`
}

func (gitCmd) Help() string {
	return `setup makes git diff, git log -p and git show print sessions as text, in the repository of the current directory, and
keeps git merge from mixing the turns of two people. It sets a textconv driver and a merge driver in the
configuration of this clone, adds lines to .gitattributes for files of sessions, and the hooks pre-commit and
pre-merge-commit, unless there are hooks already. Each clone needs it once, and so does the repository when sessions are
added in a new place.

unset removes exactly what setup added. git runs the others: textconv FILE prints a file as text, and the digest of what
it does not print, so that files that differ never look the same; merge-driver merges a
session that one side continued, and leaves anything else as it is on your side, for rehome merge --finish; pre-commit
runs rehome check on the sessions to be committed, as they are staged. git commit --no-verify skips it.

git compares file by file, and prints the lines of an archive: rehome diff compares its sessions.

Examples:

    rehome git setup
    rehome git setup sessions --dry-run
    rehome git unset`
}

// Validate rejects combinations of arguments that the grammar allows.
func (c *gitCmd) Validate() error {
	n := len(c.Paths)
	switch {
	case c.Do == "textconv" && n != 1:
		return &formats.Error{Err: errors.New("textconv needs one file"), Hint: "git passes it; `rehome show` prints sessions"}
	case c.Do == "merge-driver" && n != 4:
		return &formats.Error{Err: errors.New("merge-driver needs the arguments %O %A %B %P of git"),
			Hint: "git runs it; `rehome merge` merges stores"}
	case (c.Do == "unset" || c.Do == "pre-commit") && n > 0:
		return &formats.Error{Err: errors.New(c.Do + " takes no path"), Hint: "omit it"}
	case c.DryRun && c.Do != "setup" && c.Do != "unset":
		return &formats.Error{Err: errors.New("--dry-run has no effect with " + c.Do), Hint: "omit it"}
	}
	return nil
}

// gitResult is the result of git setup and unset: schema git-result-1.
type gitResult struct {
	DryRun  bool        `json:"dry_run"`
	Changes []gitChange `json:"changes"`
}

type gitChange struct {
	Place  string `json:"place"`
	Change string `json:"change"`
	Text   string `json:"text"`
}

// Run sets the repository up, or does what its configuration has git ask for.
func (c *gitCmd) Run(a *console.App) error {
	switch c.Do {
	case "textconv":
		return textconv(a, c.Paths[0])
	case "merge-driver":
		return repo.Drive(c.Paths[0], c.Paths[1], c.Paths[2], c.Paths[3])
	}
	r, err := repo.Open(a.Ctx, ".")
	if err != nil {
		return err
	}
	var list []repo.Change
	switch c.Do {
	case "pre-commit":
		return c.check(a, r)
	case "unset":
		list, err = r.Unset(c.DryRun)
	default:
		list, err = r.Setup(a.Reg, c.Paths, programName(), c.DryRun)
	}
	res := &gitResult{DryRun: c.DryRun, Changes: []gitChange{}}
	for _, ch := range list {
		res.Changes = append(res.Changes, gitChange(ch))
	}
	if err != nil && len(list) == 0 {
		return err
	}
	perr := a.Out.Print(a.Ctx, res)
	if err != nil {
		err = console.Printed(err)
	}
	return errors.Join(perr, err)
}

func (r *gitResult) Text(p *screen.Page) {
	if len(r.Changes) == 0 {
		p.Line("nothing to change")
	}
	for _, c := range r.Changes {
		word := screen.Visible(c.Change)
		if r.DryRun && c.Change != repo.Left {
			word = "would be " + word
		}
		p.Linef("%s  %s", word, p.Strong(screen.Visible(c.Place)))
		for l := range strings.SplitSeq(c.Text, "\n") {
			p.Wrapped("  ", screen.Visible(l), screen.Plain)
		}
	}
}

// programName returns how a shell runs this program: by its name, if that finds a program
// called so.
func programName() string {
	const name = "rehome"
	if found, err := exec.LookPath(name); err == nil && filepath.IsAbs(found) {
		return name
	}
	self, err := os.Executable()
	if err != nil {
		return name
	}
	return shell.Word(filepath.ToSlash(self))
}

// check checks what is to be committed.
func (c *gitCmd) check(a *console.App, r *repo.Repo) (err error) {
	dir, paths, err := r.Staged(a.Reg)
	if err != nil || dir == nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Remove()) }()
	back, err := os.Getwd()
	if err == nil {
		err = os.Chdir(dir.Path) // so that paths are as in the repository
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Chdir(back)) }()
	paths = slices.DeleteFunc(paths, func(p string) bool { return !r.IsStore(a.Reg, p) })
	if len(paths) == 0 {
		return nil
	}
	stdout, quiet := a.Out.Stdout, bytes.Buffer{}
	a.Out.Stdout = &quiet // nothing to say if all is well
	defer func() { a.Out.Stdout = stdout }()
	run := checkCmd{Paths: paths, Format: "text", FailOn: "warning", Secrets: true}
	if console.Exists(".rehome-baseline.json") {
		run.Baseline = ".rehome-baseline.json"
	}
	if err = run.Run(a); err == nil {
		return nil
	}
	_, werr := stdout.Write(quiet.Bytes())
	return errors.Join(err, werr, &formats.Error{Err: errors.New("not committed"),
		Hint: "fix what was found, or pass --no-verify to git commit"})
}
