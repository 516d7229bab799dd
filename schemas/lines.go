package schemas

import (
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Lines validates many documents of one schema, each as strictly as Validate
// does, and the most of them without asking the library. A document is reduced
// to its shape: everything that the schema cannot tell apart becomes one and
// the same. A shape that has passed once need not be asked about again.
//
// It belongs to one goroutine.
type Lines struct {
	name     string
	compiled *jsonschema.Schema
	names    map[string]treatment
	passed   map[string]bool
	size     int // of what passed holds
	reducer  reducer
}

// What is remembered: real sessions have some hundred shapes, and a hostile
// one must not fill the memory.
const (
	mostShapes = 4096
	mostBytes  = 8 << 20
)

// NewLines prepares a schema. It refuses one that uses rules which a shape does
// not keep, see vocabulary.
func NewLines(name string) (*Lines, error) {
	s := published()[name]
	if s == nil {
		_, err := Text(name)
		return nil, err
	}
	compiled, err := s.compile()
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	names, err := s.names()
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	l := &Lines{name: name, compiled: compiled, names: names, passed: map[string]bool{}}
	l.reducer.names = names
	return l, nil
}

// Validate holds one document against the schema. The error is Validate's.
func (l *Lines) Validate(doc []byte) error {
	shape, ok := l.reducer.reduce(doc)
	if !ok {
		return Validate(l.name, doc) // odd, or broken: the library knows better
	}
	if l.passed[string(shape)] {
		return nil
	}
	value, err := decode(shape)
	if err == nil {
		err = check(l.compiled, value)
	}
	if err != nil {
		return Validate(l.name, doc)
	}
	if len(l.passed) >= mostShapes || l.size > mostBytes {
		clear(l.passed)
		l.size = 0
	}
	l.passed[string(shape)] = true
	l.size += len(shape)
	return nil
}
