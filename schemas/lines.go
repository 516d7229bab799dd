package schemas

import "fmt"

// Lines validates many documents against one schema, as strictly as Validate, but most
// of them without the library. It reduces a document to its shape, in which everything
// that the schema does not distinguish is the same, and remembers the shapes that are
// valid.
//
// It must be used by one goroutine.
type Lines struct {
	schema  *Schema
	passed  map[string]bool
	size    int // of the shapes in passed
	reducer reducer
}

// Bounds of what Lines remembers: real sessions have some hundred shapes.
const (
	maxShapes = 4096
	maxBytes  = 8 << 20
)

// NewLines prepares a schema. It fails for one with rules that shapes do not keep, see
// vocabulary.
func NewLines(name string) (*Lines, error) {
	s, err := lookup(name)
	if err != nil {
		return nil, err
	}
	names, err := s.treatments()
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	return &Lines{schema: s, passed: map[string]bool{}, reducer: reducer{names: names}}, nil
}

// Validate validates a document. The error is that of Schema.Validate.
func (l *Lines) Validate(doc []byte) error {
	shape, ok := l.reducer.reduce(doc)
	if !ok {
		return l.schema.Validate(doc) // unusual or invalid
	}
	if l.passed[string(shape)] {
		return nil
	}
	value, err := decode(shape)
	if err == nil {
		err = check(l.schema.compiled, value)
	}
	if err != nil {
		return l.schema.Validate(doc)
	}
	if len(l.passed) >= maxShapes || l.size > maxBytes {
		clear(l.passed)
		l.size = 0
	}
	l.passed[string(shape)] = true
	l.size += len(shape)
	return nil
}
