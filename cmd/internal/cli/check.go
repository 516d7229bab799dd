package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/cmd/internal/verdict"
	"rehome/convert/check"
	"rehome/convert/repair"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/rule"
	"rehome/internal/shell"
)

type checkCmd struct {
	Paths []string `arg:"" optional:"" name:"path" help:"Stores, folders that hold stores, or sessions (default: all stores on this machine). They are never changed."`

	Layer   []string `group:"What to check:" rare:"" placeholder:"LAYER" help:"Check only these layers: container, schema, references, meaning, secrets (default: all but secrets)"`
	Rule    []string `group:"What to check:" rare:"" placeholder:"RULE" help:"Check only these rules"`
	Skip    []string `group:"What to check:" rare:"" placeholder:"RULE" help:"Skip these rules"`
	Secrets bool     `group:"What to check:" help:"Also look for keys and tokens in conversations"`
	For     string   `group:"What to check:" placeholder:"FORMAT" help:"Also report what a conversion to this format would lose"`
	Schema  string   `group:"What to check:" rare:"" placeholder:"FILE" help:"Validate each line of the files against a JSON schema: a file, or a name from rehome schema"`
	From    string   `group:"What to check:" rare:"" placeholder:"FORMAT" help:"Format of the stores (detected by default)"`
	Require bool     `group:"What to check:" help:"Fail if a path has no sessions"`

	Exclude  []string `group:"What to skip:" sep:"none" placeholder:"GLOB" help:"Skip files and folders, as in a .gitignore (repeatable)"`
	NoIgnore bool     `group:"What to skip:" help:"Do not obey .rehomeignore and .gitignore"`
	Base     string   `group:"What to skip:" placeholder:"COMMIT" help:"Read the baseline and the ignore files from this git commit, so that a change cannot turn off its own check"`

	Format        string   `group:"Output:" enum:"text,json,sarif,junit,github,markdown,tsv" default:"text" placeholder:"FORM" help:"Output format: text (default), json, sarif (2.1.0), junit, github (annotations), markdown, or tsv (a line for each finding)"`
	Report        []string `group:"Output:" sep:"none" placeholder:"FORM=FILE" help:"Also write the result to a file in this form, such as junit=rehome.xml (repeatable)"`
	FailOn        string   `group:"Output:" enum:"error,warning,note" default:"warning" placeholder:"SEVERITY" help:"Exit with 4 on findings at or above this severity: error, warning (default) or note"`
	Notes         bool     `group:"Output:" help:"Also print notes (only counted by default)"`
	Baseline      string   `group:"Output:" placeholder:"FILE" help:"Ignore the findings in this file (see --write-baseline)"`
	WriteBaseline bool     `group:"Output:" rare:"" help:"Add all findings to the baseline, and remove those that are fixed"`

	Rules   bool   `group:"Rules:" rare:"" help:"List all rules"`
	Explain string `group:"Rules:" placeholder:"RULE" help:"Explain a rule"`

	Live bool `group:"Advanced:" rare:"" help:"Read stores that are in use directly, not from a copy (requires their -wal and -shm files)"`
	Jobs int  `group:"Advanced:" rare:"" placeholder:"N" help:"Max number of workers (default: one per CPU)"`
}

func (checkCmd) Help() string {
	return `Checks every store it finds against the rules for its format. An error means that the store is corrupt, or that
its client would reject it. A warning means that data is lost, or that the client will behave unexpectedly. A note
is informational. A store that its client is writing to is not reported as corrupt.

Below a path in a git work tree, files that git ignores are skipped, except where clients keep their stores. A
.rehomeignore in the path or above it has the same syntax and takes precedence. The result counts what was skipped.

Rule ids never change meaning. Commit a baseline so that only new findings count. If a store cannot be examined, the
exit status is 1 (5 if it is in use), whatever else was found.

Examples:

    rehome check
    rehome check 5d0b2b7e
    rehome check agents --require --exclude drafts/
    rehome check agents --format github
    rehome check agents --base origin/main
    rehome check . --baseline .rehome-baseline.json --fail-on error
    rehome check --explain RH301
    rehome check session.jsonl --schema canonical-1`
}

