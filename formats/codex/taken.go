package codex

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"rehome/formats/internal/sqlitefile"
	"rehome/formats/store"
)

// taken reports whether Codex has taken more of a rollout than its first bytes into its
// database: it shows that from there, and goes on behind it.
func taken(ctx context.Context, file string, size int64) (bool, error) {
	path := filepath.Join(around(file), "thread_history_1.sqlite")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	db, err := sqlitefile.Open(ctx, path, sqlitefile.Options{})
	if err != nil {
		return false, err
	}
	defer db.Close()
	id, _ := rolloutID(filepath.Base(file))
	for _, t := range db.Tables() {
		thread, next := store.FindColumn(t.Columns, "thread_id"), store.FindColumn(t.Columns, "next_rollout_byte_offset")
		if min(thread, next) < 0 {
			continue
		}
		for b, err := range db.Scan(ctx, 0, t) {
			if err != nil {
				return false, err
			}
			for i := range b.Rows() {
				if string(b.Cell(i, thread).Bytes()) == id && b.Cell(i, next).Int() > size {
					return true, nil
				}
			}
		}
	}
	return false, nil
}
