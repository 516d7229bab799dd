package schemas

import (
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// foreignURN is the id of a schema that does not state one.
const foreignURN = "urn:rehome:foreign"

// Read returns a schema that is not rehome's, of the draft that its $schema names, or
// 2020-12. What it refers to must be inside it: nothing is fetched.
func Read(text []byte) (s *Schema, err error) {
	defer func() {
		if recover() != nil {
			s, err = nil, errors.New("the schema library cannot process this schema")
		}
	}()
	if err := bounded(text); err != nil {
		return nil, err
	}
	doc, err := decode(text)
	if err != nil {
		return nil, err
	}
	if s, err = newSchema(foreignURN, text, doc); err != nil {
		return nil, plainly(err)
	}
	return s, nil
}

// plainly rewords why a schema is invalid. The library starts with foreignURN, which means
// nothing to users.
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
