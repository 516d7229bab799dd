package sqliteddl

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// MaxSQL is the max length of one CREATE statement in bytes. SQLite itself takes a
// gigabyte, but takes a hundred times its memory to read it.
const MaxSQL = 16 << 20

// Object is an object of a schema that was found to be harmless.
type Object struct {
	store.Object
	Virtual bool
	Effort  Effort // of each row of its table
}

// Runs reports whether the object is created by running its statement. The others
// are only written down.
func (e Object) Runs() bool { return e.Type == "index" || e.Type == "table" && !e.Virtual }

// System reports whether the object is one of SQLite's own tables.
func (e Object) System() bool { return reserved(e.Name) }

func reserved(name string) bool { return len(name) >= 7 && SameName(name[:7], "sqlite_") }

var ErrCode = errors.New("is SQL that runs by itself; no version of this client writes any")

// Vet reports what could not be created again from a schema, without running any
// of it: a database that fails here could be turned into text, but not back. SQL
// that runs by itself (triggers, generated columns and the like) is refused with
// ErrCode unless it is allowed.
func Vet(d store.Database, code Allowed) ([]Object, error) {
	if err := vetPragmas(d.Pragmas); err != nil {
		return nil, &formats.Error{Op: "pragmas", Err: err}
	}
	entries := make([]Object, 0, len(d.Objects))
	taken, efforts := map[string]bool{}, map[string]Effort{}
	for _, o := range d.Objects {
		e, err := VetObject(o)
		name := Fold(o.Name)
		if o.Type == "trigger" {
			name = "trigger " + name // they have names of their own
		}
		if what := code.CodeBeside(o); err == nil && what != "" {
			err = fmt.Errorf("%s %w", what, ErrCode)
		}
		if err == nil && taken[name] {
			err = errors.New("duplicate name")
		}
		if err == nil {
			sum := efforts[Fold(o.Table)].plus(e.Effort)
			efforts[Fold(o.Table)] = sum
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

// VetObject accepts a schema entry whose SQL is exactly one CREATE statement of its
// type and name. It comes from a stranger: whatever is not understood is
// refused.
func VetObject(o store.Object) (Object, error) {
	e := Object{Object: o}
	if len(o.SQL) > MaxSQL {
		return e, fmt.Errorf("its SQL is too long: %d bytes, max %d", len(o.SQL), MaxSQL)
	}
	if strings.IndexByte(o.Name, 0) >= 0 || strings.IndexByte(o.Table, 0) >= 0 {
		return e, errors.New("its name contains a NUL")
	}
	if strings.IndexByte(o.SQL, 0) >= 0 {
		return e, errors.New("its SQL contains a NUL")
	}
	s := &statement{lexer: lexer{sql: o.SQL}}
	s.step()
	err := s.whole(&e)
	if s.err != nil {
		err = s.err // the reason why the tokens came to an end
	}
	if err == nil && (o.Type == "table" || o.Type == "view") && o.Table != o.Name {
		err = fmt.Errorf("its tbl_name is %q", rule.Clip(o.Table))
	}
	if err == nil && reserved(o.Name) {
		err = ownTable(e)
	}
	e.Effort = s.cost.Effort
	return e, err
}

// ownTable accepts the tables of SQLite's own that a file may have.
func ownTable(e Object) error {
	switch e.Name {
	case "sqlite_sequence", "sqlite_stat1", "sqlite_stat2", "sqlite_stat3", "sqlite_stat4":
		if e.Type == "table" && !e.Virtual {
			return nil
		}
	}
	return errors.New("names that start with sqlite_ are reserved")
}

func vetPragmas(p store.Pragmas) error {
	switch {
	case p.PageSize < 512 || p.PageSize > 65536 || p.PageSize&(p.PageSize-1) != 0:
		return fmt.Errorf("page_size %d is not a power of two from 512 to 65536", p.PageSize)
	case !slices.Contains([]string{"UTF-8", "UTF-16le", "UTF-16be"}, p.Encoding):
		return fmt.Errorf("unsupported encoding %q: want UTF-8, UTF-16le or UTF-16be", p.Encoding)
	case p.AutoVacuum < 0 || p.AutoVacuum > 2:
		return fmt.Errorf("unsupported auto_vacuum %d: want 0, 1 or 2", p.AutoVacuum)
	case p.JournalMode != "wal" && p.JournalMode != "delete":
		return fmt.Errorf("journal_mode %q is neither wal nor delete", p.JournalMode)
	}
	return nil
}
