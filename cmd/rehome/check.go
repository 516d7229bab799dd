package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"rehome/cmd/rehome/internal/screen"
	"rehome/cmd/rehome/internal/verdict"
	"rehome/convert"
	"rehome/formats"
	"rehome/formats/rule"
)

// errFindings: there is something at or above the line of --fail-on.
var errFindings = errors.New("check found problems")

// Validate refuses what the grammar alone cannot.
func (c *checkCmd) Validate() error {
	refuse := func(what, hint string) error { return &formats.Error{Err: errors.New(what), Hint: hint} }
	asks := c.Rules || c.Explain != ""
	switch {
	case asks && len(c.Paths) > 0:
		return refuse("--rules and --explain cannot be combined with paths", "omit the paths")
	case c.Rules && c.Explain != "":
		return refuse("--rules and --explain cannot be used together", "omit one of them")
	case c.Explain != "" && rule.Lookup(c.Explain) == nil:
		return refuse("no such rule: "+c.Explain, "run `rehome check --rules` to list them")
	case asks:
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

// layers are those that are asked: all but secrets, if nobody says.
func (c *checkCmd) layers() (out rule.Layers) {
	for _, name := range c.Layer {
		l, err := rule.ParseLayer(name)
		if err == nil { // Validate has refused others
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

// Run looks at all that is below the paths, and says whether it is whole.
func (c *checkCmd) Run(h *house) error {
	switch {
	case c.Rules:
		return showRules(h, rule.All())
	case c.Explain != "":
		return explainRule(h, rule.Lookup(c.Explain))
	}
	if h.out.json && c.Format != "text" && c.Format != "json" {
		return newUsageError(errors.New("--json and --format " + c.Format + " cannot be used together"))
	}
	h.out.json = h.out.json || c.Format == "json"
	if len(c.Paths) == 0 {
		c.Paths = []string{"."}
	}
	o := convert.CheckOptions{
		Paths: c.Paths, From: c.From, Layers: c.layers(), Rules: c.Rule, Skip: c.Skip, For: c.For, Require: c.Require, Live: c.Live, Jobs: c.Jobs,
		OnProgress: h.out.progress(),
	}
	var err error
	if c.Baseline != "" {
		if o.Baseline, err = convert.ReadBaseline(c.Baseline, c.WriteBaseline); err != nil {
			return err
		}
	}
	report, err := c.report(h, o)
	h.out.endProgress()
	if err != nil {
		return err
	}
	v := &verdict.Verdict{CheckReport: report, FailOn: c.failOn(), Notes: c.Notes, Version: buildVersion()}
	if c.WriteBaseline {
		if err := report.Baseline.Write(report, v.FailOn); err != nil {
			return err
		}
		h.out.say(fmt.Sprintf("%s: %s known", c.Baseline, many(report.Baseline.Known, "finding")))
	}
	if b := report.Baseline; b != nil && b.Words {
		h.out.say(c.Baseline + ": a baseline of version 1, so only the number of findings is compared; update it with --write-baseline")
	}
	if err := c.print(h, v, o.Layers); err != nil {
		return err
	}
	return c.judge(v)
}

func (c *checkCmd) report(h *house, o convert.CheckOptions) (*convert.CheckReport, error) {
	if c.Schema != "" {
		return convert.CheckSchema(h.ctx, o, c.Schema)
	}
	return convert.Check(h.ctx, h.reg, o)
}

func (c *checkCmd) failOn() (s rule.Severity) {
	if s.UnmarshalText([]byte(c.FailOn)) != nil {
		return rule.Note // the grammar lets nothing else through
	}
	return s
}

// print shows the verdict in the form that was asked for.
func (c *checkCmd) print(h *house, v *verdict.Verdict, layers rule.Layers) error {
	wd, err := os.Getwd()
	if err != nil {
		wd = ""
	}
	w := h.out.stdout
	switch {
	case h.out.json:
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
	if h.out.silent {
		return nil
	}
	return v.Text(w, h.out.paint)
}

// judge is the error that a verdict amounts to. A store that could not be
// examined outranks what was found in others: nobody knows what is in it.
func (c *checkCmd) judge(v *verdict.Verdict) error {
	if failed := v.Failed(); len(failed) > 0 {
		busy := !slices.ContainsFunc(failed, func(s *convert.CheckedStore) bool { return !errors.Is(s.Err, formats.ErrBusy) })
		err := fmt.Errorf("could not examine %s", many(int64(len(failed)), "store"))
		if busy {
			err = summary{err.Error(), formats.ErrBusy}
		}
		return shown{err}
	}
	if c.WriteBaseline || v.Counts() == 0 {
		return nil
	}
	return shown{&formats.Error{Err: found{string(v.Sum(false))}, Hint: "run `rehome check --explain " + v.First() + "` for details"}}
}

// found is errFindings in the words of one verdict.
type found struct{ words string }

func (f found) Error() string {
	if notes, ok := strings.CutPrefix(f.words, "ok, "); ok {
		return "check failed: " + notes
	}
	return "check failed: " + f.words
}

func (f found) Unwrap() error { return errFindings }

// buildVersion is the version of this program.
func buildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

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

func showRules(h *house, all []rule.Rule) error { return h.out.show(newRuleList(all)) }

func (l *ruleList) text(p *page) {
	rows := [][]screen.Safe{{"rule", "severity", "of", "what is wrong"}}
	for _, r := range l.Rules {
		rows = append(rows, []screen.Safe{visible(r.ID), visible(r.Severity.String()), visible(ofFormats(r.Formats)), visible(r.Title)})
	}
	p.Table("", rows)
}

// ofFormats is a list of formats short enough for a column.
func ofFormats(names []string) string {
	const most = 18
	list := strings.Join(names, ", ")
	switch {
	case names[0] == "*":
		return "all"
	case len(list) > most:
		return fmt.Sprintf("%s +%d", names[0], len(names)-1)
	}
	return list
}

// explained is one rule with all that is to be said of it.
type explained struct{ ruleList }

func explainRule(h *house, r *rule.Rule) error {
	return h.out.show(&explained{*newRuleList([]rule.Rule{*r})})
}

func (e *explained) text(p *page) {
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
