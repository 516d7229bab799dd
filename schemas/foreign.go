package schemas

import (
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Foreign is a schema that somebody else wrote, of any draft that its $schema
// names; 2020-12 if it names none.
type Foreign struct {
	compiled *jsonschema.Schema
	doc      any
}

// foreignURN is where a schema is taken to lie that does not say so itself.
const foreignURN = "urn:rehome:foreign"

// Read makes a schema of its text. What it refers to must be inside it: nothing
// is fetched.
func Read(text []byte) (f *Foreign, err error) {
	defer func() {
		if recover() != nil {
			f, err = nil, errors.New("the schema library cannot bear this schema")
		}
	}()
	if err := bounded(text); err != nil {
		return nil, err
	}
	doc, err := decode(text)
	if err != nil {
		return nil, err
	}
	compiled, err := compile(foreignURN, string(text))
	if err != nil {
		return nil, plainly(err)
	}
	return &Foreign{compiled, doc}, nil
}

// Validate holds one JSON document against the schema. The error is that of the
// function Validate, with the same bounds.
func (f *Foreign) Validate(doc []byte) error {
	if err := bounded(doc); err != nil {
		return err
	}
	value, err := decode(doc)
	if err != nil {
		return err
	}
	return explain(check(f.compiled, value), f.doc)
}

// plainly words why a schema is invalid. The library begins with the place that
// the schema was given, which says nothing to anybody.
func plainly(err error) error {
	var se *jsonschema.SchemaError
	if errors.As(err, &se) {
		err = se.Err
	}
	var ve *jsonschema.ValidationError
	if errors.As(err, &ve) {
		for len(ve.Causes) > 0 {
			ve = ve.Causes[0]
		}
		return fmt.Errorf("%s: not a schema: %s", place(ve.InstanceLocation), clip(fmt.Sprintf("%+q", ve.Message)))
	}
	return errors.New(clip(fmt.Sprintf("%+q", strings.ReplaceAll(err.Error(), foreignURN, ""))))
}
