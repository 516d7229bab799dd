package opencode

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/rowclient"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/session"
	"rehome/formats/store"
)

// tables are those by which a database is known.
var tables = []string{"session", "message", "part"}

func probe(ctx context.Context, l *formats.Location) (formats.Match, error) {
	if !sqlitefile.IsDatabase(l.Head()) {
		return formats.Match{}, nil
	}
	have, err := sqlitefile.Peek(ctx, l.Path)
	if err != nil || !rowclient.HasAll(have, append(tables, "project")) {
		return formats.Match{}, nil // opening it will say why
	}
	return formats.Match{Score: 80, Evidence: []string{"a SQLite database with the tables session, message, part and project"}}, nil
}

// database is an open opencode.db.
type database struct {
	*rowclient.Database
	messages map[string][]stored // of each session, in their order
}

// stored is where a message is.
type stored struct {
	id    string
	at    int64
	row   int64
	parts []storedPart
}

type storedPart struct {
	id  string
	row int64
}

func opened(known *sqlitefile.Known) func(context.Context, *formats.Location, formats.View) (rowclient.Store, error) {
	return func(ctx context.Context, l *formats.Location, v formats.View) (rowclient.Store, error) {
		db, err := rowclient.OpenDatabase(ctx, l.Path, v, known)
		if err != nil {
			return nil, err
		}
		return &database{Database: db, messages: map[string][]stored{}}, nil
	}
}

// Sessions reads the table of sessions, and where their messages and parts are.
func (d *database) Sessions(ctx context.Context) (out []*rowclient.Session, err error) {
	var names []string
	for _, c := range columns {
		names = append(names, c.column)
	}
	asJSON := []string{"summary_diffs", "metadata", "revert", "permission", "model"}
	err = d.All(ctx, "session", names, func(row int64, cells []store.Cell) {
		var list []value
		for i, c := range columns {
			if raw := rowclient.Value(cells[i], slices.Contains(asJSON, c.column)); raw != nil {
				list = append(list, value{c.path, raw})
			}
		}
		s := sessionOf(nested(nil, list))
		s.At, s.Older = d.Path(), session.Account{Read: 1, Converted: 1}
		out = append(out, s)
	})
	if err != nil {
		return nil, err
	}
	if err := d.index(ctx); err != nil {
		return nil, err
	}
	todos, err := d.todos(ctx)
	for _, s := range out {
		for _, m := range d.messages[s.ID] {
			rows := []store.Addr{d.Addr("message", m.row)}
			for _, p := range m.parts {
				rows = append(rows, d.Addr("part", p.row))
			}
			s.Rows = append(s.Rows, rows)
		}
		if list := todos[s.ID]; len(list) > 0 {
			fill := s.Fill
			s.Older.Read += int64(len(list))
			s.Older.Converted += int64(len(list))
			s.Fill = func(out *session.Session) { fill(out); out.Todos = list }
		}
	}
	return out, err
}

// index reads where messages and parts are, not what they say.
func (d *database) index(ctx context.Context) error {
	parts := map[string][]storedPart{}
	err := d.All(ctx, "part", []string{"id", "message_id"}, func(row int64, cells []store.Cell) {
		of := rowclient.Text(cells[1])
		parts[of] = append(parts[of], storedPart{rowclient.Text(cells[0]), row})
	})
	if err != nil {
		return err
	}
	err = d.All(ctx, "message", []string{"id", "session_id", "time_created"}, func(row int64, cells []store.Cell) {
		m := stored{id: rowclient.Text(cells[0]), at: cells[2].Int(), row: row}
		m.parts = parts[m.id]
		slices.SortFunc(m.parts, func(a, b storedPart) int { return cmp.Or(strings.Compare(a.id, b.id), cmp.Compare(a.row, b.row)) })
		of := rowclient.Text(cells[1])
		d.messages[of] = append(d.messages[of], m)
	})
	for _, list := range d.messages {
		slices.SortFunc(list, func(a, b stored) int {
			return cmp.Or(cmp.Compare(a.at, b.at), strings.Compare(a.id, b.id), cmp.Compare(a.row, b.row))
		})
	}
	return err
}

// todos reads what is to be done in each session.
func (d *database) todos(ctx context.Context) (map[string][]session.Todo, error) {
	type placed struct {
		at int64
		session.Todo
	}
	list := map[string][]placed{}
	names := []string{"session_id", "position", "content", "status", "priority", "time_created", "time_updated"}
	err := d.All(ctx, "todo", names, func(_ int64, c []store.Cell) {
		t := session.Todo{Content: rowclient.Text(c[2]), Status: rowclient.Text(c[3]), Created: session.Stored(c[5].Int()), Updated: session.Stored(c[6].Int())}
		if raw := rowclient.Value(c[4], false); raw != nil {
			t.Extras = []session.Extra{{Name: "priority", Raw: raw}}
		}
		list[rowclient.Text(c[0])] = append(list[rowclient.Text(c[0])], placed{c[1].Int(), t})
	})
	out := map[string][]session.Todo{}
	for id, todos := range list {
		slices.SortStableFunc(todos, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
		for _, t := range todos {
			out[id] = append(out[id], t.Todo)
		}
	}
	return out, err
}

// atOnce is how many messages are read together.
const atOnce = 16

// Records makes records of messages.
func (d *database) Records(ctx context.Context, s *rowclient.Session, from, to int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		list, c := d.messages[s.ID], s.Own.(*conversation)
		gone := c.first(len(list), func(i int) string { return list[i].id })
		for ; from < to; from += atOnce {
			some := list[from:min(from+atOnce, to)]
			var rows, parts []int64
			for _, m := range some {
				rows = append(rows, m.row)
				for _, p := range m.parts {
					parts = append(parts, p.row)
				}
			}
			said, err := d.Data(ctx, "message", "data", rows)
			if err != nil {
				yield(nil, err)
				return
			}
			of, err := d.Data(ctx, "part", "data", parts)
			if err != nil {
				yield(nil, err)
				return
			}
			for i, m := range some {
				one := &message{id: m.id, at: m.at, info: said[m.row]}
				for _, p := range m.parts {
					one.parts = append(one.parts, part{p.id, of[p.row]})
				}
				if !yield(c.record(one, from+i >= gone), nil) {
					return
				}
			}
		}
	}
}

// Scan searches messages and parts.
func (d *database) Scan(ctx context.Context, s *formats.Scan) error {
	scanWords(s)
	for _, table := range []string{"message", "part"} {
		err := d.All(ctx, table, []string{"session_id", "data"}, func(_ int64, cells []store.Cell) { s.Take(rowclient.Text(cells[0]), cells[1].Bytes()) })
		if err != nil {
			return err
		}
	}
	return nil
}
