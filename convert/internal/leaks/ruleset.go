package leaks

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/zricethezav/gitleaks/v8/config"
)

// ruleText is one rule as its authors wrote it.
type ruleText struct {
	ID       string
	Title    string
	Pattern  string
	Group    int // of the pattern: the secret; 0: the first that is not empty
	Entropy  float64
	Keywords []string // in lower case
	Allow    []allowance
}

// allowance says what is no secret although it looks like one.
type allowance struct {
	Target   string // what Patterns look at: "match", "line", or the secret
	All      bool   // both lists must agree
	Patterns []string
	Words    []string // in the secret, in lower case
}

// ruleset is what the library knows.
type ruleset struct {
	rules []ruleText
	allow []allowance
}

// library is the rule set as the library loads it: without rules that depend on
// a file's name, and without allowances for paths and commits. The library
// counts how often it was asked, and the third time it has nothing to say.
var library = sync.OnceValues(func() (set ruleset, err error) {
	ask := config.ViperConfig{Extend: config.Extend{UseDefault: true}}
	c, err := ask.Translate()
	if err != nil {
		return set, err
	}
	for _, id := range c.OrderedRules {
		r := c.Rules[id]
		if r.Path != nil || r.Regex == nil {
			continue
		}
		if len(r.RequiredRules) > 0 || r.SkipReport {
			continue // one that counts only beside others is no finding alone
		}
		set.rules = append(set.rules, ruleText{
			ID: r.RuleID, Title: r.Description, Pattern: r.Regex.String(), Group: r.SecretGroup,
			Entropy: r.Entropy, Keywords: r.Keywords, Allow: allowances(r.Allowlists),
		})
	}
	if len(set.rules) == 0 {
		return set, errors.New("there are none")
	}
	set.allow = allowances(c.Allowlists)
	return set, nil
})

func allowances(lists []*config.Allowlist) []allowance {
	var out []allowance
	for _, l := range lists {
		all := l.MatchCondition == config.AllowlistMatchAnd
		if all && len(l.Paths)+len(l.Commits) > 0 || len(l.Regexes)+len(l.StopWords) == 0 {
			continue // there is no path here, and no commit
		}
		a := allowance{Target: l.RegexTarget, All: all, Words: slices.Sorted(slices.Values(l.StopWords))}
		for _, re := range l.Regexes {
			a.Patterns = append(a.Patterns, re.String())
		}
		out = append(out, a)
	}
	return out
}

// rule is a rule ready for use. Expressions are compiled when a word first asks
// for them: most sessions speak of few vendors.
type rule struct {
	ruleText
	shape
	generic bool
	full    func() *regexp.Regexp
	gate    func() *regexp.Regexp // the tail behind one character
	allow   []allow
}

// allow is an allowance ready for use.
type allow struct {
	allowance
	pattern func() *regexp.Regexp
	words   func() *words
}

func newRule(text ruleText) (*rule, error) {
	s, err := shapeOf(text)
	if err != nil {
		return nil, fmt.Errorf("rule %s: %w", text.ID, err)
	}
	r := &rule{ruleText: text, shape: s, allow: allows(text.Allow)}
	r.generic = text.ID == genericID || !s.marked
	r.full = compiled(func() string { return text.Pattern })
	r.gate = compiled(func() string { return behind(s.tail) })
	return r, nil
}

// compiled may use MustCompile: a test compiles all there are.
func compiled(pattern func() string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern()) })
}

func allows(list []allowance) []allow {
	var out []allow
	for _, a := range list {
		out = append(out, allow{
			allowance: a,
			pattern:   compiled(func() string { return "(?:" + strings.Join(a.Patterns, "|") + ")" }),
			words:     sync.OnceValue(func() *words { return newWords(a.Words) }),
		})
	}
	return out
}

// weight is what a rule's word counts against another's.
func (r *rule) weight() int {
	switch {
	case !r.generic:
		return 2
	case r.ID != genericID:
		return 1
	}
	return 0
}
