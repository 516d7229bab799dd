package leaks

import (
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// ruleText is one rule as its authors wrote it.
type ruleText struct {
	ID       string      `json:"id"`
	Title    string      `json:"title"`
	Pattern  string      `json:"pattern"`
	Group    int         `json:"group,omitempty"` // group of the pattern with the secret; 0 = the first that is not empty
	Each     string      `json:"each,omitempty"`  // what the group holds is no secret, but has them: in the first group of this expression
	Entropy  float64     `json:"entropy,omitempty"`
	Keywords []string    `json:"keywords"` // in lower case
	Allow    []allowance `json:"allow,omitempty"`
}

// allowance describes what looks like a secret but is not one.
type allowance struct {
	Target   string   `json:"target,omitempty"` // what Patterns apply to: "match", "line", or "" for the secret
	All      bool     `json:"all,omitempty"`    // both lists must match
	Patterns []string `json:"patterns,omitempty"`
	Words    []string `json:"words,omitempty"` // words in the secret, in lower case
}

// ruleset is the content of a rules.json. The tests in upstream write that of gitleaks.
type ruleset struct {
	Source string      `json:"source"` // module and version that the rules are from
	Allow  []allowance `json:"allow"`  // for all rules
	Rules  []ruleText  `json:"rules"`
}

//go:embed gitleaks/rules.json own/rules.json
var files embed.FS

// The embedded files: the rules of gitleaks, and those that it lacks.
const (
	gitleaksRules = "gitleaks/rules.json"
	ownRules      = "own/rules.json"
)

// loadRules reads all embedded rules. What our own file allows is for its rules only.
func loadRules() (ruleset, error) {
	set, err := readRules(gitleaksRules)
	if err != nil {
		return set, err
	}
	own, err := readRules(ownRules)
	for _, r := range own.Rules {
		r.Allow = append(r.Allow, own.Allow...)
		set.Rules = append(set.Rules, r)
	}
	return set, err
}

func readRules(name string) (set ruleset, err error) {
	text, err := files.ReadFile(name)
	if err != nil {
		return set, err
	}
	return set, json.Unmarshal(text, &set)
}

// rule is a rule ready for use. Its expressions are compiled when they are
// first needed: most sessions mention few vendors.
type rule struct {
	ruleText
	shape
	generic      bool
	full         func() *regexp.Regexp
	each         func() *regexp.Regexp
	tailAfterOne func() *regexp.Regexp // the tail after any character
	allow        []allow
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
	r.each = compiled(func() string { return text.Each })
	r.tailAfterOne = compiled(func() string { return afterOneRune(s.tail) })
	return r, nil
}

// compiled can use MustCompile, as a test compiles all patterns.
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

// specificity returns how specific a rule is compared with others.
func (r *rule) specificity() int {
	switch {
	case !r.generic:
		return 2
	case r.ID != genericID:
		return 1
	}
	return 0
}
