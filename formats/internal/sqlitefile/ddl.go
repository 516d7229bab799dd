package sqlitefile

import (
	"errors"
	"fmt"
	"strings"

	"rehome/formats"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// mostSQL is the most bytes of one CREATE statement. SQLite itself takes a
// gigabyte, but takes a hundred times its memory to read it.
const mostSQL = 16 << 20

// entry is an object of a schema that was found to be harmless.
type entry struct {
	store.Object
	virtual bool
	strict  bool
	effort  effort // of each row of its table
}

// runs reports whether the entry is made by running its statement. The others
// are only written down.
func (e entry) runs() bool { return e.Type == "index" || e.Type == "table" && !e.virtual }

// system reports whether the entry is one of SQLite's own books.
func (e entry) system() bool { return reserved(e.Name) }

func reserved(name string) bool { return len(name) >= 7 && same(name[:7], "sqlite_") }

// Vet reports what Create would refuse in a schema without running any of it:
// a database that fails here could be turned into text, but not back.
func Vet(d store.Database) error {
	_, err := vetAll(d, false)
	return err
}

// VetWithCode is Vet for CreateWithCode.
func VetWithCode(d store.Database) error {
	_, err := vetAll(d, true)
	return err
}

var errCode = errors.New("is SQL that runs by itself, and no version of this client has it")

// vetAll looks at everything before anything is made.
func vetAll(d store.Database, code bool) ([]entry, error) {
	if err := vetPragmas(d.Pragmas); err != nil {
		return nil, &formats.Error{Op: "pragmas", Err: err}
	}
	entries := make([]entry, 0, len(d.Objects))
	taken, efforts := map[string]bool{}, map[string]effort{}
	for _, o := range d.Objects {
		e, err := vet(o)
		name := fold(o.Name)
		if o.Type == "trigger" {
			name = "trigger " + name // they have names of their own
		}
		if what := Code(o); err == nil && !code && what != "" {
			err = fmt.Errorf("%s %w", what, errCode)
		}
		if err == nil && taken[name] {
			err = errors.New("its name is taken")
		}
		if err == nil {
			sum := efforts[fold(o.Table)].plus(e.effort)
			efforts[fold(o.Table)] = sum
			err = sum.bearable()
		}
		if err != nil {
			return nil, &formats.Error{Pointer: fmt.Sprintf("schema: %s %q", rule.Clip(o.Type), rule.Clip(o.Name)), Err: fmt.Errorf("refused: %w", err)}
		}
		taken[name] = true
		entries = append(entries, e)
	}
	return entries, nil
}

// vet accepts a schema entry whose SQL is exactly one CREATE statement of its
// type and name. It comes from a stranger: whatever is not understood is
// refused.
func vet(o store.Object) (entry, error) {
	e := entry{Object: o}
	if len(o.SQL) > mostSQL {
		return e, fmt.Errorf("its SQL has %d bytes, more than %d", len(o.SQL), mostSQL)
	}
	if strings.IndexByte(o.Name, 0) >= 0 || strings.IndexByte(o.Table, 0) >= 0 {
		return e, errors.New("its name holds a NUL")
	}
	if strings.IndexByte(o.SQL, 0) >= 0 {
		return e, errors.New("its SQL holds a NUL")
	}
	s := &statement{lexer: lexer{sql: o.SQL}}
	s.step()
	err := s.whole(&e)
	if s.err != nil {
		err = s.err // the reason why the tokens came to an end
	}
	if err == nil && (o.Type == "table" || o.Type == "view") && o.Table != o.Name {
		err = fmt.Errorf("it says it belongs to %q", rule.Clip(o.Table))
	}
	if err == nil && reserved(o.Name) {
		err = books(e)
	}
	e.effort = s.cost.effort
	return e, err
}

// books lists the tables of SQLite's own that a file may have.
func books(e entry) error {
	switch e.Name {
	case "sqlite_sequence", "sqlite_stat1", "sqlite_stat2", "sqlite_stat3", "sqlite_stat4":
		if e.Type == "table" && !e.virtual {
			return nil
		}
	}
	return errors.New("names beginning with sqlite_ belong to SQLite")
}
