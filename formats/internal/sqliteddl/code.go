package sqliteddl

import (
	"slices"

	"rehome/formats/store"
)

// Allowed is what SQL that runs by itself a schema may have.
type Allowed uint8

const (
	NoCode   Allowed = iota
	Cascades         // foreign keys that change rows: those of a session go with it
	AnyCode
)

// CodeBeside is Code where some is allowed.
func (a Allowed) CodeBeside(o store.Object) string {
	if a == AnyCode {
		return ""
	}
	return codeOf(o, a == Cascades)
}

// Code says what of an object is SQL that runs when somebody opens its database
// or writes to it; "" where it only holds data. A partial index that asks of
// columns whether they are NULL holds data: known clients have one.
func Code(o store.Object) string { return codeOf(o, false) }

func codeOf(o store.Object, cascades bool) string {
	switch o.Type {
	case "table", "index":
	case "trigger":
		return "a trigger"
	case "view":
		return "a view"
	default:
		return "an object of an unknown kind"
	}
	s := &statement{lexer: lexer{sql: o.SQL}}
	s.step()
	s.take("create")
	if s.take("virtual") {
		return "a virtual table"
	}
	if o.Type == "index" {
		return s.indexCode()
	}
	return s.tableCode(cascades)
}

// tableCode looks for the words that begin an expression in a table. They are
// SQLite's own: a column of such a name has to be quoted.
func (s *statement) tableCode(cascades bool) string {
	for ; s.now.kind != none; s.step() {
		switch {
		case s.now.is("check"):
			return "a CHECK constraint"
		case s.now.is("as"):
			return "a generated column"
		case s.now.is("collate"):
			if s.step(); !s.plainOrder() {
				return "a custom collation"
			}
		case s.now.is("default"):
			if s.step(); s.now.char('(') && !s.constant() {
				return "an expression as a default"
			}
		case s.now.is("on"):
			if s.step(); s.now.is("delete") || s.now.is("update") {
				if s.step(); !cascades && (s.now.is("cascade") || s.now.is("set")) {
					return "a foreign key that changes rows"
				}
			}
		}
	}
	return ""
}

func (s *statement) plainOrder() bool {
	name, _ := s.now.name()
	return slices.Contains([]string{"binary", "nocase", "rtrim"}, Fold(name))
}

// constant reads a parenthesized value that is written out.
func (s *statement) constant() bool {
	s.step()
	for s.now.char('-') || s.now.char('+') || s.now.is("x") { // x'00'
		s.step()
	}
	if !s.now.literal() && !s.now.is("null") && !s.now.is("true") && !s.now.is("false") {
		return false
	}
	for s.step(); s.now.char('.') || s.now.literal(); s.step() { // 1.5
	}
	return s.now.char(')')
}

// indexCode looks for anything but columns in an index, and for anything but
// IS NULL and IS NOT NULL in its condition.
func (s *statement) indexCode() string {
	for s.now.kind != none && !s.now.char('(') {
		s.step()
	}
	for s.step(); !s.now.char(')'); {
		if !s.column() {
			return "an index on an expression"
		}
		if s.take("collate") {
			if !s.plainOrder() {
				return "a custom collation"
			}
			s.step()
		}
		if !s.take("asc") {
			s.take("desc")
		}
		if s.now.char(',') {
			s.step()
		} else if !s.now.char(')') {
			return "an index on an expression" // of words alone: CASE, NOT, IS, REGEXP
		}
	}
	if s.step(); !s.take("where") {
		return ""
	}
	for ; s.now.kind != none; s.step() {
		if !s.column() || !s.take("is") {
			return "an index with a condition"
		}
		s.take("not")
		if !s.take("null") {
			return "an index with a condition"
		}
		if s.now.kind != none && !s.now.is("and") {
			return "an index with a condition"
		}
	}
	return ""
}

// column reads the name of a column.
func (s *statement) column() bool {
	ok := s.now.kind == quoted && s.now.text[0] != '\'' || s.now.kind == word && !s.now.literal() && !s.now.is("not")
	s.step()
	return ok
}
