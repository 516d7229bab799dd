package schemas

import (
	"strings"
	"testing"
)

// TestForeign: schemas of any draft, with what they refer to inside them.
func TestForeign(t *testing.T) {
	for name, c := range map[string]struct{ schema, good, bad, want string }{
		"no draft": {`{"type":"object","required":["a"]}`, `{"a":1}`, `{}`, "/: lacks: 'a'"},
		"draft 4":  {`{"$schema":"http://json-schema.org/draft-04/schema#","id":"https://example.org/a.json","properties":{"a":{"$ref":"#/definitions/n"}},"definitions":{"n":{"type":"integer","minimum":3,"exclusiveMinimum":true}}}`, `{"a":4}`, `{"a":3}`, "/a: violates"},
		"draft 7":  {`{"$schema":"http://json-schema.org/draft-07/schema#","if":{"required":["a"]},"then":{"required":["b"]}}`, `{"a":1,"b":1}`, `{"a":1}`, "/: lacks: 'b'"},
		"2020-12":  {`{"$schema":"https://json-schema.org/draft/2020-12/schema","$defs":{"x":{"$anchor":"x","const":1}},"prefixItems":[{"$ref":"#x"}]}`, `[1]`, `[2]`, "/0: must be 1"},
		"anything": {`true`, `{}`, `{"a":1e5000000}`, "byte 5: a number with an exponent beyond ±400"},
	} {
		f, err := Read([]byte(c.schema))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := f.Validate([]byte(c.good)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := f.Validate([]byte(c.bad)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// TestNoSchema: what is none is refused with a reason that is safe to print.
func TestNoSchema(t *testing.T) {
	for text, want := range map[string]string{
		"":             "empty, where JSON should be",
		"{":            "the JSON is incomplete",
		`{"type":"x"}`: "not a schema",
		`{"$schema":"https://example.org/own","type":"object"}`: "never fetched",
		`{"$ref":"file:///etc/passwd"}`:                         "never fetched",
		`{"$ref":"other.json"}`:                                 "never fetched",
		`{"$ref":"#/definitions/none"}`:                         "none",
		`{"pattern":"("}`:                                       "pattern",
		`{"maximum":1e5000000}`:                                 "exponent",
		strings.Repeat(`{"not":`, 600) + "{}":                   "nested deeper",
		"{\"\x1b[2J\u202e\":{\"$ref\":\"\x1b\u202e\"}}":         "",
		`{"$ref":"\u001b[2J\u202e"}`:                            "",
	} {
		_, err := Read([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\x1b\u202e") {
			t.Errorf("%.60q: %v", text, err)
		}
	}
	f, err := Read([]byte(`{"$ref":"#"}`))
	if err == nil {
		err = f.Validate([]byte("1"))
	}
	if err == nil {
		t.Error("a schema that is nothing but itself takes something")
	}
}
