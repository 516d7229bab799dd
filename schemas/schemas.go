// Package schemas publishes what rehome's own text looks like: JSON Schemas
// (draft 2020-12) of the archive, of sidecars, and of every --json result. It
// is the only door to the schema library.
//
// A schema is named like its file: archive-manifest-1 is version 1 of
// archive-manifest. A shape that grows an optional member keeps its number;
// one that stops accepting what it used to accept gets the next.
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

// published is the list of schemas, made on first use and never changed.
var published = sync.OnceValue(func() map[string]*schema {
	out := map[string]*schema{}
	for _, name := range Names() {
		s := &schema{}
		s.compile = sync.OnceValues(func() (*jsonschema.Schema, error) {
			text, err := Text(name)
			if err != nil {
				return nil, err
			}
			if s.doc, err = decode(text); err != nil {
				return nil, err
			}
			return compile(urnPrefix+name, string(text))
		})
		s.names = sync.OnceValues(func() (map[string]treatment, error) { return treatments(s.doc) })
		out[name] = s
	}
	return out
})

// schema is one published schema. It is compiled when it is first asked for:
// most runs of the program need none.
type schema struct {
	compile func() (*jsonschema.Schema, error)
	doc     any // the schema as data, for messages; known once compiled
	names   func() (map[string]treatment, error)
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

// Text is a schema as published.
func Text(name string) ([]byte, error) {
	b, err := files.ReadFile(name + ending)
	if err != nil {
		return nil, fmt.Errorf("unknown schema %q; use one of %s", name, strings.Join(Names(), ", "))
	}
	return b, nil
}

// Validate holds one JSON document against a schema. The error has one line
// for each cause, position first:
//
//	/databases/0/path: must be a string
//
// It repeats no value of the document, so that a secret cannot reach a log.
// Of two members of one name the last counts, as in encoding/json: who reads
// text of others must refuse doubles where they matter.
//
// Numbers with an exponent beyond ±400, or longer than 1000 characters, and
// nesting deeper than 512 are refused wherever they stand, although JSON
// allows them: they are no sizes that the library is safe with.
func Validate(name string, doc []byte) error {
	s := published()[name]
	if s == nil {
		_, err := Text(name)
		return err
	}
	compiled, err := s.compile()
	if err != nil {
		return fmt.Errorf("schema %s: %w", name, err)
	}
	if err := bounded(doc); err != nil {
		return err
	}
	value, err := decode(doc)
	if err != nil {
		return err
	}
	return explain(check(compiled, value), s.doc)
}

// check asks the library, which is known to panic on numbers of absurd size.
// bounded keeps those away; this is the last guard.
func check(s *jsonschema.Schema, value any) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the document cannot be held against its schema")
		}
	}()
	return s.Validate(value)
}

// compile makes a schema ready. Whatever it refers to must be inside it:
// nothing is fetched, from nowhere.
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
