package sqliteddl

import (
	"slices"
	"strings"
)

// Definition is a CREATE TABLE or CREATE INDEX statement taken apart, so that two
// of them can be compared whatever their blanks, quotes and order are.
type Definition struct {
	Head    string // up to the list
	Name    string
	Table   string // of an index
	Columns []Declared
	Rules   []string // constraints of the table
	Options string   // behind the list: WITHOUT ROWID, STRICT, the condition of an index
	Keys    []string // what may not be twice, or NULL: columns, what happens if it is, where
}

// Declared is one column.
type Declared struct {
	Name string // in lower case
	Text string // all of it
}

// Define takes a statement apart. It is ok for what Vet accepts and SQLite reads.
func Define(sql string) (d Definition, ok bool) {
	s := &statement{lexer: lexer{sql: sql}}
	var head, low []string
	for s.step(); s.now.kind != none && !s.now.char('('); s.step() {
		head, low = append(head, s.now.compared()), append(low, Fold(s.now.text))
	}
	unique := len(low) == 6 && low[1] == "unique"
	switch index := unique || len(low) == 5; {
	case index && low[0] == "create" && low[len(low)-4] == "index":
		d.Table = head[len(head)-1]
		d.Name = head[len(head)-3]
	case len(low) == 3 && low[0] == "create" && low[1] == "table":
		d.Name = head[2]
	default:
		return d, false
	}
	d.Head = strings.Join(head, " ")
	var item []token
	for depth := 0; ; s.step() {
		switch {
		case s.now.kind == none:
			return d, false
		case s.now.char('('):
			depth++
		case s.now.char(')'):
			depth--
		}
		if depth == 0 {
			d.item(item)
			break
		}
		if depth == 1 && s.now.char(',') {
			d.item(item)
			item = nil
		} else if depth > 1 || !s.now.char('(') || len(item) > 0 {
			item = append(item, s.now)
		}
	}
	var rest []string
	for s.step(); s.now.kind != none; s.step() {
		rest = append(rest, s.now.compared())
	}
	if d.Options = strings.Join(rest, " "); unique {
		var columns []string
		for _, c := range d.Columns {
			columns = append(columns, c.Name)
		}
		d.key("unique", columns, "", Fold(d.Options))
	}
	return d, s.err == nil
}

// compared spells a token without its quotes.
func (t token) compared() string {
	if name, ok := t.name(); ok && !t.literal() {
		return name
	}
	return t.text
}

// item takes a column or a constraint. What is quoted is a name, whatever it says.
func (d *Definition) item(tokens []token) {
	if len(tokens) == 0 {
		return
	}
	spelled, low := make([]string, len(tokens)), make([]string, len(tokens))
	for i, t := range tokens {
		if spelled[i] = t.compared(); t.kind != quoted {
			low[i] = Fold(t.text)
		}
	}
	text := strings.Join(spelled, " ")
	if !slices.Contains([]string{"constraint", "primary", "unique", "check", "foreign"}, low[0]) {
		name := Fold(spelled[0])
		d.Columns = append(d.Columns, Declared{name, text})
		for i, t := range low[1:] {
			then := conflict(low[i+2:])
			switch {
			case t == "unique" || t == "primary":
				d.key("unique", []string{name}, then, "")
			case t == "null" && then != "":
				d.key("not null", []string{name}, then, "")
			}
		}
		return
	}
	d.Rules = append(d.Rules, text)
	from, to := slices.Index(low, "("), slices.Index(low, ")")
	if before := low[:max(from, 0)]; to > from && (slices.Contains(before, "unique") || slices.Contains(before, "primary")) {
		var columns []string
		for i := from + 1; i < to; i++ {
			if i == from+1 || low[i-1] == "," {
				columns = append(columns, Fold(spelled[i]))
			}
		}
		d.key("unique", columns, conflict(low[to+1:]), "")
	}
}

// conflict is what a key says of rows that break it.
func conflict(tokens []string) string {
	for i := 0; i+2 < len(tokens); i++ {
		if tokens[i] == "on" && tokens[i+1] == "conflict" {
			return tokens[i+2]
		}
		if tokens[i] == "unique" || tokens[i] == "primary" || tokens[i] == "null" {
			break // another one's
		}
	}
	return ""
}

func (d *Definition) key(what string, columns []string, conflict, where string) {
	text := what + " (" + strings.Join(columns, ", ") + ")"
	if conflict != "" {
		text += " on conflict " + conflict
	}
	if where != "" {
		text += " " + where
	}
	d.Keys = append(d.Keys, text)
}
