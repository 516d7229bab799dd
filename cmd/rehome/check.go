package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/cmd/rehome/internal/screen"
	"rehome/cmd/rehome/internal/verdict"
	"rehome/convert/backup"
	"rehome/convert/check"
	"rehome/formats"
	"rehome/formats/rule"
)

type checkCmd struct {
	Paths []string `arg:"" optional:"" name:"path" help:"Stores, or folders that hold stores (default: the current directory). They are never changed."`

	Layer   []string `group:"What to check:" placeholder:"LAYER" help:"Check only these layers: container, schema, references, meaning, secrets (default: all but secrets)"`
	Rule    []string `group:"What to check:" placeholder:"RULE" help:"Check only these rules"`
	Skip    []string `group:"What to check:" placeholder:"RULE" help:"Skip these rules"`
	Secrets bool     `group:"What to check:" help:"Also look for keys and tokens in conversations"`
	For     string   `group:"What to check:" placeholder:"FORMAT" help:"Also report what a conversion to this format would lose, such as claude-code"`
	Schema  string   `group:"What to check:" placeholder:"FILE" help:"Validate each line of the files against a JSON schema: a file, or a name from rehome schema"`
	From    string   `group:"What to check:" placeholder:"FORMAT" help:"Format of the stores (detected by default)"`
	Require bool     `group:"What to check:" help:"Fail if no sessions are found in the current directory"`

	Format        string `group:"Output:" enum:"text,json,sarif,junit,github,markdown" default:"text" placeholder:"FORM" help:"Output format: text (default), json, sarif (2.1.0), junit, github (annotations) or markdown"`
	FailOn        string `group:"Output:" enum:"error,warning,note" default:"warning" placeholder:"SEVERITY" help:"Exit with 4 on findings at or above this severity: error, warning (default) or note"`
	Notes         bool   `group:"Output:" help:"Also print notes (only counted by default)"`
	Baseline      string `group:"Output:" placeholder:"FILE" help:"Ignore the findings in this file (see --write-baseline)"`
	WriteBaseline bool   `group:"Output:" help:"Add all findings to the baseline, and remove those that are fixed"`

	Rules   bool   `group:"Rules:" help:"List all rules"`
	Explain string `group:"Rules:" placeholder:"RULE" help:"Explain a rule"`

	Live bool `group:"Advanced:" help:"Read stores that are in use directly, not from a copy (requires their -wal and -shm files)"`
	Jobs int  `group:"Advanced:" placeholder:"N" help:"Max number of workers (default: one per CPU)"`
}

func (checkCmd) Help() string {
	return `Checks every store it finds against the rules for its format. An error means that the store is corrupt, or that
its client would reject it. A warning means that data is lost, or that the client will behave unexpectedly. A note
is informational. A store that its client is writing to is not reported as corrupt.

Rule ids never change meaning. Commit a baseline so that only new findings count. If a store cannot be examined, the
exit status is 1 (5 if it is in use), whatever else was found.

Examples:

    rehome check ~/.cursor/chats
    rehome check agents --format github
    rehome check . --baseline .rehome-baseline.json --fail-on error
    rehome check --explain RH301
    rehome check session.jsonl --schema canonical-1`
}

// errFindings means that there are findings at or above --fail-on.
var errFindings = errors.New("check found problems")

// Validate rejects combinations of flags that the grammar allows.
func (c *checkCmd) Validate() error {
	refuse := func(what, hint string) error { return &formats.Error{Err: errors.New(what), Hint: hint} }
	c.Explain = strings.ToUpper(c.Explain)
	rulesOnly := c.Rules || c.Explain != ""
	switch {
	case rulesOnly && len(c.Paths) > 0:
		return refuse("--rules and --explain cannot be combined with paths", "omit the paths")
	case c.Rules && c.Explain != "":
		return refuse("--rules and --explain cannot be used together", "omit one of them")
	case c.Explain != "" && rule.Lookup(c.Explain) == nil:
		return refuse("no such rule: "+c.Explain, "run `rehome check --rules` to list them")
	case rulesOnly:
		return nil
	case len(c.Paths) == 0 && c.Schema != "":
		return refuse("PATH is missing", "name the files to validate, or folders that hold them")
	case c.Jobs < 0:
		return fmt.Errorf("--jobs: must not be negative: %d", c.Jobs)
	case c.WriteBaseline && c.Baseline == "":
		return refuse("--write-baseline requires --baseline", "name the file with --baseline FILE")
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
			return refuse("no such rule: "+id, "run `rehome check --rules` to list them")
		}
	}
	return nil
}

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
func (c *checkCmd) Run(a *app) error {
	switch {
	case c.Rules:
		return showRules(a, rule.All())
	case c.Explain != "":
		return explainRule(a, rule.Lookup(c.Explain))
	}
	if a.out.json && c.Format != "text" && c.Format != "json" {
		return newUsageError(errors.New("--json and --format " + c.Format + " cannot be used together"))
	}
	a.out.json = a.out.json || c.Format == "json"
	if len(c.Paths) == 0 {
		c.Paths = []string{"."}
	}
	for i, dir := range c.Paths {
		if names, err := backup.Snapshots(dir); err == nil && len(names) > 0 { // the others are mostly the same files
			c.Paths[i] = filepath.Join(dir, names[len(names)-1])
			a.out.remark(dir + ": checking its newest snapshot, " + names[len(names)-1])
		}
	}
	o := check.Options{
		Paths: c.Paths, From: c.From, Layers: c.layers(), Rules: c.Rule, Skip: c.Skip, For: c.For, Require: c.Require, Live: c.Live, Jobs: c.Jobs,
		Verbose:    a.out.verbose,
		OnProgress: a.out.progress(),
	}
	var err error
	if c.Baseline != "" {
		if o.Baseline, err = check.ReadBaseline(c.Baseline, c.WriteBaseline); err != nil {
			return err
		}
	}
	report, err := c.report(a, o)
	a.out.endProgress()
	if err != nil {
		return err
	}
	v := &verdict.Verdict{Report: report, FailOn: c.failOn(), Notes: c.Notes, Version: version()}
	if c.WriteBaseline {
		if err := report.Baseline.Write(report, v.FailOn); err != nil {
			return err
		}
		a.out.remark(fmt.Sprintf("%s: %s in the baseline", c.Baseline, plural(report.Baseline.Known, "finding")))
	}
	if b := report.Baseline; b != nil && b.CountsOnly {
		a.out.remark(c.Baseline + ": version 1 baselines compare only the number of findings; update it with --write-baseline")
	}
	if err := c.print(a, v, o.Layers); err != nil {
		return err
	}
	return c.verdictError(v)
}

