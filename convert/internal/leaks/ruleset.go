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
	Group    int         `json:"group,omitempty"` // of the pattern: the secret; 0: the first that is not empty
	Entropy  float64     `json:"entropy,omitempty"`
	Keywords []string    `json:"keywords"` // in lower case
	Allow    []allowance `json:"allow,omitempty"`
}

// allowance says what is no secret although it looks like one.
type allowance struct {
	Target   string   `json:"target,omitempty"` // what Patterns look at: "match", "line", or the secret
	All      bool     `json:"all,omitempty"`    // both lists must agree
	Patterns []string `json:"patterns,omitempty"`
	Words    []string `json:"words,omitempty"` // in the secret, in lower case
}

// ruleset is the content of rules.json, which the tests in upstream write.
type ruleset struct {
	Source string      `json:"source"` // the module and version that the rules are from
	Allow  []allowance `json:"allow"`  // for all rules
	Rules  []ruleText  `json:"rules"`
}

//go:embed gitleaks/rules.json
var files embed.FS

// library reads the embedded rules. Nothing is read before it is called.
func library() (set ruleset, err error) {
	text, err := files.ReadFile("gitleaks/rules.json")
	if err != nil {
		return set, err
	}
	err = json.Unmarshal(text, &set)
	return set, err
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