// Validate rejects combinations of flags that the grammar allows.
func (c *checkCmd) Validate() error {
	refuse := func(what, hint string) error { return &formats.Error{Err: errors.New(what), Hint: hint} }
	c.Explain = strings.ToUpper(c.Explain)
	for _, ids := range [][]string{c.Rule, c.Skip} {
		for i := range ids {
			ids[i] = strings.ToUpper(ids[i])
		}
	}
	rulesOnly := c.Rules || c.Explain != ""
	switch {
	case rulesOnly && len(c.Paths) > 0:
		return refuse("--rules and --explain cannot be combined with paths", "omit the paths")
	case c.Rules && c.Explain != "":
		return refuse("--rules and --explain cannot be used together", "omit one of them")
	case c.Explain != "" && rule.Lookup(c.Explain) == nil:
		return noSuchRule(c.Explain)
	case rulesOnly:
		return nil
	case len(c.Paths) == 0 && c.Schema != "":
		return refuse("PATH is missing", "name the files to validate, or folders that hold them")
	case c.Jobs < 0:
		return fmt.Errorf("--jobs: must not be negative: %d", c.Jobs)
	case c.WriteBaseline && c.Baseline == "":
		return refuse("--write-baseline requires --baseline", "name the file with --baseline FILE")
	case c.WriteBaseline && c.Base != "":
		return refuse("--write-baseline cannot be combined with --base", "omit --base: it reads the baseline from a commit")
	case c.Base != "" && len(c.Paths) == 0:
		return refuse("--base requires a path in a git work tree", "name the files or folders to check")
	case c.Schema != "" && (c.For != "" || c.Secrets || len(c.Layer)+len(c.Rule)+len(c.Skip) > 0 || c.From != ""):
		return refuse("--schema cannot be combined with other checks", "omit --for, --from, --layer, --rule, --skip and --secrets")
	}
	for _, name := range c.Layer {
		if _, err := rule.ParseLayer(name); err != nil {
			return err
		}
	}
	for _, id := range slices.Concat(c.Rule, c.Skip) {
		if rule.Lookup(id) == nil {
			return noSuchRule(id)
		}
	}
	for _, r := range c.Report {
		if form, file, ok := strings.Cut(r, "="); !ok || file == "" || !slices.Contains(forms(), form) {
			return refuse("--report "+r+": must be FORM=FILE", "use a form of --format, such as --report sarif=rehome.sarif")
		}
	}
	return nil
}

// forms are the values of --format.
func forms() []string { return []string{"text", "json", "sarif", "junit", "github", "markdown", "tsv"} }

// layers returns the layers to check: those of --layer, by default all but secrets.
func (c *checkCmd) layers() (out rule.Layers) {
	for _, name := range c.Layer {
		l, err := rule.ParseLayer(name)
		if err == nil { // Validate has rejected unknown names
			out |= l
		}
	}
	if len(c.Layer) == 0 {
		out = rule.Container | rule.Schema | rule.References | rule.Meaning
	}
	if c.Secrets {
		out |= rule.Secrets
	}
	return out
}

