package schemas

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// treatment is what a shape keeps of the members of one name, wherever they
// stand. Values in arrays go by the name of the member that the array is of.
type treatment struct {
	// exact members have an enum or a const somewhere: their scalars stay.
	exact bool
	// patterns are the rules that texts of this name have somewhere. A text
	// that all of them accept is as good as any other.
	patterns []*regexp.Regexp
	rules    string // the same as one text
	// opaque members may hold anything somewhere, and nowhere anything that
	// must be more than a text: what is no text becomes 0.
	opaque bool
	// texts reports that an opaque member must be a text elsewhere.
	texts bool
}

// treatments derives from a schema what of each member it can tell apart. The
// error names a rule that looks at more than a shape keeps.
func treatments(doc any) (map[string]treatment, error) {
	v := &vocabulary{root: doc, seen: map[string]*seen{}, visited: map[string]bool{}}
	if err := v.schema("", doc); err != nil {
		return nil, err
	}
	out := map[string]treatment{}
	for name, s := range v.seen {
		t := treatment{exact: s.exact, opaque: s.open && !s.exact && !s.other && len(s.patterns) == 0, texts: s.text}
		slices.Sort(s.patterns)
		t.rules = strings.Join(s.patterns, "\x00")
		for _, p := range s.patterns {
			re, err := regexp.Compile(p)
			if err != nil {
				return nil, err
			}
			t.patterns = append(t.patterns, re)
		}
		out[name] = t
	}
	return out, nil
}

// seen is what all schemas of one member name come to.
type seen struct {
	exact    bool
	patterns []string
	open     bool // somewhere nothing is asked of it
	text     bool // somewhere it is a text, and that is all
	other    bool // somewhere it is something else
}

type vocabulary struct {
	root    any
	seen    map[string]*seen
	visited map[string]bool
}

func (v *vocabulary) of(name string) *seen {
	if v.seen[name] == nil {
		v.seen[name] = &seen{}
	}
	return v.seen[name]
}

// schema reads one schema of the values under a member's name; "" is that of
// the document, whose rules for scalars would judge the document itself.
func (v *vocabulary) schema(name string, s any) error {
	if _, ok := s.(bool); ok {
		if s == true {
			v.of(name).open = true
		}
		return nil
	}
	m, ok := s.(map[string]any)
	if !ok {
		return errors.New("a schema that is neither an object nor a boolean")
	}
	asks := false
	for _, rule := range ordered(m) {
		more, err := v.rule(name, rule, m)
		if err != nil {
			return err
		}
		asks = asks || more
	}
	at := v.of(name)
	switch {
	case !asks:
		at.open = true
	case m["type"] == "string":
		at.text = true
	case m["$ref"] == nil: // what it refers to says it
		at.other = true
	}
	return nil
}

func ordered(m map[string]any) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// rule enters one rule of a schema, and reports whether it asks for anything.
func (v *vocabulary) rule(name, rule string, m map[string]any) (asks bool, err error) {
	value := m[rule]
	switch rule {
	case "$schema", "$id", "$comment", "$defs", "title", "description", "contentEncoding":
		return false, nil
	case "type", "required", "additionalProperties":
		if _, schema := value.(map[string]any); schema {
			return true, fmt.Errorf("%s with a schema cannot be judged by shape", rule)
		}
		return true, nil
	case "enum", "const":
		v.of(name).exact = true
		return true, nil
	case "pattern":
		if p := value.(string); !slices.Contains(v.of(name).patterns, p) {
			v.of(name).patterns = append(v.of(name).patterns, p)
		}
		return true, nil
	case "minimum":
		if n, ok := value.(json.Number); !ok || n != "0" {
			return true, errors.New("a minimum other than 0 cannot be judged by shape")
		}
		return true, nil
	case "minLength", "minItems":
		if n, ok := value.(json.Number); !ok || n != "1" {
			return true, fmt.Errorf("%s other than 1 cannot be judged by shape", rule)
		}
		return true, nil
	case "items", "not", "if", "then", "else":
		return true, v.schema(name, value)
	case "allOf", "anyOf", "oneOf":
		for _, s := range value.([]any) {
			if err := v.schema(name, s); err != nil {
				return true, err
			}
		}
		return true, nil
	case "properties":
		props := value.(map[string]any)
		for _, p := range ordered(props) {
			if err := v.schema(p, props[p]); err != nil {
				return true, err
			}
		}
		return true, nil
	case "$ref":
		return true, v.follow(name, value.(string))
	}
	return true, fmt.Errorf("the rule %s cannot be judged by shape", rule)
}

// follow reads what a reference leads to, once for each name.
func (v *vocabulary) follow(name, ref string) error {
	if v.visited[name+" "+ref] {
		return nil
	}
	v.visited[name+" "+ref] = true
	pointer, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return fmt.Errorf("a reference to %s cannot be judged by shape", ref)
	}
	return v.schema(name, at(v.root, "/"+pointer))
}
