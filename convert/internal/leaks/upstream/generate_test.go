package upstream

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zricethezav/gitleaks/v8/config"
)

// The names of the members are those of the types in ../ruleset.go, which read
// what is written here.
type ruleset struct {
	Source string      `json:"source"`
	Allow  []allowance `json:"allow"`
	Rules  []rule      `json:"rules"`
}

type rule struct {
	ID       string      `json:"id"`
	Title    string      `json:"title"`
	Pattern  string      `json:"pattern"`
	Group    int         `json:"group,omitempty"`
	Entropy  float64     `json:"entropy,omitempty"`
	Keywords []string    `json:"keywords"`
	Allow    []allowance `json:"allow,omitempty"`
}

type allowance struct {
	Target   string   `json:"target,omitempty"`
	All      bool     `json:"all,omitempty"`
	Patterns []string `json:"patterns,omitempty"`
	Words    []string `json:"words,omitempty"`
}

const (
	module = "github.com/zricethezav/gitleaks/v8"
	target = "../gitleaks"
)

// generate returns the files of target by name.
func generate() (map[string][]byte, error) {
	version, err := listed("{{.Version}}", module)
	if err != nil {
		return nil, err
	}
	dir, err := listed("{{.Dir}}", module)
	if err != nil {
		return nil, err
	}
	license, err := os.ReadFile(filepath.Join(dir, "LICENSE"))
	if err != nil {
		return nil, err
	}
	text, err := rules(module + " " + version)
	if err != nil {
		return nil, err
	}
	sums := fmt.Sprintf("%x  LICENSE\n%x  rules.json\n", sha256.Sum256(license), sha256.Sum256(text))
	return map[string][]byte{"LICENSE": license, "rules.json": text, "SHA256SUMS": []byte(sums)}, nil
}

// listed asks the Go tools about a module, such as for the version in go.mod.
func listed(what, module string) (string, error) {
	cmd := exec.Command("go", "list", "-m", "-f", what, module)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// rules returns the text of rules.json: the rules that gitleaks' own loader
// returns, in its order, without those that depend on a file's name or on other
// findings, and without allowances for paths and commits. rehome looks at bytes,
// which have neither.
func rules(source string) ([]byte, error) {
	ask := config.ViperConfig{Extend: config.Extend{UseDefault: true}}
	c, err := ask.Translate()
	if err != nil {
		return nil, err
	}
	set := ruleset{Source: source, Allow: allowances(c.Allowlists)}
	for _, id := range c.OrderedRules {
		r := c.Rules[id]
		if r.Path != nil || r.Regex == nil || len(r.RequiredRules) > 0 || r.SkipReport {
			continue
		}
		set.Rules = append(set.Rules, rule{
			ID: r.RuleID, Title: r.Description, Pattern: r.Regex.String(), Group: r.SecretGroup,
			Entropy: r.Entropy, Keywords: r.Keywords, Allow: allowances(r.Allowlists),
		})
	}
	if len(set.Rules) == 0 {
		return nil, errors.New("gitleaks has no rules")
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err = e.Encode(set)
	return b.Bytes(), err
}

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