// Run checks all stores below the paths and prints the findings.
func (c *checkCmd) Run(a *console.App) error {
	switch {
	case c.Rules:
		return showRules(a, rule.All())
	case c.Explain != "":
		return explainRule(a, rule.Lookup(c.Explain))
	}
	if a.Out.JSON && c.Format != "text" && c.Format != "json" {
		return console.NewUsageError(errors.New("--json and --format " + c.Format + " cannot be used together"))
	}
	a.Out.JSON = a.Out.JSON || c.Format == "json"
	named, missing, err := c.resolvePaths(a)
	if err != nil {
		return err
	}
	o := check.Options{
		Paths: c.Paths, Sessions: named, Machine: console.Machine(a.Out.Getenv), Exclude: c.Exclude, NoIgnore: c.NoIgnore, Base: c.Base,
		From: c.From, Layers: c.layers(), Rules: c.Rule, Skip: c.Skip, For: c.For, Require: c.Require, Live: c.Live, Jobs: c.Jobs,
		Verbose:    a.Out.Verbose,
		OnProgress: a.Out.Progress(),
	}
	if len(o.Paths) == 0 && o.Machine.Home == "" {
		return console.NoHomeError("name files or folders to check")
	}
	switch {
	case c.Baseline != "" && c.Base != "":
		o.Baseline, err = check.ReadBaselineAt(a.Ctx, c.Baseline, c.Base)
	case c.Baseline != "":
		o.Baseline, err = check.ReadBaseline(c.Baseline, c.WriteBaseline)
	}
	if err != nil {
		return err
	}
	report, err := c.report(a, o)
	a.Out.EndProgress()
	if err != nil {
		return err
	}
	for _, s := range report.Stores {
		if why := missing[s.Path]; s.Err != nil && why != nil {
			s.Err = why
		}
	}
	v := &verdict.Verdict{Report: report, FailOn: c.failOn(), Notes: c.Notes, Verbose: a.Out.Verbose, Width: console.Columns(a.Out.Stdout),
		Version: version(), Repairable: repair.Findings(report.Stores), Repair: "rehome repair SRC DST"}
	if len(c.Paths) == 1 && len(missing) == 0 && console.Exists(c.Paths[0]) {
		to := "fixed"
		if info, err := os.Stat(c.Paths[0]); err == nil && !info.IsDir() {
			to = filepath.Join(to, filepath.Base(c.Paths[0])) // some formats know a file by its name
		} else if wd := console.WorkingDirs(); len(wd) > 0 && sessions.NewProject(c.Paths[0]).Contains(wd[0]) {
			to = filepath.Join(c.Paths[0], "..", to) // not in what is to be copied
		}
		v.Repair = shell.Command("rehome", "repair", c.Paths[0], to)
	}
	if len(c.Paths) == 0 {
		v.Name = func(path string) string { return console.HomePath(o.Machine.Home, path) }
	}
	if c.WriteBaseline {
		if err := report.Baseline.Write(report, v.FailOn); err != nil {
			return err
		}
		a.Out.Remark(fmt.Sprintf("%s: %s in the baseline", c.Baseline, screen.Plural(report.Baseline.Known, "finding")))
	}
	if b := report.Baseline; b != nil && b.CountsOnly {
		a.Out.Remark(c.Baseline + ": version 1 baselines compare only the number of findings; update it with --write-baseline")
	}
	for _, r := range c.Report {
		form, file, _ := strings.Cut(r, "=")
		if err := c.writeReport(v, form, file); err != nil {
			return err
		}
	}
	switch {
	case a.Out.JSON:
		c.Format = "json"
	case c.Format == "text" && a.Out.NoReport:
		return c.verdictError(v)
	}
	_, w, wait := a.Out.Paged(a.Ctx, c.Format == "text")
	if err := wait(c.print(w, v, c.Format, a.Out.Palette)); err != nil {
		return err
	}
	err = c.verdictError(v)
	switch {
	case err != nil && c.Format == "text":
		return shown{err, v.PathErrors()}
	case err != nil && c.Format == "github":
		return shown{err, nil} // the log shows both streams
	}
	return err
}

