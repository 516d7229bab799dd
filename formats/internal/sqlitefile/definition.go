package sqlitefile

import (
	"slices"
	"strings"
)

// Definition is a CREATE TABLE or CREATE INDEX statement taken apart, so that two
// of them can be compared whatever their case, blanks, quotes and order are.
type Definition struct {
	Name    string
	Table   string // of an index
	Columns []Declared
	Rules   []string // constraints of the table
	Options string   // behind the list: WITHOUT ROWID, STRICT, the condition of an index
	Keys    []string // what has to be unique: columns, what happens if it is not, where
}

// Declared is one column.
type Declared struct {
	Name string // as it is compared: in lower case
	Text string // what follows the name
}

// Define takes a statement apart. It is ok for what Vet accepts and SQLite reads.
func Define(sql string) (d Definition, ok bool) {
	s := &statement{lexer: lexer{sql: sql}}
	s.step()
	s.take("create")
	unique := s.take("unique")
	index := s.take("index")
	if !index && !s.take("table") {
		return d, false
	}
	if d.Name, ok = s.now.name(); !ok {
		return d, false
	}
	for s.step(); s.now.kind != none && !s.now.char('('); s.step() {
		d.Table, _ = s.now.name()
	}
	if !index {
		d.Table = ""
	}
	var item []string
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
			item = append(item, s.now.compared())
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
		d.key(columns, "", d.Options)
	}
	return d, s.err == nil
}

// compared spells a token so that equal ones are spelled alike.
func (t token) compared() string {
	if name, ok := t.name(); ok && !t.literal() {
		return fold(name)
	}
	return t.text
}

// item takes a column or a constraint.
func (d *Definition) item(tokens []string) {
	if len(tokens) == 0 {
		return
	}
	text := strings.Join(tokens, " ")
	if !slices.Contains([]string{"constraint", "primary", "unique", "check", "foreign"}, tokens[0]) {
		d.Columns = append(d.Columns, Declared{tokens[0], strings.TrimPrefix(strings.TrimPrefix(text, tokens[0]), " ")})
		for i, t := range tokens[1:] {
			if t == "unique" || t == "primary" {
				d.key(tokens[:1], conflict(tokens[i+2:]), "")
			}
		}
		return
	}
	d.Rules = append(d.Rules, text)
	from, to := slices.Index(tokens, "("), slices.Index(tokens, ")")
	if before := tokens[:max(from, 0)]; to > from && (slices.Contains(before, "unique") || slices.Contains(before, "primary")) {
		var columns []string
		for i, t := range tokens[from+1 : to] {
			if i == 0 || tokens[from+i] == "," {
				columns = append(columns, t)
			}
		}
		d.key(columns, conflict(tokens[to+1:]), "")
	}
}

// conflict is what a key says of rows that break it.
func conflict(tokens []string) string {
	for i := 0; i+2 < len(tokens); i++ {
		if tokens[i] == "on" && tokens[i+1] == "conflict" {
			return tokens[i+2]
		}
		if tokens[i] == "unique" || tokens[i] == "primary" {
			break // another key's
		}
	}
	return ""
}

func (d *Definition) key(columns []string, conflict, where string) {
	text := "unique (" + strings.Join(columns, ", ") + ")"
	if conflict != "" {
		text += " on conflict " + conflict
	}
	if where != "" {
		text += " " + where
	}
	d.Keys = append(d.Keys, text)
}
