package opencode

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"hash/maphash"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/rowclient"
	"rehome/formats/internal/sqlitecheck"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/rule"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// check applies the rules to a database.
func check(known *sqlitefile.Known) func(context.Context, *formats.Location, formats.View, *rule.Pass) error {
	return func(ctx context.Context, l *formats.Location, v formats.View, q *rule.Pass) (err error) {
		f, err := sqlitecheck.Examine(ctx, l.Path, "", v, q, sqlitecheck.Known{Shared: known}, nil)
		if f == nil {
			return err
		}
		if err := f.Close(); err != nil || !q.Enabled(rule.Meaning) {
			return err
		}
		st, err := opened(known)(ctx, l, v)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, st.Close()) }()
		if err := calls(ctx, st, l, q); err != nil {
			return err
		}
		return events(ctx, st.(*database), q)
	}
}

// checkExport applies the rules to files.
func checkExport(ctx context.Context, l *formats.Location, v formats.View, q *rule.Pass) error {
	st, err := openExport(ctx, l, v)
	if err != nil {
		return err
	}
	all := st.(*files)
	for _, path := range all.paths {
		if err := ctx.Err(); err != nil {
			return err
		}
		one, err := all.file(path)
		if e := (*formats.Error)(nil); errors.As(err, &e) && e.Hint != "" {
			q.Add(unimported, store.Addr{File: filepath.Base(path)}, "", "%s", rule.Words(e.Err.Error()))
			continue
		} else if err != nil {
			return err
		}
		imports(one, q)
		if err := calls(ctx, &files{paths: []string{path}, now: one}, l, q); err != nil {
			return err
		}
	}
	return nil
}

const (
	disagrees  = "RH433"
	unimported = "RH434"
	unanswered = "RH435"
)

// calls reports calls that were not finished.
func calls(ctx context.Context, st rowclient.Store, l *formats.Location, q *rule.Pass) error {
	list, err := st.Sessions(ctx)
	if err != nil {
		return err
	}
	for _, s := range list {
		at := 0
		for b, err := range st.Records(ctx, s, 0, len(s.Rows)) {
			if err = cmp.Or(err, ctx.Err()); err != nil {
				return jsonl.Failure(ctx, name, l.Path, err)
			}
			for p := range rawjson.Elements(rawjson.Last(b, "parts")) {
				if status := rawjson.TextAt(p, "state", "status"); status == "pending" || status == "running" {
					q.OwnedBy(s.ID).Reportf(unanswered, s.Rows[at][0], "call %q is %s", rule.Clip(rawjson.TextAt(p, "callID")), rule.Words(status))
				}
			}
			at++
		}
	}
	return nil
}

// logged is the last that the log of events says of a row.
type logged struct {
	seq  int64
	sum  uint64
	gone bool
}

// events compares rows with the log of events. Rows of which it says nothing are sound: those of
// imported sessions, and of versions that had no log.
func events(ctx context.Context, d *database, q *rule.Pass) error {
	seed, last := maphash.MakeSeed(), map[string]logged{}
	note := func(seq int64, data []byte, gone bool) {
		id := rawjson.TextAt(data, "id")
		if was, ok := last[id]; id != "" && (!ok || was.seq <= seq) {
			last[id] = logged{seq, sumOf(seed, data), gone}
		}
	}
	err := d.All(ctx, "event", []string{"seq", "type", "data"}, func(_ int64, c []store.Cell) {
		kind, data := rowclient.Text(c[1]), c[2].Bytes()
		switch {
		case strings.HasPrefix(kind, "message.part.updated"):
			note(c[0].Int(), rawjson.Last(data, "part"), false)
		case strings.HasPrefix(kind, "message.updated"):
			note(c[0].Int(), rawjson.Last(data, "info"), false)
		case strings.HasPrefix(kind, "message.part.removed"):
			note(c[0].Int(), one("id", rawjson.Last(data, "partID")), true)
		case strings.HasPrefix(kind, "message.removed"):
			note(c[0].Int(), one("id", rawjson.Last(data, "messageID")), true)
		}
	})
	if err != nil || len(last) == 0 {
		return err
	}
	for _, table := range []string{"message", "part"} {
		err := d.All(ctx, table, []string{"id", "session_id", "data"}, func(row int64, c []store.Cell) {
			id := rowclient.Text(c[0])
			said, ok := last[id]
			if delete(last, id); !ok {
				return
			}
			if said.gone {
				q.OwnedBy(rowclient.Text(c[1])).Reportf(disagrees, d.Addr(table, row), "the log says that it was removed")
			} else if sumOf(seed, c[2].Bytes()) != said.sum {
				q.OwnedBy(rowclient.Text(c[1])).Reportf(disagrees, d.Addr(table, row), "the last event says something else")
			}
		})
		if err != nil {
			return err
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(last), cmp.Compare) {
		if !last[id].gone {
			q.Reportf(disagrees, store.Addr{Set: "event"}, "%q is in the log and has no row", rule.Clip(id))
		}
	}
	return nil
}

func one(name string, raw []byte) []byte { return nested(nil, []value{{name, raw}}) }

// sumOf is the same for two objects that say the same, but for ids that a row has beside it.
func sumOf(seed maphash.Seed, data []byte) uint64 {
	var m map[string]any
	if json.Unmarshal(data, &m) != nil {
		return maphash.Bytes(seed, data)
	}
	for _, id := range []string{"id", "sessionID", "messageID"} {
		delete(m, id)
	}
	b, _ := json.Marshal(m) // sorted
	return maphash.Bytes(seed, b)
}
