package sqlitefile

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/sqlitepages"
	"rehome/formats/store"
)

// Object is an entry of sqlite_schema as it stands on page 1, automatic
// indexes too.
type Object struct {
	Type, Name, Table, SQL string
	Root                   uint32
}

// mostSchema bounds what is held of sqlite_schema.
const mostSchema = 64 << 20

// schema walks sqlite_schema.
func (m *Image) schema(w *sqlitepages.Walk) (list []Object, err error) {
	size := 0
	l := &sqlitepages.Leaf{Table: true, Take: func(r *sqlitepages.Row) error {
		if size += int(r.Size()); size > mostSchema || r.Long {
			return &Damage{BadSchema, &formats.Error{At: m.path, Err: errors.New("its schema is too large")}}
		}
		var o Object
		for i, to := range []*string{&o.Type, &o.Name, &o.Table, nil, &o.SQL} {
			if to == nil {
				continue
			}
			if c := r.Class(i); c == store.Int || c == store.Real {
				return m.badEntry(r, "a schema entry has a number instead of text")
			}
			*to = string(r.Cell(i).Bytes())
		}
		root := r.Cell(3)
		switch {
		case root.Class == store.Int && root.Int() >= 0 && root.Int() <= int64(m.Pages):
			o.Root = uint32(root.Int())
		case root.Class != store.Null:
			return m.badEntry(r, "a schema entry points to a page that does not exist")
		}
		list = append(list, o)
		return nil
	}}
	return list, w.Tree("sqlite_schema", 1, l)
}

func (m *Image) badEntry(r *sqlitepages.Row, what string) error {
	return &Damage{BadSchema, &formats.Error{At: m.path, Err: errors.New(what), Pointer: "row id " + strconv.FormatInt(r.RowID, 10)}}
}

// planKey is the same for all schemas that have one plan.
func planKey(list []Object) string {
	var key strings.Builder
	for _, o := range list {
		for _, s := range []string{o.Type, o.Name, o.Table, o.SQL} {
			key.WriteString(strconv.Itoa(len(s)))
			key.WriteByte(' ')
			key.WriteString(s)
		}
		if o.Root == 0 {
			key.WriteByte('-')
		}
	}
	return key.String()
}

// planFor is the plan of a schema.
func (m *Image) planFor(ctx context.Context, list []Object) (*Plan, error) {
	key := planKey(list)
	if p := m.o.Known.plans.get(key); p != nil {
		return p, nil
	}
	db, err := m.SQL(ctx)
	if err != nil {
		if damaged(err) {
			return nil, &Damage{BadSchema, err}
		}
		return nil, err
	}
	p, err := db.planOf(ctx, list)
	if err != nil {
		if damaged(err) {
			return nil, &Damage{BadSchema, err}
		}
		return nil, err
	}
	m.o.Known.plans.put(key, len(key), p)
	return p, nil
}
