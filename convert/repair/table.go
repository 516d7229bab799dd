package repair

import (
	"embed"
	"slices"
	"strings"

	"rehome/convert/check"
	"rehome/formats/rule"
)

// Way is how findings of a rule are repaired, or why they are not.
type Way struct {
	Rule    *rule.Rule
	Formats []string // whose stores are repaired; none if none is
	Does    string   // what is done, or why nothing is
	Loses   string   // "" if nothing is lost
}

//go:embed repairs.txt
var files embed.FS

// Ways returns the ways of all rules about damage and about what a client rejects or
// loses, in the order of their ids.
func Ways() (out []Way) {
	table, err := files.ReadFile("repairs.txt")
	if err != nil {
		return nil // a test looks for every rule
	}
	for line := range strings.Lines(string(table)) {
		head, rest, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		does, loses, _ := strings.Cut(rest, "; loses ")
		fields := strings.Fields(head)
		n := slices.IndexFunc(append(fields, ""), func(f string) bool { return !strings.HasPrefix(f, "RH") })
		for _, id := range fields[:n] {
			if r := rule.Lookup(id); r != nil { // a test looks at the ids
				out = append(out, Way{r, fields[n:], does, loses})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Way) int { return strings.Compare(a.Rule.ID, b.Rule.ID) })
	return out
}

// Findings returns how many errors and warnings of stores can be repaired.
func Findings(stores []*check.Store) (n int64) {
	for _, s := range stores {
		rules := Repairable(s.Format, s.Family)
		for _, f := range s.Findings {
			if f.Rule.Severity > rule.Note && rules[f.Rule.ID] {
				n += f.Count
			}
		}
	}
	return n
}

// Repairable returns the rules whose findings are repaired in the stores of a format, by
// its name and that of its family.
func Repairable(names ...string) map[string]bool {
	out := map[string]bool{}
	for _, w := range Ways() {
		for _, name := range w.Formats {
			if slices.Contains(names, name) {
				out[w.Rule.ID] = true
			}
		}
	}
	return out
}
