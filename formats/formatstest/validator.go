package formatstest

import (
	"testing"

	"rehome/formats/rule"
	"rehome/schemas"
)

// Validator returns what rule.Pass.Schema does: the validator for a published
// schema.
func Validator(t testing.TB) func(name string) rule.Validator {
	return func(name string) rule.Validator {
		lines, err := schemas.NewLines(name)
		if err != nil && schemas.Validate(name, []byte("0")) == nil {
			t.Errorf("schema %s: %v", name, err)
		}
		return func(doc []byte) (out []rule.Cause) {
			validate := func(doc []byte) error { return schemas.Validate(name, doc) }
			if lines != nil {
				validate = lines.Validate
			}
			for _, c := range schemas.Causes(validate(doc)) {
				out = append(out, rule.Cause(c))
			}
			return out
		}
	}
}