func (c *checkCmd) report(a *app, o check.Options) (*check.Report, error) {
	if c.Schema != "" {
		return check.Schema(a.ctx, o, c.Schema)
	}
	return check.Check(a.ctx, a.reg, o)
}

func (c *checkCmd) failOn() (s rule.Severity) {
	if s.UnmarshalText([]byte(c.FailOn)) != nil {
		return rule.Note // unreachable: the grammar validates the flag
	}
	return s
}

// print writes the verdict in the format that --format selects.
func (c *checkCmd) print(a *app, v *verdict.Verdict, layers rule.Layers) error {
	wd, err := os.Getwd()
	if err != nil {
		wd = ""
	}
	w := a.out.stdout
	switch {
	case a.out.json:
		return writeJSON(w, v.Result(strings.Split(layers.String(), ",")))
	case c.Format == "sarif":
		return writeJSON(w, v.SARIF(wd))
	case c.Format == "junit":
		return v.JUnit(w, wd)
	case c.Format == "github":
		return v.GitHub(w, wd)
	case c.Format == "markdown":
		return v.Markdown(w, wd)
	}
	if a.out.noReport {
		return nil
	}
	return v.Text(w, a.out.palette)
}

// verdictError returns the error that a verdict amounts to. A store that could not
// be examined outranks findings in other stores, since it may hold worse ones.
func (c *checkCmd) verdictError(v *verdict.Verdict) error {
	if failed := v.Failed(); len(failed) > 0 {
		busy := !slices.ContainsFunc(failed, func(s *check.Store) bool { return !errors.Is(s.Err, formats.ErrBusy) })
		err := fmt.Errorf("could not examine %s", plural(int64(len(failed)), "store"))
		if busy {
			err = summary{err.Error(), formats.ErrBusy}
		}
		return reported{err}
	}
	if c.WriteBaseline || v.FailingCount() == 0 {
		return nil
	}
	return reported{&formats.Error{Err: findingsError{string(v.Summary(false))}, Hint: "run `rehome check --explain " + v.WorstRule() + "` for details"}}
}

// findingsError is errFindings with the summary of a verdict.
type findingsError struct{ text string }

func (f findingsError) Error() string {
	if notes, ok := strings.CutPrefix(f.text, "ok, "); ok {
		return "check failed: " + notes
	}
	return "check failed: " + f.text
}

func (f findingsError) Unwrap() error { return errFindings }

// ruleList is the list of rules: schema check-rules-1.
type ruleList struct {
	Rules []ruleRow `json:"rules"`
}

type ruleRow struct {
	ID       string        `json:"id"`
	Severity rule.Severity `json:"severity"`
	Layer    string        `json:"layer"`
	Formats  []string      `json:"formats"`
	Title    string        `json:"title"`
	Why      string        `json:"why"`
	Mend     string        `json:"mend"`
}

func newRuleList(all []rule.Rule) *ruleList {
	out := &ruleList{Rules: []ruleRow{}}
	for _, r := range all {
		out.Rules = append(out.Rules, ruleRow{r.ID, r.Severity, r.Layer.String(), r.Formats, r.Title, r.Why, r.Fix})
	}
	return out
}

func showRules(a *app, all []rule.Rule) error { return a.out.printResult(newRuleList(all)) }

func (l *ruleList) text(p *page) {
	rows := [][]screen.Safe{{"rule", "severity", "formats", "problem"}}
	for _, r := range l.Rules {
		rows = append(rows, []screen.Safe{visible(r.ID), visible(r.Severity.String()), visible(formatColumn(r.Formats)), visible(r.Title)})
	}
	p.Table("", rows)
}

// formatColumn returns a list of formats that is short enough for a column.
func formatColumn(names []string) string {
	const maxWidth = 18
	list := strings.Join(names, ", ")
	switch {
	case names[0] == "*":
		return "all"
	case len(list) > maxWidth:
		return fmt.Sprintf("%s +%d", names[0], len(names)-1)
	}
	return list
}

// ruleDetails is one rule with everything there is to say about it.
type ruleDetails struct{ ruleList }

func explainRule(a *app, r *rule.Rule) error {
	return a.out.printResult(&ruleDetails{*newRuleList([]rule.Rule{*r})})
}

func (e *ruleDetails) text(p *page) {
	r := e.Rules[0]
	p.Line(p.Strong(visible(r.ID)) + " " + visible(r.Title))
	where := strings.Join(r.Formats, ", ")
	if where == "*" {
		where = "all formats"
	}
	p.Line("")
	for _, row := range [][2]string{{"severity", r.Severity.String()}, {"layer", r.Layer}, {"formats", where}, {"why", r.Why}, {"fix", r.Mend}} {
		p.Table("  ", [][]screen.Safe{{screen.Sprintf("%-8s", row[0]), visible(row[1])}})
	}
}
