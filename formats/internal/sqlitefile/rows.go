package sqlitefile

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/sqlitepages"
	"rehome/formats/store"
)

// Rows yields the rows of a table that have the given row ids, which rise, and
// reads no others: the table has to have row ids (Table.RowIDs). A row that is
// not there was taken away since somebody found its id. Where texts are not kept
// as UTF-8 all rows are scanned.
func (db *DB) Rows(ctx context.Context, set int, t Table, ids []int64) iter.Seq2[*store.Batch, error] {
	if sqlitepages.ByteOrder(db.pragmas.Encoding) != nil || len(t.Columns) > sinkMost {
		return picked(db.ScanPlain(ctx, set, t), ids)
	}
	route := func(db *DB, s *scan, t Table) error { return db.pick(s, t, ids) }
	return func(yield func(*store.Batch, error) bool) {
		next, stop := iter.Pull2(db.walk(ctx, set, t, route)) // for the same reason as in Scan
		defer stop()
		for {
			b, err, ok := next()
			if !ok || !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// pick has SQLite call the sink with each of the rows.
func (db *DB) pick(s *scan, t Table, ids []int64) error {
	handle := sink.last.Add(1)
	sink.scans.Store(handle, s)
	defer sink.scans.Delete(handle)
	var q strings.Builder
	q.WriteString("SELECT " + sinkName + "(?1," + s.shape.ordinal())
	for _, c := range t.Columns {
		q.WriteString("," + quote(c))
	}
	q.WriteString(") FROM main." + quote(t.Name) + " WHERE " + s.shape.ordinal() + "=?2")
	stmt, err := db.conn.PrepareContext(s.ctx, q.String())
	if err != nil {
		return err
	}
	defer stmt.Close()
	plain := context.WithoutCancel(s.ctx) // one that can end costs a goroutine for each row
	for i, id := range ids {
		if i > 0 && id <= ids[i-1] {
			return fmt.Errorf("row id %d requested after %d", id, ids[i-1])
		}
		if err := s.ctx.Err(); err != nil {
			return err
		}
		rows, err := stmt.QueryContext(plain, handle, id)
		if err != nil {
			return err
		}
		there := rows.Next()
		err = rows.Err()
		if e := rows.Close(); err == nil {
			err = e
		}
		switch {
		case s.err != nil || err != nil:
			return err
		case !there:
			return &formats.Error{Err: fmt.Errorf("row %d was deleted while it was read: %w", id, formats.ErrBusy), Hint: "try again"}
		}
	}
	return nil
}

// picked leaves out the rows that are not among the ids.
func picked(scan iter.Seq2[*store.Batch, error], ids []int64) iter.Seq2[*store.Batch, error] {
	return func(yield func(*store.Batch, error) bool) {
		for b, err := range scan {
			if err != nil {
				yield(nil, err)
				return
			}
			out := store.NewBatch(b.Set, b.Width())
			for i := range b.Rows() {
				if _, ok := slices.BinarySearch(ids, b.RowID(i)); ok {
					out.Row(b.RowID(i))
					for c := range b.Width() {
						out.Add(b.Cell(i, c))
					}
				}
			}
			b.Release()
			if !yield(out, nil) {
				return
			}
		}
	}
}
