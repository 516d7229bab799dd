package verdict

import (
	"maps"

	"rehome/cmd/internal/screen"
	"rehome/convert/check"
	"rehome/formats/rule"
)

// ruleOfMany is a rule with findings in several stores.
type ruleOfMany struct {
	rule   *rule.Rule
	count  int64
	stores []*check.Store
	found  []check.RuleFindings // of each of stores
}

// rulesOfMany returns the rules with findings in several stores, by id. They are listed
// once, with their stores.
func (v *Verdict) rulesOfMany() map[string]*ruleOfMany {
	out := map[string]*ruleOfMany{}
	for _, s := range v.Stores {
		for _, b := range v.listed(s) {
			m := out[b.Rule.ID]
			if m == nil {
				m = &ruleOfMany{rule: b.Rule}
				out[b.Rule.ID] = m
			}
			m.count += b.Count
			m.stores, m.found = append(m.stores, s), append(m.found, b)
		}
	}
	maps.DeleteFunc(out, func(_ string, m *ruleOfMany) bool { return v.Verbose || len(m.stores) < 2 })
	return out
}

func (v *Verdict) manyStores(p page, m *ruleOfMany) {
	p.headline(p.mark(m.rule.Severity >= v.FailOn)+" ", m.rule)
	shown, which := m.stores, screen.Safe(":")
	if len(m.stores) > manyStores {
		shown, which = m.stores[:maxExamples], ", such as these (-v lists all):"
	}
	p.Wrapped("  ", screen.Sprintf("%s in %s", screen.Plural(m.count, "finding"), screen.Plural(int64(len(m.stores)), "store"))+which, screen.Plain)
	for i, s := range shown {
		first := m.found[i].Places[0]
		where := place(s, first)
		if !inText(first) && !ofFile(first) {
			where = screen.Visible(s.Path)
			if at := screen.Shorten(first.At.String()); at != "" {
				where += "/" + at
			}
		}
		p.place(where, detail(first), true)
		if len(m.stores) <= manyStores {
			v.otherPlaces(p, s, m.found[i])
		}
	}
	p.Wrapped(textMargin, "fix: "+screen.Visible(m.rule.Fix), p.Faint)
	p.Line("")
}
