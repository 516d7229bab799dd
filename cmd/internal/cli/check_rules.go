package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/formats"
	"rehome/formats/rule"
	"rehome/internal/closest"
)

// noSuchRule is the error of an unknown rule id.
func noSuchRule(id string) error {
	var ids []string
	for _, r := range rule.All() {
		ids = append(ids, r.ID)
	}
	return &formats.Error{Err: errors.New("no such rule: " + id), Hint: closest.Hint(id, ids, "run `rehome check --rules` to list them")}
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

func showRules(a *console.App, all []rule.Rule) error { return a.Out.Print(a.Ctx, newRuleList(all)) }

func (l *ruleList) Text(p *screen.Page) {
	rows := [][]screen.Safe{{"rule", "severity", "formats", "problem"}}
	for _, r := range l.Rules {
		rows = append(rows, []screen.Safe{screen.Visible(r.ID), screen.Visible(r.Severity.String()), screen.Visible(formatColumn(r.Formats)),
			screen.Visible(r.Title)})
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

func explainRule(a *console.App, r *rule.Rule) error {
	return a.Out.Print(a.Ctx, &ruleDetails{*newRuleList([]rule.Rule{*r})})
}

func (e *ruleDetails) Text(p *screen.Page) {
	r := e.Rules[0]
	p.Line(p.Strong(screen.Visible(r.ID)) + " " + screen.Visible(r.Title))
	where := strings.Join(r.Formats, ", ")
	if where == "*" {
		where = "all formats"
	}
	p.Line("")
	rows := [][2]string{{"severity", r.Severity.String()}, {"layer", r.Layer}, {"formats", where}, {"why", r.Why}, {"fix", r.Mend}}
	for _, w := range newRepairList().Ways {
		switch {
		case w.Rule != r.ID:
		case w.Loses != "":
			rows = append(rows, [2]string{"repair", w.Repair + "; lost: " + w.Loses})
		default:
			rows = append(rows, [2]string{"repair", cmp.Or(w.Repair, "none: "+w.Why)})
		}
	}
	for _, row := range rows {
		p.Table("  ", [][]screen.Safe{{screen.Sprintf("%-8s", row[0]), screen.Visible(row[1])}})
	}
}
