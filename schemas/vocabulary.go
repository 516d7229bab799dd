package schemas

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// treatment is what a shape keeps of the members with one name, anywhere in a document.
// Elements of an array are treated like the member that is the array.
type treatment struct {
	// exact members have an enum or a const somewhere: their scalars are kept.
	exact bool
	// patterns are those that texts of this name have somewhere. All texts that match
	// all of them are treated as equal.
	patterns []*regexp.Regexp
	rules    string // the patterns as one text
	// opaque members can be anything somewhere, and nowhere must be anything but a
	// text: what is not a text becomes 0.
	opaque bool
	// texts reports that an opaque member must be a text elsewhere.
	texts bool
}

// treatments derives from a schema which values of each member it distinguishes. It
// fails for a rule that depends on more than a shape keeps.
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

// seen is what the schemas of the members with one name have in common.
type seen struct {
	exact    bool
	patterns []string
	open     bool // somewhere it can be anything
	text     bool // somewhere it must be a text, without other rules
	other    bool // somewhere it must be something else
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

// schema reads a schema of the members with a name; "" is the document.
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
	for _, rule := range slices.Sorted(maps.Keys(m)) {
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
	case m["$ref"] == nil: // else follow has read it
		at.other = true
	}
	return nil
}

// rule reads one rule of a schema, and reports whether it restricts values.
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
		if n, ok := value.(json.Number); !ok || n != "0" && n != "1" {
			return true, errors.New("a minimum other than 0 and 1 cannot be judged by shape")
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
		for _, p := range slices.Sorted(maps.Keys(props)) {
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

// follow reads the schema that a reference names, once for each name of a member.
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
