package sqlitecheck

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"rehome/formats/internal/sqlitefile"
	"rehome/formats/rule"
)

// TestLogEndsWithItsContext: neither reading a long log nor waiting for a frame
// that looks half written outlasts the one who asked.
func TestLogEndsWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, s := range []string{"PRAGMA journal_mode=WAL", "CREATE TABLE t(a)", "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)"} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	b[32+24+100] ^= 1 // the first frame's page
	if err := os.WriteFile(path+"-wal", b, 0o600); err != nil {
		t.Fatal(err)
	}
	if what, err := Log(t.Context(), path+"-wal"); err != nil || what == "" {
		t.Fatalf("the broken frame is not seen: %q, %v", what, err)
	}
	image, err := sqlitefile.OpenImage(t.Context(), path, sqlitefile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer image.Close()
	c := &check{q: &rule.Pass{Report: func(f rule.Finding) { t.Errorf("found %+v", f) }}, whole: true}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := c.around(ctx, path, image); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was canceled", err)
	}
	// Canceled between the two looks at the log: after the last question of the first.
	asks := &counted{Context: t.Context(), last: -1}
	if _, err := Log(asks, path+"-wal"); err != nil {
		t.Fatal(err)
	}
	between := &counted{Context: t.Context(), last: asks.n, done: make(chan struct{})}
	if err := c.around(between, path, image); !errors.Is(err, context.Canceled) || between.n != asks.n+1 {
		t.Errorf("got %v after %d questions, want that it was canceled after %d", err, between.n, asks.n+1)
	}
}

// counted is a context that ends once it has been asked for its error so often.
type counted struct {
	context.Context
	n, last int
	done    chan struct{}
}

func (c *counted) Done() <-chan struct{} { return c.done }

func (c *counted) Err() error {
	if c.n++; c.n == c.last {
		close(c.done)
	}
	if c.last >= 0 && c.n > c.last {
		return context.Canceled
	}
	return nil
}
