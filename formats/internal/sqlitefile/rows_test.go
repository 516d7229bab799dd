package sqlitefile

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/store"
)

// TestRows: the rows that are asked for are those that a scan finds, of any
// kind of value and in both encodings.
func TestRows(t *testing.T) {
	for _, encoding := range []string{"UTF-8", "UTF-16le"} {
		db := open(t, oddities(t, filepath.Join(t.TempDir(), "odd.db"), encoding, rand.New(rand.NewPCG(5, 5))), Options{})
		tried := 0
		for _, x := range db.Tables() {
			if !x.RowIDs {
				continue
			}
			tried++
			var ids []int64
			var want []string
			for i, row := range rows(t, db, (*DB).Scan, x) {
				if i%3 == 1 {
					id, _, _ := strings.Cut(row, "|")
					n, err := strconv.ParseInt(id, 10, 64)
					if err != nil {
						t.Fatal(err)
					}
					ids, want = append(ids, n), append(want, row)
				}
			}
			got := rows(t, db, func(db *DB, ctx context.Context, set int, x Table) iter.Seq2[*store.Batch, error] {
				return db.Rows(ctx, set, x, ids)
			}, x)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %s: %d rows, want %d:\n%q\n%q", encoding, x.Name, len(got), len(want), got, want)
			}
		}
		if tried < 5 {
			t.Errorf("%d tables have row ids", tried)
		}
	}
}

// TestRowsWrong: a row that is gone, ids that do not rise, a loop that ends
// early, a context that is over.
func TestRowsWrong(t *testing.T) {
	db := keyedDB(t)
	x := table(t, db, "kv")
	run := func(ctx context.Context, most int, ids ...int64) (n int, err error) {
		for b, e := range db.Rows(ctx, 0, x, ids) {
			if err = e; e != nil {
				return n, err
			}
			n += b.Rows()
			b.Release()
			if n >= most {
				break
			}
		}
		return n, nil
	}
	var told *formats.Error
	if n, err := run(t.Context(), 99, 1, 77); !errors.Is(err, formats.ErrBusy) || !errors.As(err, &told) || n > 1 {
		t.Errorf("a row that is gone: %d, %v", n, err)
	}
	if _, err := run(t.Context(), 99, 2, 2); err == nil {
		t.Error("one id twice")
	}
	if n, err := run(t.Context(), 1, 1, 2, 3); err != nil || n != 3 { // one batch
		t.Errorf("%d rows, %v", n, err)
	}
	if n, err := run(t.Context(), 99); err != nil || n != 0 {
		t.Errorf("no rows at all: %d, %v", n, err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := run(over, 99, 1, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if n, err := run(t.Context(), 99, 5, 6); err != nil || n != 2 {
		t.Errorf("afterwards: %d rows, %v", n, err)
	}
}
