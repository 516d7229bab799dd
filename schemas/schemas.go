// Package schemas publishes JSON Schemas (draft 2020-12) of the text that rehome reads
// and writes: archives, sidecars, canonical sessions, clients' records and every --json
// result. It is the only user of the schema library.
//
// A schema is named like its file: archive-manifest-1 is version 1 of
// archive-manifest. A schema that gets an optional member keeps its version; one that
// rejects what it used to accept gets the next.
package schemas

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

const (
	ending    = ".schema.json"
	urnPrefix = "urn:rehome:schema:"
)

//go:embed *.schema.json
var files embed.FS

// Schema is a JSON Schema that is ready to use.
type Schema struct {
	compiled   *jsonschema.Schema
	doc        any                                  // the schema as data, for messages
	treatments func() (map[string]treatment, error) // see Lines
}

// published are the published schemas by name. Each is compiled on first use: most runs
// of the program need none.
var published = sync.OnceValue(func() map[string]func() (*Schema, error) {
	out := map[string]func() (*Schema, error){}
	for _, name := range Names() {
		out[name] = sync.OnceValues(func() (*Schema, error) {
			text, err := Text(name)
			if err != nil {
				return nil, err
			}
			doc, err := decode(text)
			if err != nil {
				return nil, err
			}
			return newSchema(urnPrefix+name, text, doc)
		})
	}
	return out
})

// lookup returns a published schema.
func lookup(name string) (*Schema, error) {
	s := published()[name]
	if s == nil {
		_, err := Text(name)
		return nil, err
	}
	compiled, err := s()
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	return compiled, nil
}

// Names lists the published schemas in alphabetical order.
func Names() []string {
	list, err := fs.Glob(files, "*"+ending)
	if err != nil {
		return nil // only a malformed pattern, and this one is not
	}
	for i, n := range list {
		list[i] = strings.TrimSuffix(n, ending)
	}
	return list
}

// Text returns a schema as published.
func Text(name string) ([]byte, error) {
	b, err := files.ReadFile(name + ending)
	if err != nil {
		return nil, fmt.Errorf("unknown schema %q; use one of %s", name, strings.Join(Names(), ", "))
	}
	return b, nil
}

// Validate validates a JSON document against a published schema.
func Validate(name string, doc []byte) error {
	s, err := lookup(name)
	if err != nil {
		return err
	}
	return s.Validate(doc)
}

// Validate validates a JSON document. The error has one line for each cause, position
// first:
//
//	/databases/0/path: must be a string
//
// It repeats no value of the document, so that a secret cannot reach a log. Of several
// members with the same name the last counts, as in encoding/json.
//
// Numbers with an exponent beyond ±400 or longer than 1000 characters, and nesting deeper
// than 512, are errors, although JSON allows them: the library is not safe with them.
func (s *Schema) Validate(doc []byte) error {
	if err := bounded(doc); err != nil {
		return err
	}
	value, err := decode(doc)
	if err != nil {
		return err
	}
	return explain(check(s.compiled, value), s.doc)
}

// check calls the library, which panics on absurdly large numbers. bounded rejects those;
// this is the last guard.
func check(s *jsonschema.Schema, value any) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the document cannot be held against its schema")
		}
	}()
	return s.Validate(value)
}

func newSchema(urn string, text []byte, doc any) (*Schema, error) {
	compiled, err := compile(urn, string(text))
	if err != nil {
		return nil, err
	}
	return &Schema{compiled, doc, sync.OnceValues(func() (map[string]treatment, error) { return treatments(doc) })}, nil
}

// compile compiles a schema. It never fetches what the schema refers to: that must be
// inside it.
func compile(urn, text string) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.AssertFormat = true
	c.LoadURL = func(url string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("refers to %s, and schemas are never fetched", url)
	}
	if err := c.AddResource(urn, strings.NewReader(text)); err != nil {
		return nil, err
	}
	return c.Compile(urn)
}
