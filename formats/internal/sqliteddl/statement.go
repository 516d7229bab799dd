package sqliteddl

import (
	"errors"
	"fmt"
	"strings"

	"rehome/formats/rule"
	"rehome/formats/store"
)

var (
	errGoesOn   = errors.New("its SQL has an unexpected semicolon")
	errTooMany  = errors.New("its SQL has an unmatched )")
	errLeftOpen = errors.New("its SQL has an unclosed (")
)

// statement is a walk over the tokens of one statement. It holds one of them
// at a time: statements can be long.
type statement struct {
	lexer
	now   token
	err   error // of the lexer; the tokens end there
	depth int   // open parentheses
	cost  expression
}

func (s *statement) step() {
	if s.now, s.err = s.next(); s.err != nil {
		s.now, s.i = token{}, len(s.sql)
	}
}

func (s *statement) take(keyword string) bool {
	if s.now.is(keyword) {
		s.step()
		return true
	}
	return false
}

// whole reads the statement of an entry.
func (s *statement) whole(e *Object) (err error) {
	if err := s.head(e); err != nil {
		return err
	}
	switch {
	case e.Virtual:
		return s.virtual()
	case e.Type == "table":
		return s.table()
	case e.Type == "index":
		return s.index(e.Object)
	case e.Type == "trigger":
		return s.trigger(e.Object)
	}
	for ; s.now.kind != none; s.step() {
		if err := s.plain(); err != nil {
			return err
		}
	}
	return s.closed()
}

// head reads up to and including the name.
func (s *statement) head(e *Object) error {
	if !s.take("create") {
		return errors.New("its SQL is not a CREATE statement")
	}
	ok := false
	switch e.Type {
	case "table":
		e.Virtual = s.take("virtual")
		ok = s.take("table")
	case "index":
		s.take("unique")
		ok = s.take("index")
	case "view", "trigger":
		ok = s.take(e.Type)
	}
	if !ok {
		return fmt.Errorf("its SQL does not create a %q", rule.Clip(e.Type))
	}
	name, ok := s.now.name()
	if !ok {
		return errors.New("its SQL has no name where one is expected")
	}
	if name != e.Name {
		return fmt.Errorf("its SQL creates %q instead", rule.Clip(name))
	}
	s.step()
	if s.now.char('.') {
		return errors.New("its SQL names another database")
	}
	return nil
}

// plain accepts a token that stays within the statement.
func (s *statement) plain() error {
	switch t := s.now; {
	case t.kind != sign:
	case t.char('('):
		s.depth++
	case t.char(')'):
		if s.depth--; s.depth < 0 {
			return errTooMany
		}
	case t.char(';'):
		return errGoesOn
	case strings.Contains("?:@#$", t.text):
		return fmt.Errorf("its SQL has a parameter (%q)", t.text)
	}
	return nil
}

func (s *statement) closed() error {
	if s.depth != 0 {
		return errLeftOpen
	}
	return nil
}

// table accepts a parenthesised list and the options after it. Before that
// list there can be nothing, so AS SELECT and IF NOT EXISTS fall through.
func (s *statement) table() error {
	if !s.now.char('(') {
		return errors.New("its SQL has no column list")
	}
	// Of what stands in the list only generated columns are run for each row:
	// CHECK is switched off, and a DEFAULT has nothing to stand in for.
	for as, from := false, 0; ; s.step() {
		if s.now.kind == none {
			return errLeftOpen
		}
		if as && from == 0 && s.now.char('(') { // CAST has an AS too, but a type after it
			from, s.cost = s.depth+1, expression{Effort: s.cost.Effort}
		}
		as = s.now.is("as")
		if err := s.plain(); err != nil {
			return err
		}
		if from > 0 {
			if err := s.cost.add(s.now); err != nil {
				return err
			}
			if s.depth < from {
				from = 0
			}
		}
		if s.depth == 0 {
			break
		}
	}
	s.step()
	for s.now.kind != none {
		switch {
		case s.take("strict"):
		case s.take("without"):
			if !s.take("rowid") {
				return errors.New("its SQL has an unknown table option")
			}
		case s.now.char(','):
			s.step()
		case s.now.char(';'):
			return errGoesOn
		case s.now.char(')'):
			return errTooMany
		default:
			return errors.New("its SQL has unexpected text after the column list")
		}
	}
	return nil
}

func (s *statement) index(o store.Object) error {
	if !s.take("on") {
		return errors.New("its SQL does not name a table")
	}
	if err := s.target(o); err != nil {
		return err
	}
	if !s.now.char('(') {
		return errors.New("its SQL has no column list")
	}
	for ; s.now.kind != none; s.step() {
		if err := s.plain(); err != nil {
			return err
		}
		if err := s.cost.add(s.now); err != nil {
			return err
		}
	}
	return s.closed()
}

// target reads the name of the table an index or trigger belongs to.
func (s *statement) target(o store.Object) error {
	on, ok := s.now.name()
	if !ok || !SameName(on, o.Table) {
		return fmt.Errorf("its SQL is for table %q, but the schema entry is for %q", rule.Clip(on), rule.Clip(o.Table))
	}
	s.step()
	return nil
}

// virtual accepts any tokens, as modules do, but for a second statement.
func (s *statement) virtual() error {
	if !s.take("using") {
		return errors.New("its SQL does not name a module")
	}
	for ; s.now.kind != none; s.step() {
		switch {
		case s.now.char(';'):
			return errGoesOn
		case s.now.char('('):
			s.depth++
		case s.now.char(')'):
			s.depth--
		}
	}
	return s.closed()
}

// trigger accepts semicolons between BEGIN and END. Both are good names too,
// for columns, so it takes an END for the last where SQLite would: right after
// a semicolon, where no statement can begin with one.
func (s *statement) trigger(o store.Object) error {
	for ; s.now.kind != none && !s.now.is("on"); s.step() {
		if s.now.char(';') {
			return errGoesOn
		}
	}
	s.step()
	if s.now.is("main") && !SameName(o.Table, "main") {
		if s.step(); !s.now.char('.') {
			return errors.New("its SQL is for another table than the schema entry")
		}
		s.step()
	}
	if err := s.target(o); err != nil {
		return err
	}
	for begun, ended := false, false; s.now.kind != none; s.step() {
		if ended && s.now.is("end") {
			break
		}
		begun = begun || s.now.is("begin")
		if ended = s.now.char(';'); ended && begun && s.depth == 0 {
			continue
		}
		if err := s.plain(); err != nil {
			return err
		}
	}
	if s.now.kind == none {
		return errors.New("its SQL has no END")
	}
	if s.step(); s.now.char(';') {
		s.step()
	}
	if s.now.kind != none {
		return errors.New("its SQL has unexpected text after END")
	}
	return s.closed()
}