// resolvePaths replaces folders of snapshots by the newest one, and names of sessions
// by what holds them. It returns the sessions by store, for stores that hold others,
// and why paths are missing, which check reports.
func (c *checkCmd) resolvePaths(a *console.App) (named map[string][]string, missing map[string]error, err error) {
	named, missing = map[string][]string{}, map[string]error{}
	whole := map[string]bool{}
	for i, at := range c.Paths {
		c.Paths[i] = newestSnapshot(a, at) // the others are mostly the same files
		if console.Exists(at) || c.Schema != "" {
			whole[c.Paths[i]] = true
			continue
		}
		src, err := resolve(a, at, c.Live)
		switch {
		case errors.As(err, new(unknownName)), err != nil && !errors.As(err, new(console.UsageError)):
			missing[at] = err
			continue
		case err != nil: // it matches several
			return nil, nil, err
		}
		c.Paths[i] = src.file
		switch {
		case src.session == "" || src.file != src.path:
			whole[src.file] = true
		case c.Baseline != "":
			whole[src.file] = true
			a.Out.Remark(at + ": checking all of " + src.path + ", because --baseline applies to whole stores")
		default:
			named[src.file] = append(named[src.file], src.session)
		}
	}
	maps.DeleteFunc(named, func(at string, _ []string) bool { return whole[at] })
	return named, missing, nil
}

func (c *checkCmd) report(a *console.App, o check.Options) (*check.Report, error) {
	if c.Schema != "" {
		return check.Schema(a.Ctx, o, c.Schema)
	}
	return check.Check(a.Ctx, a.Reg, o)
}

func (c *checkCmd) failOn() (s rule.Severity) {
	if s.UnmarshalText([]byte(c.FailOn)) != nil {
		return rule.Note // unreachable: the grammar validates the flag
	}
	return s
}

// print writes the verdict in one of the forms.
func (c *checkCmd) print(w io.Writer, v *verdict.Verdict, form string, paint screen.Palette) error {
	wd, err := os.Getwd()
	if err != nil {
		wd = ""
	}
	switch form {
	case "json":
		return console.WriteJSON(w, v.Result(strings.Split(c.layers().String(), ",")))
	case "sarif":
		return console.WriteJSON(w, v.SARIF(wd))
	case "junit":
		return v.JUnit(w, wd)
	case "github":
		return v.GitHub(w, wd)
	case "markdown":
		return v.Markdown(w, wd)
	case "tsv":
		return v.TSV(w, wd)
	}
	return v.Text(w, paint)
}

// writeReport writes the verdict to a file.
func (c *checkCmd) writeReport(v *verdict.Verdict, form, file string) error {
	f, err := os.Create(file)
	if err != nil {
		return &formats.Error{At: file, Err: formats.Cause(err)}
	}
	return errors.Join(c.print(f, v, form, false), f.Close())
}

// shown is an error that the result on stdout shows, except for some parts of it.
type shown struct {
	error
	rest []error
}

func (s shown) Unwrap() error { return s.error }

// Each returns what is still to be printed.
func (s shown) Each() []error { return s.rest }

// verdictError returns the error that a verdict amounts to. A store that could not
// be examined outranks findings in other stores, since it may hold worse ones.
func (c *checkCmd) verdictError(v *verdict.Verdict) error {
	if failed := v.Failed(); len(failed) > 0 {
		busy := !slices.ContainsFunc(failed, func(s *check.Store) bool { return !errors.Is(s.Err, formats.ErrBusy) })
		err := fmt.Errorf("could not examine %s", screen.Plural(int64(len(failed)), "store"))
		if busy {
			err = console.Summarize(err.Error(), formats.ErrBusy)
		}
		return console.Printed(err)
	}
	if c.WriteBaseline || v.FailingCount() == 0 {
		return nil
	}
	return console.Printed(&formats.Error{Err: findingsError{string(v.Summary(false))},
		Hint: "run `" + shell.Command("rehome", "check", "--explain", v.WorstRule()) + "` for details"})
}

// findingsError is errFindings with the summary of a verdict.
type findingsError struct{ text string }

func (f findingsError) Error() string {
	if notes, ok := strings.CutPrefix(f.text, "ok, "); ok {
		return "check failed: " + notes
	}
	return "check failed: " + f.text
}

func (f findingsError) Unwrap() error { return console.ErrFindings }
