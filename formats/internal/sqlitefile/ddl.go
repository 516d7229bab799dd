package sqlitefile

import (
	"errors"
	"fmt"
	"strings"

	"rehome/formats/store"
)

const mostSQL = 1 << 20 // bytes of one CREATE statement

// entry is an object of a schema that was found to be harmless.
type entry struct {
	store.Object
	virtual bool
	strict  bool
}

// runs reports whether the entry is made by running its statement. The others
// are only written down.
func (e entry) runs() bool { return e.Type == "index" || e.Type == "table" && !e.virtual }

// system reports whether the entry is one of SQLite's own books.
func (e entry) system() bool { return reserved(e.Name) }

func reserved(name string) bool {
	return len(name) >= 7 && strings.EqualFold(name[:7], "sqlite_")
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
	list, err := tokens(o.SQL)
	if err != nil {
		return e, err
	}
	s := &statement{list: list}
	if err := s.head(&e); err != nil {
		return e, err
	}
	switch {
	case e.virtual:
		err = s.virtual()
	case o.Type == "table":
		e.strict, err = s.table()
	case o.Type == "index":
		err = s.index(o)
	case o.Type == "trigger":
		err = s.trigger(o)
	default:
		err = s.plain(s.list[s.at:])
	}
	if err == nil && (o.Type == "table" || o.Type == "view") && o.Table != o.Name {
		err = fmt.Errorf("it says it belongs to %q", o.Table)
	}
	if err == nil && reserved(o.Name) {
		err = books(e)
	}
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

// statement is a walk over the tokens of one statement.
type statement struct {
	list []token
	at   int
}

func (s *statement) peek() token {
	if s.at < len(s.list) {
		return s.list[s.at]
	}
	return token{sign, "\x00"}
}

func (s *statement) take(keyword string) bool {
	if s.peek().is(keyword) {
		s.at++
		return true
	}
	return false
}

// head reads up to and including the name.
func (s *statement) head(e *entry) error {
	if !s.take("create") {
		return errors.New("its SQL is not a CREATE statement")
	}
	ok := false
	switch e.Type {
	case "table":
		e.virtual = s.take("virtual")
		ok = s.take("table")
	case "index":
		s.take("unique")
		ok = s.take("index")
	case "view", "trigger":
		ok = s.take(e.Type)
	}
	if !ok {
		return fmt.Errorf("its SQL does not create a %q", e.Type)
	}
	name, ok := s.peek().name()
	if !ok {
		return errors.New("its SQL has no name where one belongs")
	}
	if name != e.Name {
		return fmt.Errorf("its SQL creates %q", name)
	}
	s.at++
	if s.peek().char('.') {
		return errors.New("its SQL names another database")
	}
	return nil
}

// plain accepts tokens that stay within one statement.
func (s *statement) plain(list []token) error {
	depth := 0
	for _, t := range list {
		switch {
		case t.kind != sign:
		case t.char('('):
			depth++
		case t.char(')'):
			if depth--; depth < 0 {
				return errors.New("its SQL closes a parenthesis too many")
			}
		case t.char(';'):
			return errors.New("its SQL does not end where the statement does")
		case strings.Contains("?:@#$", t.text):
			return fmt.Errorf("its SQL has a %q where no parameter can be", t.text)
		}
	}
	if depth != 0 {
		return errors.New("its SQL leaves a parenthesis open")
	}
	return nil
}

// table accepts a parenthesised list and the options after it. Before that
// list there can be nothing, so AS SELECT and IF NOT EXISTS fall through.
func (s *statement) table() (strict bool, err error) {
	if !s.peek().char('(') {
		return false, errors.New("its SQL has no list of columns")
	}
	if err := s.plain(s.list[s.at:]); err != nil {
		return false, err
	}
	for depth := 0; s.at < len(s.list); s.at++ {
		if s.peek().char('(') {
			depth++
		} else if s.peek().char(')') {
			if depth--; depth == 0 {
				s.at++
				break
			}
		}
	}
	for s.at < len(s.list) {
		switch {
		case s.take("strict"):
			strict = true
		case s.take("without"):
			if !s.take("rowid") {
				return false, errors.New("its SQL has an unknown table option")
			}
		case s.peek().char(','):
			s.at++
		default:
			return false, errors.New("its SQL goes on after the list of columns")
		}
	}
	return strict, nil
}

func (s *statement) index(o store.Object) error {
	if !s.take("on") {
		return errors.New("its SQL does not say on which table")
	}
	if err := s.target(o); err != nil {
		return err
	}
	if !s.peek().char('(') {
		return errors.New("its SQL has no list of columns")
	}
	return s.plain(s.list[s.at:])
}

// target reads the name of the table an index or trigger belongs to.
func (s *statement) target(o store.Object) error {
	on, ok := s.peek().name()
	if !ok || !strings.EqualFold(on, o.Table) {
		return fmt.Errorf("its SQL is on %q, the entry on %q", on, o.Table)
	}
	s.at++
	return nil
}

func (s *statement) virtual() error {
	if !s.take("using") {
		return errors.New("its SQL names no module")
	}
	depth := 0
	for _, t := range s.list[s.at:] {
		switch {
		case t.char(';'):
			return errors.New("its SQL does not end where the statement does")
		case t.char('('):
			depth++
		case t.char(')'):
			depth--
		}
	}
	if depth != 0 {
		return errors.New("its SQL leaves a parenthesis open")
	}
	return nil
}

// trigger accepts semicolons between BEGIN and its END, which must be the last
// token. CASE has an END too.
func (s *statement) trigger(o store.Object) error {
	for s.at < len(s.list) && !s.peek().is("on") {
		if s.peek().char(';') {
			return errors.New("its SQL does not end where the statement does")
		}
		s.at++
	}
	s.at++
	if err := s.target(o); err != nil {
		return err
	}
	from := s.at
	for s.at < len(s.list) && !s.peek().is("begin") {
		s.at++
	}
	if err := s.plain(s.list[from:s.at]); err != nil {
		return err
	}
	var body []token
	for cases, i := 0, s.at+1; i < len(s.list); i++ {
		switch t := s.list[i]; {
		case t.is("case"):
			cases++
		case t.is("end") && cases > 0:
			cases--
		case t.is("end"):
			if i != len(s.list)-1 {
				return errors.New("its SQL goes on after the END of the trigger")
			}
			return s.plain(body)
		}
		if !s.list[i].char(';') {
			body = append(body, s.list[i])
		}
	}
	return errors.New("its SQL has no END")
}
